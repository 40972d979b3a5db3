package contiv

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Config sets an Allocator up. The zero Config is valid: the allocator picks, and only its cursor delays reuse.
type Config struct {
	// External: another IPAM plugin picks; Allocate takes only Want.Addr.
	External bool
	// ReuseDelay is how long a released address is not given out again, >= 0: released at t, it is free at t+ReuseDelay.
	// With External it does not apply, because the other plugin owns that policy.
	ReuseDelay time.Duration
}

// Allocator gives out the pod addresses of one node, whose blocks the caller sets. It is not safe for concurrent use.
//
// In each block it goes on behind the address given last and wraps at the end; blocks are tried in SetBlocks order. Of
// each block it reserves the network address, the gateway (index 1), the NAT loopback (last but one) and the broadcast
// address. Blocks may overlap only with draining ones: then an address held in one is taken in the other.
//
// SetBlocks refuses a prefix with fewer than 3 host bits, and a new block whose gateway or NAT loopback is an address
// that a pod holds in a draining block.
type Allocator struct {
	*ipam.BlockLedger
	cfg Config
}

// New returns an allocator without blocks.
func New(cfg Config) (*Allocator, error) {
	if cfg.ReuseDelay < 0 {
		return nil, fmt.Errorf("reuse delay %s is negative", cfg.ReuseDelay)
	}
	if cfg.External {
		cfg.ReuseDelay = 0
	}
	l := ipam.NewBlockLedger(ipam.BlockLedgerConfig{System: system{delay: cfg.ReuseDelay}, External: cfg.External, ReuseDelay: cfg.ReuseDelay})
	return &Allocator{BlockLedger: l, cfg: cfg}, nil
}

// blockHostBitsMin is the smallest block with an address for a pod: of 2^n addresses, network, gateway, NAT loopback
// and broadcast are reserved.
const blockHostBitsMin = 3

// system is what Contiv decides on its own about a node's blocks.
type system struct{ delay time.Duration }

// Gateway implements ipam.System.
func (system) Gateway(prefix netip.Prefix) (netip.Addr, error) {
	if space.HostBits(prefix) < blockHostBitsMin {
		return netip.Addr{}, fmt.Errorf("needs at least %d host bits", blockHostBitsMin)
	}
	return space.Nth(prefix, podGatewayIndex)
}

// Own implements ipam.System: VPP itself uses the gateway and the NAT loopback.
func (system) Own(b *ipam.AddressBlock) (kept, edges []netip.Addr) {
	last := space.Last(b.Prefix)
	return []netip.Addr{b.Gateway, last.Prev()}, []netip.Addr{b.Prefix.Addr(), last}
}

// Fill implements ipam.System.
func (s system) Fill(b *ipam.AddressBlock) ipam.Addresses {
	pool, err := space.NewPool(space.PoolConfig{Prefix: b.Prefix, After: b.Gateway, ReuseDelay: s.delay})
	if err != nil {
		panic(fmt.Sprintf("contiv: block %s was checked: %v", b.Prefix, err))
	}
	return pool
}
