package contiv

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
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
// SetBlocks refuses a prefix with fewer than 3 host bits, and a new block whose gateway or NAT loopback is an address that a
// pod holds in a draining block.
type Allocator struct {
	ledger
	pools pools
}

// ledger is who holds which address; the pools decide which one that is.
type ledger = ipam.Ledger[pool]

var _ ipam.NodeAllocator = (*Allocator)(nil)

// New returns an allocator without blocks.
func New(cfg Config) (*Allocator, error) {
	if cfg.ReuseDelay < 0 {
		return nil, fmt.Errorf("reuse delay %s is negative", cfg.ReuseDelay)
	}
	if cfg.External {
		cfg.ReuseDelay = 0
	}
	a := &Allocator{pools: pools{cfg: cfg}}
	a.pools.ledger = &a.ledger
	a.ledger = ipam.NewLedger[pool](&a.pools)
	return a, nil
}
