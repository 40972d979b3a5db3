package contiv

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// blockHostBitsMin is the smallest block with an address for a pod: of 2^n addresses, network, gateway, NAT loopback and
// broadcast are reserved.
const blockHostBitsMin = 3

// block is one prefix that the node holds.
type block struct {
	id       uint32 // position in Allocator.byID
	prefix   netip.Prefix
	gateway  netip.Addr
	loopback netip.Addr
	pool     *space.Pool
	leases   int
	draining bool
	since    time.Time // became active
	drained  time.Time
}

// newBlock works the block's own addresses out; its pool comes from Allocator.fill.
func newBlock(now time.Time, prefix netip.Prefix) (*block, error) {
	p := space.Normal(prefix)
	if !p.IsValid() || space.HostBits(p) < blockHostBitsMin {
		return nil, fmt.Errorf("block %s: needs at least %d host bits", prefix, blockHostBitsMin)
	}
	b := &block{prefix: p, since: now}
	var err error
	if b.gateway, err = space.Nth(p, podGatewayIndex); err != nil {
		return nil, err
	}
	b.loopback, err = space.NthLast(p, 1)
	return b, err
}

// reserved are the addresses that no pod gets, as long as the node holds the block.
func (b *block) reserved() []netip.Addr {
	return []netip.Addr{b.prefix.Addr(), b.gateway, b.loopback, space.Last(b.prefix)}
}

func (b *block) addr(index uint64) netip.Addr {
	a, err := space.Nth(b.prefix, index)
	if err != nil {
		panic(fmt.Sprintf("contiv: lease of index %d in block %s: %v", index, b.prefix, err))
	}
	return a
}

// lease is what h says of its owner.
func (b *block) lease(o ipam.Owner, h *held) ipam.Lease {
	return ipam.Lease{
		Owner:   o,
		Addr:    b.addr(h.index),
		Block:   b.prefix,
		Gateway: b.gateway,
		Since:   time.Unix(0, h.since).UTC(),
	}
}

func (b *block) public() ipam.Block {
	return ipam.Block{Prefix: b.prefix, Gateway: b.gateway, Draining: b.draining}
}
