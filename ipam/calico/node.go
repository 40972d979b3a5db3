package calico

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Gateway is what Calico's pods use, whatever their block: an address of no pool, answered by the host for all of them.
var Gateway = netip.MustParseAddr("169.254.1.1")

// Node is the allocator of one host's agent: its blocks are the single addresses that the host was assigned, in that
// order. It is not safe for concurrent use.
type Node struct {
	*ipam.BlockLedger
	// Host sets these. Kept are the addresses that wait for owners to come. Apart are those that no other owner gets:
	// they wait for one that asked for them, or are of pools that not every pod gets addresses of. Asking are owners that
	// get the address kept for them or none.
	kept  map[ipam.Owner]netip.Addr
	apart map[netip.Addr]bool
	// The errors are why they get none, nil where it may still come.
	asking map[ipam.Owner]error
}

var _ ipam.NodeAllocator = Node{}

// NewNode returns an allocator without addresses.
func NewNode() Node {
	return Node{BlockLedger: ipam.NewBlockLedger(ipam.BlockLedgerConfig{System: system{}}),
		kept: make(map[ipam.Owner]netip.Addr), apart: make(map[netip.Addr]bool), asking: make(map[ipam.Owner]error)}
}

// Allocate implements ipam.Allocator: an owner gets the address that waits for it, where that can be had.
func (n Node) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	a, kept := n.kept[o]
	if kept && (w == ipam.Want{} || w.Addr == a) {
		if l, records, err := n.BlockLedger.Allocate(now, o, ipam.Want{Addr: a}); err == nil {
			return l, records, nil
		}
	}
	why, asks := n.asking[o]
	_, has := n.Lease(o)
	switch {
	case has:
	case asks && (why == nil || errors.Is(why, ErrNoAddress)):
		return ipam.Lease{}, nil, fmt.Errorf("%w of those that the pod may have", ipam.ErrExhausted)
	case asks:
		return ipam.Lease{}, nil, fmt.Errorf("%w: %w", why, ipam.ErrUnmet)
	case n.apart[w.Addr]:
		return ipam.Lease{}, nil, fmt.Errorf("%s waits for another pod: %w", w.Addr, ipam.ErrTaken)
	case len(n.apart) > 0 && w == ipam.Want{}:
		return n.anyOther(now, o)
	}
	return n.BlockLedger.Allocate(now, o, w)
}

// anyOther is Allocate of any address that is not apart.
func (n Node) anyOther(now time.Time, o ipam.Owner) (ipam.Lease, []ipam.Record, error) {
	for _, b := range n.Blocks() {
		a := b.Prefix.Addr()
		if b.Draining || n.apart[a] {
			continue
		}
		if l, records, err := n.BlockLedger.Allocate(now, o, ipam.Want{Addr: a}); err == nil {
			return l, records, nil
		}
	}
	return ipam.Lease{}, nil, ipam.ErrExhausted
}

// system is what Calico decides about an agent's blocks.
type system struct{}

// Gateway implements ipam.System.
func (system) Gateway(prefix netip.Prefix) (netip.Addr, error) {
	if prefix.Contains(Gateway) {
		return netip.Addr{}, errors.New("contains the gateway " + Gateway.String())
	}
	return Gateway, nil
}

// Own implements ipam.System: every address is for a pod.
func (system) Own(*ipam.AddressBlock) (kept, edges []netip.Addr) { return nil, nil }

// Fill implements ipam.System.
func (system) Fill(b *ipam.AddressBlock) ipam.Addresses {
	p, err := space.NewPool(space.PoolConfig{Prefix: b.Prefix})
	if err != nil {
		panic("calico: block " + b.Prefix.String() + " was checked: " + err.Error())
	}
	return p
}
