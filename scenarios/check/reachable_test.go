package check

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

var wirings = []clustertest.Config{{}, {Veth: true}, {L2: true}, {L2: true, Veth: true}, {Macvlan: true}, {L2: true, Macvlan: true}}

func newCluster(cfg clustertest.Config, nodes, pods int) *clustertest.Cluster {
	cfg.Nodes, cfg.PodsPerNode = nodes, pods
	return clustertest.New(cfg)
}

// slowReachable is the law by its words: one walk for each thing it promises.
func slowReachable(s fact.Snapshot) error {
	w, size := walk.New(s), 0
	for _, n := range s.Nodes {
		for _, netns := range slices.Collect(n.Linux.Namespaces()) {
			size = leastMTU(n, netns, size)
		}
		size = leastMTU(n, "", size)
	}
	packet := func(to netip.Addr) walk.Packet { return walk.Packet{Dst: to, Size: size, Whole: true} }
	dests, err := collect(s)
	if err != nil {
		return err
	}
	arrived := func(node string, d destination, out walk.Outcome) bool {
		switch d.kind {
		case toFree:
			return out.Kind == walk.Dropped || out.Kind == walk.Left
		case toOutside:
			return out.Kind == walk.Left && out.Node == node
		case toHost:
			return out.To(s.Nodes[d.home].Name, "")
		case toVPP:
			return out.Kind == walk.Delivered && out.Node == s.Nodes[d.home].Name && out.Netns == ""
		}
		return out.To(s.Nodes[d.home].Name, s.Nodes[d.home].Pods[d.pod].Netns)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) {
			continue
		}
		for _, d := range dests.list {
			if _, _, ok := w.NIC(n.Name, n.Address.Addr()); ok {
				nic, _ := n.VPP.Interface(clustertest.IfaceNIC)
				if out := w.Outcome(walk.FromTable(n.Name, nic.Table4), packet(d.addr)); !arrived(n.Name, d, out) {
					return fmt.Errorf("NIC of %s to %s: %s", n.Name, d.addr, out)
				}
			}
			if out := w.Outcome(walk.FromHost(n.Name), packet(d.addr)); d.kind&(toPod|toFree) != 0 && !arrived(n.Name, d, out) {
				return fmt.Errorf("host of %s to %s: %s", n.Name, d.addr, out)
			}
			for _, ps := range n.Pods {
				if out := w.Outcome(walk.FromPod(n.Name, ps.Netns), packet(d.addr)); ps.Addr.IsValid() && d.addr != ps.Addr && !arrived(n.Name, d, out) {
					return fmt.Errorf("%s to %s: %s", ps.Pod, d.addr, out)
				}
			}
		}
		for _, ps := range n.Pods {
			if path := w.Walk(walk.FromPod(n.Name, ps.Netns), ps.Gateway); ps.Addr.IsValid() && len(path.Hops) < 3 {
				return fmt.Errorf("%s to gateway: %s", ps.Pod, path.Outcome)
			}
		}
	}
	return nil
}

// leastMTU is the smallest MTU of an answered pod's or the host's own link.
func leastMTU(n fact.NodeState, netns string, least int) int {
	for l := range n.Linux.Links(netns) {
		for _, a := range l.Addrs {
			own := netns == "" && a.Addr() == n.HostLinux
			for _, ps := range n.Pods {
				own = own || netns == ps.Netns && a.Addr() == ps.Addr
			}
			if own && (least == 0 || int(l.MTU) < least) {
				least = int(l.MTU)
			}
		}
	}
	return least
}

// Goal: the proof by classes and the walk of every pair agree on every cluster, right or broken. Method: each way of
// wiring, with no fault, with each planted fault, and with two of them, many choices each; verdicts compared. Both
// verdicts must come up often, and each fault must be noticed at least once unless it is about something that packets
// do not meet.
func TestReachableAgreesWithEveryPair(t *testing.T) {
	unseen := map[string]bool{"guard-gone": true, "sender-left": true, "sender-of-another": true, "lease-gone": true, "lease-left": true, "two-blocks": true, "pod-without-answer": true, "group": true}
	whole, broken := 0, 0
	seen := map[string]bool{}
	for seed := range uint64(12000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cfg := wirings[rng.IntN(len(wirings))]
		c := newCluster(cfg, 2+rng.IntN(3), 1+rng.IntN(3))
		names := ""
		first := planted[int(seed)%len(planted)]
		for k := range rng.IntN(3) {
			f := first
			if k > 0 {
				f = planted[rng.IntN(len(planted))]
			}
			func() {
				// A second fault may find nothing left to break.
				defer func() { _ = recover() }()
				f.plant(c, rng.IntN)
			}()
			names += " " + f.name
		}
		freeze(c)
		s := c.Snapshot()
		_, fast := checkReachable(s)
		slow := slowReachable(s)
		if (fast == nil) != (slow == nil) {
			t.Fatalf("seed %d, %+v,%s: classes say %v, every pair says %v", seed, c.Config, names, fast, slow)
		}
		if fast == nil {
			whole++
		} else {
			broken++
			if names == " "+first.name {
				seen[first.name] = true
			}
		}
	}
	if whole < 500 || broken < 500 {
		t.Errorf("%d whole and %d broken clusters: the faults are too strong or too weak", whole, broken)
	}
	for _, f := range planted {
		if seen[f.name] == unseen[f.name] {
			t.Errorf("fault %s: noticed %v", f.name, seen[f.name])
		}
	}
	t.Logf("%d whole, %d broken", whole, broken)
}

// Goal: ranges of destinations by doubling search are those of a plain scan.
func TestSpan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		d := &destinations{}
		a := netip.MustParseAddr("10.0.0.0")
		for range rng.IntN(40) {
			for range 1 + rng.IntN(6) {
				a = a.Next()
			}
			d.list = append(d.list, destination{addr: a})
			d.keys = append(d.keys, keyOf(a))
		}
		for range 10 {
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(rng.IntN(256))}), rng.IntN(33)).Masked()
			lo, hi := d.span(p)
			for i, x := range d.list {
				if p.Contains(x.addr) != (lo <= i && i < hi) {
					t.Fatalf("%s: [%d,%d), but %d is %s", p, lo, hi, i, x.addr)
				}
			}
		}
	}
	for _, text := range []string{"::/0", "fd00::/64", "fd00::/63", "fd00::1/128", "ffff::/16"} {
		first, last := bounds(netip.MustParsePrefix(text))
		if last.less(first) {
			t.Errorf("%s: last before first", text)
		}
	}
}

func BenchmarkReachable(b *testing.B) {
	for _, cfg := range []clustertest.Config{{Nodes: 100, PodsPerNode: 30}, {Nodes: 1000, PodsPerNode: 30}, {Nodes: 1000, PodsPerNode: 30, L2: true}} {
		b.Run(fmt.Sprintf("nodes=%d/l2=%v", cfg.Nodes, cfg.L2), func(b *testing.B) {
			if testing.Short() && cfg.Nodes > 100 {
				b.Skip("takes gigabytes")
			}
			s := clustertest.New(cfg).Snapshot()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := checkReachable(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
