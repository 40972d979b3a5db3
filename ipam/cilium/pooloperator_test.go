package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestPoolRangesMayMoveButNotLiveBlocks(t *testing.T) {
	o, err := NewPoolOperator(PoolOperatorConfig{})
	if err != nil {
		t.Fatal(err)
	}
	old := &CiliumNode{Metadata: ObjectMeta{Name: "old"}}
	old.Spec.IPAM.Pools.Allocated = []PoolAllocation{{Pool: "gone", CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/28")}}}
	if _, err := o.Adopt(epoch, old); err != nil {
		t.Fatal(err)
	}
	spec := PoolSpec{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/27")}, MaskSize4: 28}
	if err := o.UpsertPool("new", spec); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]PoolSpec{
		"new":      {IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.1.0/27")}, MaskSize4: 28},
		"other":    {IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.16/28")}, MaskSize4: 28},
		"a b":      spec,
		"family":   {IPv6: spec.IPv4, MaskSize6: 28},
		"too long": {IPv4: spec.IPv4, MaskSize4: 20},
	} {
		if err := o.UpsertPool(name, bad); err == nil {
			t.Errorf("pool %s was accepted", name)
		}
	}
	o.FinishRestore()
	n := &CiliumNode{Metadata: ObjectMeta{Name: "n"}}
	n.Spec.IPAM.Pools.Requested = []PoolRequest{{Pool: "new", Needed: PoolDemand{IPv4Addrs: 20}}, {Pool: "nowhere", Needed: PoolDemand{IPv4Addrs: 1}}}
	allocated, entries, err := o.Reconcile(epoch, n)
	if !errors.Is(err, ErrNoCIDR) || len(entries) != 1 || len(allocated) != 1 || allocated[0].CIDRs[0].String() != "10.0.0.16/28" {
		t.Errorf("%v %v %v", allocated, entries, err)
	}
	o.Delete(epoch, "old")
	if allocated, _, err = o.Reconcile(epoch, n); len(allocated[0].CIDRs) != 2 {
		t.Errorf("%v %v", allocated, err)
	}
}

// A node that still holds half of a range by another pool's name costs one look, not one for each of its 2^54 blocks.
func TestForeignBlocksArePassedOverAtOnce(t *testing.T) {
	o, err := NewPoolOperator(PoolOperatorConfig{})
	if err != nil {
		t.Fatal(err)
	}
	old := &CiliumNode{Metadata: ObjectMeta{Name: "old"}}
	old.Spec.IPAM.Pools.Allocated = []PoolAllocation{{Pool: "gone", CIDRs: []netip.Prefix{netip.MustParsePrefix("fd00::/9")}}}
	if _, err := o.Adopt(epoch, old); err != nil {
		t.Fatal(err)
	}
	if err := o.UpsertPool("new", PoolSpec{IPv6: []netip.Prefix{netip.MustParsePrefix("fd00::/8")}, MaskSize6: 63}); err != nil {
		t.Fatal(err)
	}
	o.FinishRestore()
	n := &CiliumNode{Metadata: ObjectMeta{Name: "n"}}
	n.Spec.IPAM.Pools.Requested = []PoolRequest{{Pool: "new", Needed: PoolDemand{IPv6Addrs: 1}}}
	allocated, _, err := o.Reconcile(epoch, n)
	if err != nil || len(allocated) != 1 || allocated[0].CIDRs[0] != netip.MustParsePrefix("fd80::/63") {
		t.Errorf("%v %v", allocated, err)
	}
}

// What a node shows under a name that a ledger cannot hold is told and not entered; the node's other blocks are.
func TestAdoptedPoolsHaveNames(t *testing.T) {
	o, err := NewPoolOperator(PoolOperatorConfig{})
	if err != nil {
		t.Fatal(err)
	}
	n := &CiliumNode{Metadata: ObjectMeta{Name: "n"}}
	for i, name := range [...]string{"", "a b", "a/b", "a\n", "good"} {
		cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i), 0}), 24)
		n.Spec.IPAM.Pools.Allocated = append(n.Spec.IPAM.Pools.Allocated, PoolAllocation{Pool: name, CIDRs: []netip.Prefix{cidr}})
	}
	entries, err := o.Adopt(epoch, n)
	if len(entries) != 1 || entries[0].Pool != "good/ipv4" || strings.Count(fmt.Sprint(err), "not a name") != 4 {
		t.Errorf("%v %v", entries, err)
	}
}

// A deposed operator that wakes up must find out before it shows a block that is somebody else's by now.
func TestDeposedOperatorShowsNothing(t *testing.T) {
	spec := PoolSpec{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/28")}, MaskSize4: 28}
	start := func(ledger []Claim, nodes ...*CiliumNode) *PoolOperator {
		o, err := NewPoolOperator(PoolOperatorConfig{})
		if err == nil {
			err = o.UpsertPool("default", spec)
		}
		for _, e := range ledger {
			err = errors.Join(err, o.Apply(e))
		}
		for _, n := range nodes {
			_, refused := o.Adopt(epoch, n)
			err = errors.Join(err, refused)
		}
		if err != nil {
			t.Fatal(err)
		}
		o.FinishRestore()
		return o
	}
	request := func(name string, n int) *CiliumNode {
		c := &CiliumNode{Metadata: ObjectMeta{Name: name}}
		c.Spec.IPAM.Pools.Requested = []PoolRequest{{Pool: "default", Needed: PoolDemand{IPv4Addrs: n}}}
		return c
	}
	old := start(nil)
	shown, ledger, err := old.Reconcile(epoch, request("a", 1))
	if err != nil || len(ledger) != 1 {
		t.Fatal(ledger, err)
	}
	// The write came through, but its reply was lost. The node gave the block back, and the next operator gave it to b.
	a := request("a", 0)
	a.Spec.IPAM.Pools.Allocated = shown
	next := start(ledger, a)
	for _, n := range [...]*CiliumNode{request("a", 0), request("b", 1)} {
		_, more, err := next.Reconcile(epoch, n)
		if err != nil {
			t.Fatal(err)
		}
		ledger = append(ledger, more...)
	}
	if len(ledger) != 3 || ledger[2].Node != "b" {
		t.Fatal(ledger)
	}
	shown, more, err := old.Reconcile(epoch, request("a", 0))
	if err != nil || len(shown) != 1 || len(more) == 0 || more[0].Version == uint64(len(ledger))+1 {
		t.Errorf("the old operator shows %v after appending %v to a ledger of %d", shown, more, len(ledger))
	}
}

// Goal: what an operator restates is a whole ledger, by itself and behind all entries before it. Method: an operator
// with blocks held, given back and cooling, and two others that read the one and the other.
func TestRestatedLedgerIsWhole(t *testing.T) {
	fresh := func() *PoolOperator {
		o, err := NewPoolOperator(PoolOperatorConfig{ReuseDelay: time.Hour})
		if err == nil {
			err = o.UpsertPool("default", PoolSpec{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}, MaskSize4: 28,
				IPv6: []netip.Prefix{netip.MustParsePrefix("fd00::/120")}, MaskSize6: 124})
		}
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := fresh()
	o.FinishRestore()
	var ledger []Claim
	for name, needed := range map[string]int{"a": 20, "b": 5, "c": 40} { // in any order: each has its own
		n := &CiliumNode{Metadata: ObjectMeta{Name: name}}
		n.Spec.IPAM.Pools.Requested = []PoolRequest{{Pool: "default", Needed: PoolDemand{IPv4Addrs: needed, IPv6Addrs: needed}}}
		_, entries, err := o.Reconcile(epoch, n)
		if err != nil {
			t.Fatal(err)
		}
		ledger = append(ledger, entries...)
	}
	ledger = append(ledger, o.Delete(epoch, "b")...)
	again := o.Restate()
	if len(again) != 2*2+2*2+2*3 || again[0].Version != uint64(len(ledger))+1 {
		t.Errorf("%d entries behind %d: %v", len(again), len(ledger), again)
	}
	for _, entries := range [][]Claim{again, append(ledger, again...)} {
		other := fresh()
		for _, e := range entries {
			if err := other.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if have, want := fmt.Sprint(other.Records(), other.Version()), fmt.Sprint(o.Records(), o.Version()); have != want {
			t.Errorf("%s\nwant\n%s", have, want)
		}
	}
}
