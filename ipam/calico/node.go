package calico

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Gateway is what Calico's pods use, whatever their block: an address of no pool, answered by the host for all of them. Gateway6 is the same of
// IPv6, a unique local address that was drawn. (Upstream it is the link-local address of the host's end, and VPP lends no such address.)
var (
	Gateway  = netip.MustParseAddr("169.254.1.1")
	Gateway6 = netip.MustParseAddr("fd2b:8e5f:c1a9::1")
)

// Node is the allocator of one host's agent: its blocks are the single addresses that the host was assigned, in that
// order. A pod gets one of each family. It is not safe for concurrent use.
type Node struct {
	*ipam.BlockLedger
	// families are the pools of the addresses that a pod gets, the primary first.
	families []string
	// Host sets these. Kept are the addresses that wait for owners to come. Apart are those that no other owner gets:
	// they wait for one that asked for them, or are of pools that not every pod gets addresses of. Asking are owners that
	// get the address kept for them or none.
	kept  map[ipam.Owner]netip.Addr
	apart map[netip.Addr]bool
	// The errors are why they get none, nil where it may still come.
	asking map[ipam.Owner]error
}

var _ ipam.DualStack = Node{}

// NewNode returns an allocator without addresses, whose pods get one of each of these pools, ipam.PoolIPv4 and ipam.PoolIPv6, the primary
// first: as the plugin's assign_ipv4 and assign_ipv6 say. None is ipam.PoolIPv4 alone, as upstream.
func NewNode(families ...string) Node {
	if len(families) == 0 {
		families = []string{ipam.PoolIPv4}
	}
	c := ipam.BlockLedgerConfig{System: system{}}
	if len(families) > 1 {
		c.PoolOf = func(block netip.Prefix) string { return ipam.PoolOf(block.Addr()) }
	}
	return Node{BlockLedger: ipam.NewBlockLedger(c), families: families,
		kept: make(map[ipam.Owner]netip.Addr), apart: make(map[netip.Addr]bool), asking: make(map[ipam.Owner]error)}
}

// Allocate implements ipam.Allocator: an owner gets the address that waits for it, where that can be had.
func (n Node) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	a, kept := n.kept[o]
	anyOne := !w.Addr.IsValid()
	if anyOne && w.Pool == "" && n.Dual() {
		w.Pool = n.families[0]
	}
	if kept && (anyOne || w.Addr == a) {
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
	case anyOne && !n.has(w.Pool):
		return ipam.Lease{}, nil, ipam.ErrNoBlock
	case len(n.apart) > 0 && anyOne:
		return n.anyOther(now, o, w.Pool)
	}
	return n.BlockLedger.Allocate(now, o, w)
}

// has reports whether an address of a family's pool is active, with "" any address.
func (n Node) has(pool string) bool {
	return slices.ContainsFunc(n.Active(), func(b *ipam.AddressBlock) bool { return pool == "" || isOf(b.Prefix.Addr(), pool) })
}

// Dual implements ipam.DualStack.
func (n Node) Dual() bool { return len(n.families) > 1 }

// FreeIn implements ipam.DualStack.
func (n Node) FreeIn(now time.Time, pool string) int {
	free := 0
	for _, b := range n.Active() {
		if isOf(b.Prefix.Addr(), pool) && b.Own.Free(now) > 0 {
			free++
		}
	}
	return free
}

// anyOther is Allocate of any address of a pool that is not apart.
func (n Node) anyOther(now time.Time, o ipam.Owner, pool string) (ipam.Lease, []ipam.Record, error) {
	for _, b := range n.Blocks() {
		a := b.Prefix.Addr()
		if b.Draining || n.apart[a] || pool != "" && !isOf(a, pool) {
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
	gateway := Gateway
	if prefix.Addr().Is6() {
		gateway = Gateway6
	}
	if prefix.Contains(gateway) {
		return netip.Addr{}, errors.New("contains the gateway " + gateway.String())
	}
	return gateway, nil
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
