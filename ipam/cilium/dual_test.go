package cilium

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: a node of two families gives addresses by family, asks for what pods need of each in one request of the pool, and gives back the
// excess of one while the other has none; the last block of each stays. Method: a node with blocks of both, step by step.
func TestDualNode(t *testing.T) {
	n, err := NewNode(NodeConfig{Pick: nth(0), FirstRouter: true, Dual: true})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1700000000, 0)
	d := NewDemands(n)
	for _, f := range n.Families() {
		d.Add(DefaultPool, f, NewDemand(n, NodeDemand{Pool: string(f)}))
	}
	owner := ipam.Owner{Network: "k8s", ContainerID: "a", IfName: "eth0"}
	set := func(list ...string) {
		t.Helper()
		var prefixes []netip.Prefix
		for _, text := range list {
			prefixes = append(prefixes, netip.MustParsePrefix(text))
		}
		if _, err := n.SetBlocks(now, prefixes); err != nil {
			t.Fatal(err)
		}
	}
	asks := func(four, six int, excess ...string) {
		t.Helper()
		got := d.Look(now, n.Blocks(), true, false)
		if len(got.Requests) != 1 || got.Requests[0] != (PoolRequest{DefaultPool, PoolDemand{four, six}}) {
			t.Errorf("asks for %+v, want %d and %d", got.Requests, four, six)
		}
		if len(got.Excess) != len(excess) {
			t.Fatalf("gives back %v, want %v", got.Excess, excess)
		}
		for i, p := range got.Excess {
			if p.String() != excess[i] {
				t.Errorf("gives back %v, want %v", got.Excess, excess)
			}
		}
	}
	d.Refused(now, "", "default/a")
	asks(1, 1)
	set("10.1.0.0/28")
	if _, _, err := n.Allocate(now, owner.Second(), ipam.Want{Pool: ipam.PoolIPv6}); !errors.Is(err, ipam.ErrNoBlock) {
		t.Errorf("of a family without blocks: %v", err)
	}
	set("10.1.0.0/28", "10.1.0.16/28", "fd00::/124")
	for i, pool := range []string{ipam.PoolIPv4, ipam.PoolIPv6} {
		o := owner
		if i == 1 {
			o = owner.Second()
		}
		l, _, err := n.Allocate(now, o, ipam.Want{Pool: pool})
		if err != nil || ipam.PoolOf(l.Addr) != pool {
			t.Errorf("%s: %v %v", pool, l, err)
		}
	}
	if n.FreeIn(now, ipam.PoolIPv4) != 25 || n.FreeIn(now, ipam.PoolIPv6) != 12 {
		t.Errorf("free: %d and %d", n.FreeIn(now, ipam.PoolIPv4), n.FreeIn(now, ipam.PoolIPv6))
	}
	d.Placed("default/a")
	asks(3, 2, "10.1.0.16/28")
	n.Release(now, owner)
	n.Release(now, owner.Second())
	asks(2, 1, "10.1.0.16/28")
	set("10.1.0.0/28", "fd00::/124")
	asks(1, 1)
}
