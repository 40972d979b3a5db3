package cilium

import (
	"errors"
	"net/netip"
	"testing"
	"time"
)

// A demand that goes up and down within the hysteresis moves no block, and a fresh node without pre-allocation gets its
// first block by asking for an address.
func TestPoolDemand(t *testing.T) {
	m, err := NewMultiPool(MultiPoolConfig{IPv4: true, PreAllocate: map[string]int{}, Pick: new(scatter)})
	if err != nil {
		t.Fatal(err)
	}
	if requested, _ := m.Sync(epoch); len(requested) != 0 {
		t.Errorf("an idle node requests %v", requested)
	}
	if _, err := m.AllocateNext(epoch, "", IPv4, "router"); !errors.Is(err, ErrNotRestored) {
		t.Errorf("before the restore: %v", err)
	}
	m.FinishRestore()
	_, err = m.AllocateNext(epoch, "", IPv4, "router")
	var notReady PoolNotReadyError
	if !errors.As(err, &notReady) || err.Error() != `pool "default" has no free ipv4 address yet` {
		t.Fatal(err)
	}
	requested, _ := m.Sync(epoch)
	if len(requested) != 1 || requested[0] != (PoolRequest{Pool: "default", Needed: PoolDemand{IPv4Addrs: 1}}) {
		t.Errorf("the router's demand is %v", requested)
	}
	if at := m.NextExpiry(); !at.Equal(epoch.Add(5 * time.Minute)) {
		t.Errorf("the demand ends at %s", at)
	}
	if requested, _ = m.Sync(epoch.Add(5 * time.Minute)); len(requested) != 0 {
		t.Errorf("after 5 min the demand is %v", requested)
	}
	if err := m.Update([]PoolAllocation{{Pool: "default", CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/28")}}}); err != nil {
		t.Fatal(err)
	}
	if r, err := m.AllocateNext(epoch, "", IPv4, "router"); err != nil || r.PoolName != "default" {
		t.Errorf("%v %v", r, err)
	}
}

// An agent that has not restored gives nothing back, although nothing is in use yet.
func TestNothingIsGivenBackBeforeTheRestore(t *testing.T) {
	m, err := NewMultiPool(MultiPoolConfig{IPv4: true, PreAllocate: map[string]int{}, Pick: new(scatter)})
	if err != nil {
		t.Fatal(err)
	}
	block := netip.MustParsePrefix("10.0.0.0/28")
	if err := m.Update([]PoolAllocation{{Pool: "blue", CIDRs: []netip.Prefix{block}}}); err != nil {
		t.Fatal(err)
	}
	if _, allocated := m.Sync(epoch); len(allocated) != 1 {
		t.Errorf("before the restore the node keeps %v", allocated)
	}
	m.FinishRestore()
	if _, allocated := m.Sync(epoch); len(allocated) != 0 {
		t.Errorf("after the restore the node keeps %v", allocated)
	}
	// What was published is gone, whatever an older view still shows; what was certainly not published comes back.
	reclaimed := func() bool {
		_, err := m.AllocateNext(epoch, "blue", IPv4, "pod")
		m.Sync(epoch)
		_, again := m.AllocateNext(epoch, "blue", IPv4, "pod")
		return err == nil || again == nil
	}
	if reclaimed() {
		t.Error("a published release was taken back")
	}
	m, err = NewMultiPool(MultiPoolConfig{IPv4: true, PreAllocate: map[string]int{}, Pick: new(scatter)})
	if err == nil {
		err = m.Update([]PoolAllocation{{Pool: "blue", CIDRs: []netip.Prefix{block}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	m.FinishRestore()
	m.Sync(epoch)
	m.Refused()
	if !reclaimed() {
		t.Error("an unpublished release was not taken back")
	}
}

// What a node gives back is what its operator would not have given: the CIDRs that stay have the needed addresses, and
// without any one more of the idle ones they would not.
func TestExcessIsWhatTheOperatorWouldNotGive(t *testing.T) {
	for _, c := range []struct{ used, needed, stay int }{
		{0, 0, 0}, {0, 1, 1}, {2, 0, 1}, {2, 14, 1}, {2, 15, 2}, {2, 28, 2}, {2, 29, 3}, {2, 100, 3}, {16, 20, 2},
	} {
		p := NewCIDRPool(RangeOptions{}, new(scatter))
		if err := p.UpdatePool(prefixes("10.0.0.0/28,10.0.0.16/28,10.0.0.32/28")); err != nil {
			t.Fatal(err)
		}
		for range c.used {
			if _, err := p.AllocateNext(); err != nil {
				t.Fatal(err)
			}
		}
		p.ReleaseExcessCIDRs(c.needed)
		if have := len(p.InUseCIDRs()); have != c.stay {
			t.Errorf("with %d in use and %d needed: %d CIDRs stay, want %d", c.used, c.needed, have, c.stay)
		}
	}
}
