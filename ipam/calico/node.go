package calico

import (
	"errors"
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
	// kept are the addresses that wait for owners to come, which Host sets.
	kept map[ipam.Owner]netip.Addr
}

var _ ipam.NodeAllocator = Node{}

// NewNode returns an allocator without addresses.
func NewNode() Node {
	return Node{ipam.NewBlockLedger(ipam.BlockLedgerConfig{System: system{}}), make(map[ipam.Owner]netip.Addr)}
}

// Allocate implements ipam.Allocator: an owner gets the address that waits for it, where that can be had.
func (n Node) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	if a, kept := n.kept[o]; kept && w == (ipam.Want{}) {
		if l, records, err := n.BlockLedger.Allocate(now, o, ipam.Want{Addr: a}); err == nil {
			return l, records, nil
		}
	}
	return n.BlockLedger.Allocate(now, o, w)
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
