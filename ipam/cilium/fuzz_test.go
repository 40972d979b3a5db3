package cilium

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: damaged input is refused with one line that says what is wrong, or serves; never does it cost a live lease,
// free an address that is in use, or enter what cannot be read back. Method: a good text in which a part is replaced,
// and configurations made of arbitrary texts and numbers.

// damaged is text with cut bytes at a place replaced by junk.
func damaged(text string, at, cut uint16, junk string) string {
	from := int(at) % (len(text) + 1)
	return text[:from] + junk + text[min(from+int(cut), len(text)):]
}

// oneLine fails for an error that is no single line of text.
func oneLine(t *testing.T, err error) {
	t.Helper()
	if text := strings.TrimSpace(err.Error()); text == "" || strings.ContainsAny(text, "\n\r") {
		t.Fatalf("error %q", err)
	}
}

// The agent and the operator meet a damaged resource while pods live.
func FuzzDamagedCiliumNode(f *testing.F) {
	f.Add(uint16(0), uint16(0), "")
	f.Add(uint16(150), uint16(12), `"fd00::2"`)
	f.Add(uint16(200), uint16(300), "")
	f.Add(uint16(900), uint16(20), `"10.1.1.226":"released"`)
	f.Add(uint16(strings.Index(fullNode, "marked-for-release")), uint16(len("marked-for-release")), "ready-for-release")
	f.Add(uint16(strings.Index(fullNode, "eni-1")), uint16(5), "eni-2")
	f.Add(uint16(strings.Index(fullNode, "20,")), uint16(2), "1")
	f.Fuzz(func(t *testing.T, at, cut uint16, junk string) {
		good, err := ParseCiliumNode([]byte(fullNode))
		if err != nil {
			t.Fatal(err)
		}
		s, o := liveNode(t, good)
		before := maps.Clone(s.used)
		bad, err := ParseCiliumNode([]byte(damaged(fullNode, at, cut, junk)))
		if err != nil {
			oneLine(t, err)
			return
		}
		if err := s.Update(bad); err != nil {
			oneLine(t, err)
			if !reflect.DeepEqual(s.node, good) {
				t.Fatalf("%v, but the store believes %s", err, s.node)
			}
		}
		for _, family := range families {
			if r, err := s.Allocator(family).AllocateNext("new"); err == nil {
				if owner, live := before[r.IP]; live {
					t.Fatalf("%s of %s was given away", r.IP, owner)
				}
			}
		}
		published, ok := s.Publish(epoch.Add(time.Hour))
		if !ok {
			t.Fatal("nothing is published")
		}
		for _, ip := range sortedAddrs(before) {
			if s.used[ip] != before[ip] || published.Status.IPAM.Used[ip].Owner != before[ip] {
				t.Fatalf("%s of %s is gone from %v or %s", ip, before[ip], s.used, published)
			}
			if published.Status.IPAM.ReleaseIPs[ip] == ReadyForRelease && bad.Status.IPAM.ReleaseIPs[ip] != ReadyForRelease {
				t.Fatalf("%s of %s may be freed", ip, before[ip])
			}
		}
		operate(t, o, published)
	})
}

// liveNode is a node with two pods, one of them on an address that is marked, and its operator.
func liveNode(t *testing.T, n *CiliumNode) (*NodeStore, *Operator) {
	s, err := NewNodeStore(StoreConfig{Name: n.Metadata.Name, Pick: new(scatter)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Update(n); err != nil {
		t.Fatal(err)
	}
	for ip, owner := range map[string]string{"10.1.1.226": "default/web", "10.1.1.9": "default/db"} {
		if _, err := s.allocate(netip.MustParseAddr(ip), owner); err != nil {
			t.Fatal(err)
		}
	}
	s.FinishRestore()
	o, err := NewOperator(OperatorConfig{ReleaseExcessIPs: true})
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

// operate lets an operator see a resource; it must neither free nor mark what is in use.
func operate(t *testing.T, o *Operator, n *CiliumNode) {
	actions, err := o.Update(epoch, n)
	if err != nil {
		t.Fatalf("the operator refuses what the agent published: %v", err)
	}
	actions = append(actions, o.Listed(epoch, n.Metadata.Name, n.Spec.IPAM.Pool)...)
	actions = append(actions, o.Resync(epoch.Add(time.Hour))...)
	for _, a := range actions {
		switch a.Kind {
		case ActFree:
			if _, used := n.Status.IPAM.Used[a.IP]; used && n.Status.IPAM.ReleaseIPs[a.IP] != ReadyForRelease {
				t.Fatalf("%s, which is in use, is freed: %s", a.IP, n)
			}
		case ActWrite:
			for _, ip := range sortedAddrs(a.Resource.Status.IPAM.ReleaseIPs) {
				_, used := n.Status.IPAM.Used[ip]
				if state := a.Resource.Status.IPAM.ReleaseIPs[ip]; used && state != n.Status.IPAM.ReleaseIPs[ip] && state != Released {
					t.Fatalf("%s, which is in use, becomes %s: %s", ip, state, n)
				}
			}
		case ActAllocate:
			if a.Count <= 0 || a.Count > 2*numberMax {
				t.Fatalf("asks for %d addresses", a.Count)
			}
		}
	}
}

// What operators enter into the ledger because a node shows it can be read back, and makes the same ledger.
func FuzzAdopt(f *testing.F) {
	f.Add("default", "10.9.0.0/24", "n", "u")
	f.Add("a b", "10.9.0.0/24", "n", "")
	f.Add("a/b", "fd00::1/120", "n", "")
	f.Add("", "::ffff:10.0.0.0/100", "n\n", "x")
	f.Fuzz(func(t *testing.T, pool, cidr, name, uid string) {
		n := &CiliumNode{Metadata: ObjectMeta{Name: name, UID: uid}}
		p, _ := netip.ParsePrefix(cidr) // the zero Prefix must not matter
		good := netip.MustParsePrefix("192.0.2.0/28")
		n.Spec.IPAM.Pools.Allocated = []PoolAllocation{
			{Pool: pool, CIDRs: []netip.Prefix{p}}, {Pool: "default", CIDRs: []netip.Prefix{good}},
		}
		live := Claim{Version: 1, Op: OpClaim, Pool: "default/ipv4", Node: "live", CIDR: netip.MustParsePrefix("10.0.0.0/24"), At: epoch}
		var operators [2]*PoolOperator
		for i := range operators {
			o, err := NewPoolOperator(PoolOperatorConfig{})
			if err == nil {
				err = o.Apply(live)
			}
			if err != nil {
				t.Fatal(err)
			}
			operators[i] = o
		}
		entries, err := operators[0].Adopt(epoch, n)
		// Each refusal is a line of its own.
		if err != nil && len(strings.Split(err.Error(), "\n")) > 2 {
			t.Fatalf("error %q", err)
		}
		for _, e := range entries {
			back, err := ParseClaim(e.String())
			if err != nil || back != e {
				t.Fatalf("%+v reads back as %+v, %v", e, back, err)
			}
			if err := operators[1].Apply(back); err != nil {
				t.Fatal(err)
			}
		}
		one, two := fmt.Sprint(operators[0].Records()), fmt.Sprint(operators[1].Records())
		if one != two || !operators[0].claims.holds(live.Pool, live.Node, live.CIDR) {
			t.Fatalf("ledgers %s and %s", one, two)
		}
		if id := n.Metadata.Incarnation(); word(id) && !operators[0].claims.holds("default/ipv4", id, good) && !good.Overlaps(p) {
			t.Fatalf("the good CIDR was not adopted: %v", err)
		}
	})
}

// A damaged journal costs at most the records that are damaged: each is refused alone, changes nothing, and never takes
// an address from its owner.
func FuzzDamagedJournal(f *testing.F) {
	f.Add(uint16(0), uint16(0), "")
	f.Add(uint16(30), uint16(5), "10.1.0.7")
	f.Add(uint16(100), uint16(200), "\n")
	// A lease that says another pod's address, and one that says another pod.
	journal, leases := liveJournal(f)
	one, two := leases[0], leases[1]
	f.Add(uint16(strings.Index(journal, two.Addr.String())), uint16(len(two.Addr.String())), one.Addr.String())
	f.Add(uint16(strings.Index(journal, two.Owner.String())), uint16(len(two.Owner.String())), one.Owner.String())
	f.Fuzz(func(t *testing.T, at, cut uint16, junk string) {
		n, err := NewNode(NodeConfig{Pick: new(scatter)})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(damaged(journal, at, cut, junk)) {
			r, err := ipam.ParseRecord(strings.TrimSuffix(line, "\n"))
			if err != nil {
				oneLine(t, err)
				continue
			}
			before := n.Records()
			if err := n.Apply(r); err != nil {
				oneLine(t, err)
				if !slices.Equal(n.Records(), before) {
					t.Fatalf("%v, but the state %v became %v", err, before, n.Records())
				}
			}
		}
		holder := make(map[netip.Addr]ipam.Owner)
		for l := range n.Leases() {
			if other, twice := holder[l.Addr]; twice {
				t.Fatalf("%s is held by %s and %s", l.Addr, other, l.Owner)
			}
			holder[l.Addr] = l.Owner
		}
		for i := range 20 {
			if l, _, err := n.Allocate(epoch, owner(50+i), ipam.Want{}); err == nil {
				if other, twice := holder[l.Addr]; twice {
					t.Fatalf("%s of %s is given to %s", l.Addr, other, l.Owner)
				}
				holder[l.Addr] = l.Owner
			}
		}
	})
}

// liveJournal is the journal of a node with four pods, and their leases.
func liveJournal(t testing.TB) (text string, leases []ipam.Lease) {
	n := nodeWith(t, NodeConfig{Pick: new(scatter), FirstRouter: true}, "10.1.0.0/28")
	for i := range 4 {
		if _, _, err := n.Allocate(epoch, owner(i), ipam.Want{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range n.Records() {
		text += r.String() + "\n"
	}
	return text, slices.Collect(n.Leases())
}
