package nodeipam

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"pgregory.net/rapid"
)

// Goal: ranges may overlap, come and go: a node gets blocks of the first range in choice order that has some, nobody's
// blocks overlap what another node holds, and nobody waits for what is there. Method: rapid moves nodes and ranges; a
// twin recounts everything from the CIDRs of nodes.

var rangePool = []ClusterCIDR{
	{Name: "a", PerNodeHostBits: 4, IPv4: netip.MustParsePrefix("10.0.0.0/26")},
	{Name: "b", PerNodeHostBits: 5, IPv4: netip.MustParsePrefix("10.0.0.32/26"), Selector: selector("x")},
	{Name: "c", PerNodeHostBits: 5, IPv4: netip.MustParsePrefix("10.0.0.0/25"), Selector: selector("x,y")},
	{Name: "d", PerNodeHostBits: 4, IPv4: netip.MustParsePrefix("10.0.0.64/26"), IPv6: netip.MustParsePrefix("fd00::/123"), Selector: selector("y")},
	{Name: "e", PerNodeHostBits: 4, IPv6: netip.MustParsePrefix("fd00::/122"), Selector: selector("!x")},
}

func selector(text string) Selector {
	s, err := ParseSelector(text)
	if err != nil {
		panic(err)
	}
	return s
}

// rangeTwin knows the open and closed ranges and what each node holds.
type rangeTwin struct {
	service netip.Prefix
	open    []ClusterCIDR
	held    map[string][]netip.Prefix
}

func (w *rangeTwin) blockFree(b netip.Prefix, except string) bool {
	for name, cidrs := range w.held {
		if name != except && slices.ContainsFunc(cidrs, b.Overlaps) {
			return false
		}
	}
	return !b.Overlaps(w.service)
}

// free counts free blocks of a family of a range; all of them when there is none.
func (w *rangeTwin) free(t *rapid.T, c ClusterCIDR, p netip.Prefix, except string) (n uint64) {
	if !p.IsValid() {
		return 1
	}
	for i := range space.SubnetCount(p, c.mask(p)) {
		b, err := space.Subnet(p, c.mask(p), i)
		if err != nil {
			t.Fatal(err)
		}
		if w.blockFree(b, except) {
			n++
		}
	}
	return n
}

// choice is the range that a node with these labels gets a block of, "" for none.
func (w *rangeTwin) choice(t *rapid.T, labels map[string]string, except string) string {
	var list []Candidate
	for _, c := range w.open {
		if n, ok := c.Selector.Matches(labels); ok && w.free(t, c, c.IPv4, except) > 0 && w.free(t, c, c.IPv6, except) > 0 {
			list = append(list, Candidate{c, n})
		}
	}
	if len(list) == 0 {
		return ""
	}
	return slices.MinFunc(list, Candidate.Compare).ClusterCIDR.Name
}

func TestRangesThatOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &rangeTwin{held: make(map[string][]netip.Prefix), open: []ClusterCIDR{rangePool[0]}}
		if rapid.Bool().Draw(t, "service") {
			w.service = netip.MustParsePrefix("10.0.0.40/29")
		}
		r, err := NewCIDRRangeAllocator(CIDRAllocatorParams{MultiCIDRs: w.open, ServiceCIDR: w.service}, nil)
		if err != nil {
			t.Fatal(err)
		}
		labels, uids, uid := make(map[string]map[string]string), make(map[string]string), 0
		serve := func(ev Event) {
			effects := r.Step(storyEpoch, ev)
			for len(effects) > 0 {
				e := effects[0]
				effects = effects[1:]
				if p, ok := e.(PatchNodeCIDRs); ok {
					for _, c := range p.CIDRs {
						if !w.blockFree(c, p.Name) {
							t.Fatalf("%s gets %s, and there are %v", p.Name, c, w.held)
						}
					}
					w.held[p.Name] = p.CIDRs
					effects = append(effects, r.Step(storyEpoch, Answered{ID: p.ID, Outcome: ipam.Done})...)
				}
			}
		}
		name := func(t *rapid.T) string { return fmt.Sprintf("n%d", rapid.IntRange(0, 9).Draw(t, "node")) }
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := name(t)
				if uids[n] != "" {
					t.Skip("exists")
				}
				uid++
				uids[n] = fmt.Sprint(uid)
				labels[n] = make(map[string]string)
				for _, l := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y"}), 0, 2, rapid.ID).Draw(t, "labels") {
					labels[n][l] = ""
				}
				node := KubeNode{Name: n, UID: uids[n], Labels: labels[n]}
				if rapid.IntRange(0, 3).Draw(t, "own") == 0 {
					a := netip.AddrFrom4([4]byte{10, 0, 0, byte(rapid.IntRange(0, 160).Draw(t, "address"))})
					p := netip.PrefixFrom(a, rapid.IntRange(25, 30).Draw(t, "bits"))
					node.PodCIDRs = []string{p.String()}
					w.held[n] = []netip.Prefix{p.Masked()}
					serve(NodeAdded{node})
					return
				}
				want := w.choice(t, labels[n], n)
				serve(NodeAdded{node})
				if len(w.held[n]) > 0 != (want != "") {
					t.Fatalf("%s gets %v, want a block of range %q", n, w.held[n], want)
				}
				for _, c := range rangePool {
					for i, p := range w.held[n] {
						if c.Name == want && (i == 0 && c.first() != netip.Prefix{} && !sameFamily(c.first(), p) ||
							!space.Contains(c.IPv4, p) && !space.Contains(c.IPv6, p) || p.Bits() != c.mask(p)) {
							t.Fatalf("%s gets %v, want blocks of range %s", n, w.held[n], want)
						}
					}
				}
			},
			"delete": func(t *rapid.T) {
				n := name(t)
				gone := KubeNode{Name: n, UID: uids[n]}
				delete(w.held, n)
				delete(uids, n)
				delete(labels, n)
				serve(NodeDeleted{gone})
			},
			"range": func(t *rapid.T) {
				c := rapid.SampledFrom(rangePool).Draw(t, "range")
				if i := slices.IndexFunc(w.open, func(o ClusterCIDR) bool { return o.Name == c.Name }); i >= 0 {
					w.open = slices.Delete(slices.Clone(w.open), i, i+1)
					serve(ClusterCIDRDeleted{c.Name})
					return
				}
				if r.ranges.pool(c.Name) == nil { // else it is deleted and still in use
					w.open = append(slices.Clone(w.open), c)
				}
				serve(ClusterCIDRAdded{c})
			},
			"": func(t *rapid.T) {
				for _, n := range r.Waiting() {
					if c := w.choice(t, labels[n], n); c != "" {
						t.Fatalf("%s waits while range %s has blocks", n, c)
					}
				}
				for _, u := range r.Ranges() {
					for _, c := range rangePool {
						if c.Name == u.Name && (space.Normal(c.IPv4) == u.CIDR || c.IPv6 == u.CIDR) && w.free(t, c, u.CIDR, "") != u.Free {
							t.Fatalf("range %s %s has %d free, want %d of %v", u.Name, u.CIDR, u.Free, w.free(t, c, u.CIDR, ""), w.held)
						}
					}
				}
				for n, cidrs := range w.held {
					if !slices.Equal(r.NodeCIDRs(n), cidrs) {
						t.Fatalf("%s has %v, want %v", n, r.NodeCIDRs(n), cidrs)
					}
				}
			},
		})
	})
}
