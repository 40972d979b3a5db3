package contiv

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// blockHostBitsMin is the smallest block with an address for a pod: of 2^n addresses, network, gateway, NAT loopback and
// broadcast are reserved.
const blockHostBitsMin = 3

// block is one prefix that the node holds.
type block = ipam.HeldBlock[pool]

// pool is what Contiv keeps with a block: which of its addresses are held, reserved or cooling.
type pool struct{ *space.Pool }

// pools picks the addresses of a node's blocks. Where blocks overlap, the pool of each knows the leases, the cooling and the
// reserved addresses of every block in its range.
type pools struct {
	cfg    Config
	ledger *ledger
	// linked says that the pools were filled while some blocks overlapped.
	linked bool
	// cooling are the addresses that cool and are in no pool that could know it, by release time.
	cooling []ipam.CoolingAddr
}

var (
	_ ipam.Policy[pool]       = (*pools)(nil)
	_ ipam.Cooler             = (*pools)(nil)
	_ ipam.CursorKeeper[pool] = (*pools)(nil)
)

// Shape implements ipam.Policy. The pool itself comes from fill.
func (p *pools) Shape(b *block) (err error) {
	if space.HostBits(b.Prefix) < blockHostBitsMin {
		return fmt.Errorf("needs at least %d host bits", blockHostBitsMin)
	}
	b.Gateway, err = space.Nth(b.Prefix, podGatewayIndex)
	return err
}

// reserved are the addresses that no pod gets as long as the node holds b: network, gateway, NAT loopback and broadcast address.
func reserved(b *block) [4]netip.Addr {
	last := space.Last(b.Prefix)
	return [...]netip.Addr{b.Prefix.Addr(), b.Gateway, last.Prev(), last}
}

func reserves(b *block, addr netip.Addr) bool {
	own := reserved(b)
	return slices.Contains(own[:], addr)
}

// Admit implements ipam.Policy.
func (p *pools) Admit(b *block, _ iter.Seq[*block], _ netip.Addr) error {
	all := reserved(b)
	for _, own := range all[1:3] { // VPP uses these two itself
		for other := range p.ledger.HeldAt(own) {
			if other.Own.Holds(own) {
				return fmt.Errorf("its own address %s is held by a pod of block %s: %w", own, other.Prefix, ipam.ErrTaken)
			}
		}
	}
	return nil
}

// Pick implements ipam.Policy.
func (p *pools) Pick(now time.Time) (*block, netip.Addr, error) {
	if p.cfg.External {
		return nil, netip.Addr{}, fmt.Errorf("external IPAM named no address: %w", ipam.ErrNotInPool)
	}
	for _, b := range p.ledger.Active() {
		if addr, ok := b.Own.Allocate(now); ok {
			return b, addr, nil
		}
	}
	return nil, netip.Addr{}, ipam.ErrExhausted
}

// Take implements ipam.Policy.
func (p *pools) Take(now time.Time, b *block, addr netip.Addr) error {
	switch err := b.Own.Take(now, addr); {
	case err == nil:
		return nil
	case errors.Is(err, space.ErrHeld):
		return ipam.ErrTaken
	case errors.Is(err, space.ErrCooling):
		return fmt.Errorf("of %d addresses it cools: %w", b.Own.Capacity(), ipam.ErrExhausted)
	}
	return ipam.ErrNotInPool
}

// Restore implements ipam.Policy. A lease may be older than another block that reserves its address: a compact history tells
// draining blocks first, whatever came first. Such an address is only the other block's network or broadcast address, because
// SetBlocks refuses a block whose gateway or NAT loopback is held.
func (p *pools) Restore(b *block, addr netip.Addr) error {
	err := b.Own.Restore(addr)
	switch {
	case errors.Is(err, space.ErrHeld):
		return ipam.ErrTaken
	case errors.Is(err, space.ErrReserved) && !reserves(b, addr):
		for other := range p.ledger.HeldAt(addr) {
			if own := reserved(other); addr == own[1] || addr == own[2] {
				return fmt.Errorf("%w: %w", ipam.ErrNotInPool, err)
			}
		}
		return nil // Given sees that the pool does not hold it yet
	case err != nil:
		return fmt.Errorf("%w: %w", ipam.ErrNotInPool, err)
	}
	return nil
}

// Given implements ipam.Policy.
func (p *pools) Given(b *block, addr netip.Addr) {
	if !p.linked {
		return
	}
	if !b.Own.Holds(addr) {
		p.link()
		return
	}
	for other := range p.ledger.HeldAt(addr) {
		if other != b {
			// An error can only mean that the address is reserved there, and so not given out either.
			_ = other.Own.Restore(addr)
		}
	}
}

// Freed implements ipam.Policy.
func (p *pools) Freed(at time.Time, b *block, addr netip.Addr) {
	b.Own.Release(at, addr)
	if !p.linked {
		return
	}
	reserved := false
	for other := range p.ledger.HeldAt(addr) {
		if other != b {
			other.Own.Release(at, addr)
			reserved = reserved || reserves(other, addr)
		}
	}
	if reserved {
		p.link() // the lease was older than that block; now the address is reserved
	}
}

// Size implements ipam.Policy.
func (p *pools) Size(now time.Time, b *block) (total, free uint64) {
	return b.Own.Capacity(), b.Own.Free(now)
}

// Cursor implements ipam.CursorKeeper.
func (p *pools) Cursor(b *block) netip.Addr {
	after, _ := b.Own.Cursor()
	return after
}

// SetCursor implements ipam.CursorKeeper.
func (p *pools) SetCursor(b *block, addr netip.Addr) { b.Own.SetCursor(addr) }
