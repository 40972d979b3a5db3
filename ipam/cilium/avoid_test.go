package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: an address that is to be avoided is given to nobody, asked for or not, and who has it from before keeps it,
// through any number of restarts, until it is released; then nobody gets it any more. Method: a history of a node that
// avoided nothing and gave out all, on one that does, restored from its own records and from theirs.
func TestAvoid(t *testing.T) {
	now := time.Unix(1000, 0)
	block := netip.MustParsePrefix("10.0.0.0/28")
	avoided := netip.MustParseAddr("10.0.0.14")
	node := func(avoid bool) *Node {
		c := NodeConfig{Pick: nth(0), FirstRouter: true}
		if avoid {
			c.Avoid = keepPenultimate
		}
		n, err := NewNode(c)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	pod := func(k int) ipam.Owner {
		return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprint(k), IfName: "eth0"}
	}
	fill := func(n *Node) (given int) {
		for k := range 100 {
			l, _, err := n.Allocate(now, pod(100+k), ipam.Want{})
			if errors.Is(err, ipam.ErrExhausted) {
				return given
			}
			if err != nil || l.Addr == avoided {
				t.Fatalf("pod %d: %+v, %v", k, l, err)
			}
			given++
		}
		t.Fatal("the block has no end")
		return 0
	}

	fresh := node(true)
	if _, err := fresh.SetBlocks(now, []netip.Prefix{block}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fresh.Allocate(now, pod(1), ipam.Want{Addr: avoided}); !errors.Is(err, ipam.ErrNotInPool) {
		t.Errorf("asked for: %v", err)
	}
	// without network, router, the avoided one, broadcast
	if total, free := fresh.Capacity(now); total != 12 || free != 12 {
		t.Errorf("%d addresses, %d free", total, free)
	}
	if given := fill(fresh); given != 12 {
		t.Errorf("%d were given", given)
	}

	before := node(false)
	if _, err := before.SetBlocks(now, []netip.Prefix{block}); err != nil {
		t.Fatal(err)
	}
	holder := pod(1)
	if _, _, err := before.Allocate(now, holder, ipam.Want{Addr: avoided}); err != nil {
		t.Fatal(err)
	}
	records := before.Records()
	var after *Node
	for range 3 {
		after = node(true)
		if _, err := after.Replay(records); err != nil {
			t.Fatal(err)
		}
		if l, ok := after.Lease(holder); !ok || l.Addr != avoided {
			t.Fatalf("restored %+v", l)
		}
		records = after.Records()
	}
	if _, _, err := after.Allocate(now, pod(2), ipam.Want{Addr: avoided}); !errors.Is(err, ipam.ErrTaken) {
		t.Errorf("asked for while it is held: %v", err)
	}
	after.Release(now, holder)
	if given := fill(after); given != 12 {
		t.Errorf("%d were given behind the release", given)
	}
	if _, _, err := after.Allocate(now, holder, ipam.Want{Addr: avoided}); !errors.Is(err, ipam.ErrNotInPool) {
		t.Errorf("asked for behind the release: %v", err)
	}
}
