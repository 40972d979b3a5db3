package ipam

import (
	"iter"
	"net/netip"
	"time"
)

// HeldBlock is a block that a Ledger's node holds. T is what the policy keeps with each block.
type HeldBlock[T any] struct {
	// Prefix is in normal form.
	Prefix netip.Prefix
	// Gateway is what pods on this block use as gateway. The policy sets it in Shape or Admit, and never later.
	Gateway netip.Addr
	Own     T

	id             uint32 // position in Ledger.byID, noEntry while the block is not held
	leases         int
	draining       bool
	since, drained time.Time // became active, began to drain
}

// Leases is how many leases were picked from the block.
func (b *HeldBlock[T]) Leases() int { return b.leases }

// Draining blocks keep their leases and give out no more.
func (b *HeldBlock[T]) Draining() bool { return b.draining }

// Policy is what each address system decides on its own for a Ledger: which address is picked, and what a block keeps
// back. It knows every address of its blocks as free, held, reserved or cooling. Addresses are in normal form.
type Policy[T any] interface {
	// Shape makes a block of b.Prefix, or says why it can be none.
	Shape(b *HeldBlock[T]) error
	// Admit settles a block that is not held yet among those that stay. It refuses a block whose own addresses are held,
	// and has changed nothing but b then. Recorded is the gateway that a record names, invalid for a block that is new.
	Admit(b *HeldBlock[T], stay iter.Seq[*HeldBlock[T]], recorded netip.Addr) error
	// Added says that b is held from now on, Dropped that b, which has no leases, is held no more.
	Added(b *HeldBlock[T])
	Dropped(b *HeldBlock[T])
	// Arranged says that the active blocks are others, or in another order, from this position on.
	Arranged(from int)

	// Pick takes an address of an active block; there is one. The error wraps ErrExhausted or ErrNotInPool.
	Pick(now time.Time) (*HeldBlock[T], netip.Addr, error)
	// Take takes exactly addr of an active block. The error wraps ErrTaken, ErrNotInPool or ErrCooling.
	Take(now time.Time, b *HeldBlock[T], addr netip.Addr) error
	// Restore takes addr of b for a recorded lease, in whatever order. The error wraps ErrTaken or ErrNotInPool.
	Restore(b *HeldBlock[T], addr netip.Addr) error
	// Given says that addr, which was taken from b, is leased; Freed that it is leased no more.
	Given(b *HeldBlock[T], addr netip.Addr)
	Freed(at time.Time, b *HeldBlock[T], addr netip.Addr)
	// Size is how many leases b can have in all and how many more it could give now.
	Size(now time.Time, b *HeldBlock[T]) (total, free uint64)
}

// PoolPicker is a Policy whose blocks are of named pools: an owner gets an address of the pool that it wants and of no
// other.
type PoolPicker[T any] interface {
	// PickOf is Pick in the active blocks of a pool; without any the error wraps ErrExhausted.
	PickOf(now time.Time, pool string) (*HeldBlock[T], netip.Addr, error)
}

// Cooler is a Policy whose released addresses cool before they are given out again.
type Cooler interface {
	// Cool says that addr was released at that time, when it was picked from block; block need not be held any more. An
	// address that is held is ErrTaken.
	Cool(at time.Time, addr netip.Addr, block netip.Prefix) error
	// Cooling lists what cools at now, in an order that follows from it alone.
	Cooling(now time.Time) []CoolingAddr
	// FreeAt is when an active block gets its next cooling address back, the zero time for never.
	FreeAt(now time.Time) time.Time
}

// CoolingAddr is a cooling address with the block that it was picked from and the time of its release.
type CoolingAddr struct {
	Addr  netip.Addr
	Block netip.Prefix
	At    time.Time
}

// CursorKeeper is a Policy whose picks in a block go on behind the address picked last.
type CursorKeeper[T any] interface {
	// Cursor is where the next pick starts behind, invalid for the block's first address.
	Cursor(b *HeldBlock[T]) netip.Addr
	SetCursor(b *HeldBlock[T], addr netip.Addr)
}
