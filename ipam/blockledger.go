package ipam

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// BlockLedgerConfig sets a BlockLedger up.
type BlockLedgerConfig struct {
	System System
	// External: an owner names its address, and gets none of the system's choice.
	External bool
	// ReuseDelay is how long the Addresses that System.Fill returns let a released one cool.
	ReuseDelay time.Duration
	// PoolOf names the pool that a block is of, the same each time; nil is one pool for all.
	PoolOf func(block netip.Prefix) string
}

// BlockLedger is a Ledger for systems in which each block knows its own addresses: it tries blocks in SetBlocks order.
// Where blocks overlap, an address that is held or reserved in one is not given out in the other.
type BlockLedger struct {
	Ledger[Addresses]
	blocks blocks
}

// NewBlockLedger returns a ledger without blocks.
func NewBlockLedger(c BlockLedgerConfig) *BlockLedger {
	l := &BlockLedger{blocks: blocks{cfg: c}}
	l.blocks.ledger = &l.Ledger
	l.Ledger = NewLedger[Addresses](&l.blocks)
	if c.PoolOf != nil {
		l.pools = &l.blocks
	}
	return l
}

// Edges are the addresses of held blocks that no pod gets although no gateway or kept address is there: the first and the last, where the
// system says so.
func (l *BlockLedger) Edges() (list []netip.Addr) {
	for _, b := range l.held {
		_, edges := l.blocks.cfg.System.Own(b)
		list = append(list, edges...)
	}
	return list
}

// blocks are the policy of a BlockLedger.
type blocks struct {
	cfg    BlockLedgerConfig
	ledger *Ledger[Addresses]
	// linked says that some blocks shared addresses when they were last filled.
	linked bool
	// cooling are the addresses that cool and that no block can know, by release time.
	cooling []CoolingAddr
}

var (
	_ Policy[Addresses]       = (*blocks)(nil)
	_ Cooler                  = (*blocks)(nil)
	_ CursorKeeper[Addresses] = (*blocks)(nil)
)

// Shape implements Policy. The addresses come from link.
func (p *blocks) Shape(b *AddressBlock) (err error) {
	b.Gateway, err = p.cfg.System.Gateway(b.Prefix)
	return err
}

// Added implements Policy: Arranged always follows.
func (p *blocks) Added(*AddressBlock) {}

// Arranged implements Policy.
func (p *blocks) Arranged(int) { p.link() }

// Dropped implements Policy.
func (p *blocks) Dropped(b *AddressBlock) {
	p.keepCooling(b)
	if p.linked {
		p.link()
	}
}

// Pick implements Policy.
func (p *blocks) Pick(now time.Time) (*AddressBlock, netip.Addr, error) {
	if p.cfg.External {
		return nil, netip.Addr{}, fmt.Errorf("external IPAM named no address: %w", ErrNotInPool)
	}
	for _, b := range p.ledger.active {
		if addr, ok := b.Own.Allocate(now); ok {
			return b, addr, nil
		}
	}
	return nil, netip.Addr{}, ErrExhausted
}

// PickOf implements PoolPicker.
func (p *blocks) PickOf(now time.Time, pool string) (*AddressBlock, netip.Addr, error) {
	for _, b := range p.ledger.active {
		if p.cfg.PoolOf(b.Prefix) != pool {
			continue
		}
		if addr, ok := b.Own.Allocate(now); ok {
			return b, addr, nil
		}
	}
	return nil, netip.Addr{}, ErrExhausted
}

// FreeOf is how many addresses the active blocks of a pool could give out now, with BlockLedgerConfig.PoolOf.
func (l *BlockLedger) FreeOf(now time.Time, pool string) (free uint64) {
	for _, b := range l.active {
		if l.blocks.cfg.PoolOf(b.Prefix) == pool {
			free += b.Own.Free(now)
		}
	}
	return free
}

// Take implements Policy.
func (p *blocks) Take(now time.Time, b *AddressBlock, addr netip.Addr) error {
	switch err := b.Own.Take(now, addr); {
	case err == nil:
		return nil
	case errors.Is(err, space.ErrHeld):
		return ErrTaken
	case errors.Is(err, space.ErrCooling):
		return ErrCooling
	}
	return ErrNotInPool
}

// Size implements Policy.
func (p *blocks) Size(now time.Time, b *AddressBlock) (total, free uint64) {
	return b.Own.Capacity(), b.Own.Free(now)
}

// Cursor implements CursorKeeper.
func (p *blocks) Cursor(b *AddressBlock) (after netip.Addr) {
	if c, ok := b.Own.(cursoredAddresses); ok {
		after, _ = c.Cursor()
	}
	return after
}

// SetCursor implements CursorKeeper.
func (p *blocks) SetCursor(b *AddressBlock, addr netip.Addr) {
	if c, ok := b.Own.(cursoredAddresses); ok {
		c.SetCursor(addr)
	}
}
