package cilium

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/recordtest"
	"github.com/vppdrill/vppdrill/ipam/space"
	"pgregory.net/rapid"
)

// Goal: Node does exactly what its slow twin does, and a crash anywhere yields an earlier state. Method: rapid drives
// both with few owners and small, overlapping blocks, so that every corner is near; both decide with the same stream of
// picks. The records of every step are replayed into fresh nodes.

var (
	universe = []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/28"), netip.MustParsePrefix("10.0.0.0/29"), netip.MustParsePrefix("10.0.0.8/29"),
		netip.MustParsePrefix("10.0.0.0/27"), netip.MustParsePrefix("10.0.1.0/30"), netip.MustParsePrefix("2001:db8::/125"),
		netip.MustParsePrefix("10.0.0.6/31"),
	}
	epoch = time.Unix(1700000000, 0).UTC()
)

func owner(n int) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c%02d", n), IfName: "eth0"}
}

// keepPenultimate keeps the last but one address of blocks with at least 8, as a wiring may for its own use.
func keepPenultimate(p netip.Prefix) []netip.Addr {
	if space.HostBits(p) < 3 {
		return nil
	}
	return []netip.Addr{space.Last(p).Prev()}
}

func TestNodeAgreesWithItsTwin(t *testing.T) {
	for range 20 { // blocks that overlap, drain and come back in turn are rare
		rapid.Check(t, func(t *rapid.T) {
			m := newMachine(t)
			actions := m.actions()
			actions[""] = m.compare
			t.Repeat(actions)
		})
	}
}

// fresh makes a node without blocks.
func fresh(t *rapid.T, cfg NodeConfig) *Node {
	cfg.Pick = new(scatter)
	n, err := NewNode(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCrashAtEveryRecordYieldsAnEarlierState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		actions := m.actions()
		actions[""] = m.compare
		t.Repeat(actions)
		recordtest.Try(t, &m.history, func() ipam.NodeAllocator { return fresh(t, m.fast.cfg) }, m.now, universe[5])
	})
}

// A record that contradicts the state is refused and changes nothing, whatever it says.
func TestContradictingRecordsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		actions := m.actions()
		actions["apply"] = func(t *rapid.T) {
			n := fresh(t, m.fast.cfg)
			recordtest.Replay(t, n, m.fast.Records())
			p := rapid.SampledFrom(universe).Draw(t, "prefix")
			r := ipam.Record{
				Op:     ipam.RecordOp(rapid.IntRange(0, 7).Draw(t, "op")),
				Owner:  rapid.SampledFrom([]ipam.Owner{{}, owner(1), owner(2), owner(30), {Network: "half"}}).Draw(t, "owner"),
				Addr:   rapid.SampledFrom([]netip.Addr{{}, p.Addr(), p.Addr().Next(), p.Addr().Next().Next()}).Draw(t, "addr"),
				Prefix: rapid.SampledFrom([]netip.Prefix{{}, p, netip.PrefixFrom(p.Addr(), p.Bits()+1)}).Draw(t, "block"),
				At:     m.now,
			}
			recordtest.Refused(t, n, r)
		}
		t.Repeat(actions)
	})
}

// nodeWith makes a node with one block.
func nodeWith(t testing.TB, cfg NodeConfig, prefix string) *Node {
	t.Helper()
	n, err := NewNode(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.SetBlocks(epoch, []netip.Prefix{netip.MustParsePrefix(prefix)}); err != nil {
		t.Fatal(err)
	}
	return n
}

// The router's address is chosen once; restarts, reordering and draining keep it.
func TestRouterAddressIsConstant(t *testing.T) {
	n := nodeWith(t, NodeConfig{Pick: new(scatter)}, "10.1.0.0/24")
	router := n.Blocks()[0].Gateway
	if _, _, err := n.Allocate(epoch, owner(1), ipam.Want{}); err != nil {
		t.Fatal(err)
	}
	for _, prefixes := range [...][]netip.Prefix{{universe[4]}, {universe[4], netip.MustParsePrefix("10.1.0.0/24")}} {
		if _, err := n.SetBlocks(epoch, prefixes); err != nil {
			t.Fatal(err)
		}
		fresh, err := NewNode(NodeConfig{Pick: new(scatter)})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range n.Records() {
			if err := fresh.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		n = fresh
		for _, b := range n.Blocks() {
			if b.Prefix.Bits() == 24 && b.Gateway != router {
				t.Errorf("router %s became %s", router, b.Gateway)
			}
		}
	}
}

func TestNodeRefusesBadInput(t *testing.T) {
	if _, err := NewNode(NodeConfig{}); err == nil {
		t.Error("a node without Picker was made")
	}
	if _, err := NewNode(NodeConfig{Pick: new(scatter), Expiration: -1}); err == nil {
		t.Error("a negative expiration was accepted")
	}
	n := nodeWith(t, NodeConfig{Pick: new(scatter), FirstRouter: true}, "10.1.0.0/24")
	for _, prefixes := range [...][]netip.Prefix{
		{{}}, {netip.MustParsePrefix("10.1.0.0/32")}, {universe[0], universe[0]}, {universe[0], universe[1]},
	} {
		if _, err := n.SetBlocks(epoch, prefixes); err == nil {
			t.Errorf("blocks %v were accepted", prefixes)
		}
	}
	for name, c := range map[string]struct {
		owner ipam.Owner
		want  ipam.Want
	}{
		"zero owner":  {},
		"other pool":  {owner: owner(1), want: ipam.Want{Pool: "blue"}},
		"other block": {owner: owner(1), want: ipam.Want{Addr: netip.MustParseAddr("10.2.0.5")}},
		"router":      {owner: owner(1), want: ipam.Want{Addr: netip.MustParseAddr("10.1.0.1")}},
		"network":     {owner: owner(1), want: ipam.Want{Addr: netip.MustParseAddr("10.1.0.0")}},
		"broadcast":   {owner: owner(1), want: ipam.Want{Addr: netip.MustParseAddr("10.1.0.255")}},
	} {
		if l, r, err := n.Allocate(epoch, c.owner, c.want); err == nil || r != nil || l != (ipam.Lease{}) {
			t.Errorf("%s: %+v %v %v", name, l, r, err)
		}
	}
}
