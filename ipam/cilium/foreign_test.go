package cilium

import (
	"errors"
	"net/netip"
	"testing"
	"time"
)

// blind is an Allocator that cannot be told what to leave out, and that refuses releases when told to.
type blind struct {
	*hostScope
	refuse error
}

func (b blind) Exclude() {}

func (b *blind) Release(ip netip.Addr) error {
	if b.refuse != nil {
		return b.refuse
	}
	return b.hostScope.Release(ip)
}

// An allocator of somebody else's must not be drained by a blacklist, nor lose an address to a refused expiry.
func TestForeignAllocators(t *testing.T) {
	h, err := newHostScope(smallRanges.CIDR4, RangeOptions{}, new(scatter))
	if err != nil {
		t.Fatal(err)
	}
	foreign := &blind{hostScope: h}
	ipam, err := NewIPAM(nil, Configuration{Pick: new(scatter)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ipam.IPv4Allocator = foreign
	ipam.Advance(epoch)
	ipam.BlacklistIPNet(netip.MustParsePrefix("10.0.0.8/30"), "route")
	for range 3 {
		v4, _, err := ipam.AllocateNextWithExpiration("", "pod", time.Minute)
		if err != nil || v4.IP.Less(netip.MustParseAddr("10.0.0.12")) {
			t.Fatalf("%v %v", v4, err)
		}
	}
	if _, _, err := ipam.AllocateNext("", "pod"); !errors.Is(err, ErrFull) || h.r.Used() != 3 {
		t.Errorf("%v with %d in use", err, h.r.Used())
	}
	foreign.refuse = errors.New("not now")
	if done := ipam.Advance(epoch.Add(time.Minute)); len(done) != 3 || !errors.Is(done[0].Err, foreign.refuse) || h.r.Used() != 3 {
		t.Fatalf("%v", done)
	}
	foreign.refuse = nil
	if done := ipam.Advance(epoch.Add(2 * time.Minute)); len(done) != 3 || done[0].Err != nil || h.r.Used() != 0 {
		t.Fatalf("%v", done)
	}
}

// stuck is an Allocator that gives the same address for ever.
type stuck struct{ *hostScope }

func (s stuck) Exclude() {}

func (s stuck) AllocateNext(string) (*AllocationResult, error) {
	return &AllocationResult{IP: s.r.Base()}, nil
}

// An allocator that insists on a blacklisted address is told once, not asked for ever.
func TestStuckAllocator(t *testing.T) {
	h, err := newHostScope(smallRanges.CIDR4, RangeOptions{}, new(scatter))
	if err != nil {
		t.Fatal(err)
	}
	ipam, err := NewIPAM(nil, Configuration{Pick: new(scatter)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ipam.IPv4Allocator = stuck{h}
	ipam.BlacklistIPNet(smallRanges.CIDR4, "route")
	if r, err := ipam.AllocateNextFamily(IPv4, "pod"); r != nil || !errors.Is(err, ErrAllocated) {
		t.Errorf("%v %v", r, err)
	}
}
