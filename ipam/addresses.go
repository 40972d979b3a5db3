package ipam

import (
	"net/netip"
	"time"
)

// Addresses is the addresses of one block. Each is free, held, reserved or cooling; space.Pool is the usual one. Errors
// wrap space.ErrHeld, space.ErrReserved, space.ErrCooling or space.ErrOutside, and nothing has changed then. They may
// cool and have a cursor as a space.Pool does, by its methods Cool, Cools, CoolingSince and FreeAt, and Cursor and
// SetCursor.
type Addresses interface {
	// Allocate takes an address of the system's choice; false when nothing is free at now.
	Allocate(now time.Time) (netip.Addr, bool)
	// Take takes exactly a. Restore does so even when a is cooling, for what was decided before, or elsewhere.
	Take(now time.Time, a netip.Addr) error
	Restore(a netip.Addr) error
	// Release gives a back at now; false when it is not held.
	Release(now time.Time, a netip.Addr) bool
	// Reserve takes a out of what can be given, as long as the Addresses live; false when a is held or outside.
	Reserve(a netip.Addr) bool
	// Holds reports whether a is held.
	Holds(a netip.Addr) bool
	// Capacity is how many addresses can be held at once, Free how many could be given at now.
	Capacity() uint64
	Free(now time.Time) uint64
}

// coolingAddresses cool after their release.
type coolingAddresses interface {
	// Cool makes a free address cool as if it had been released at that time; false when it is not free or nothing ever
	// cools.
	Cool(at time.Time, a netip.Addr) bool
	// Cools reports whether a was cooling when the time was last looked at.
	Cools(a netip.Addr) bool
	// CoolingSince lists what cools at now with the times of release, the oldest first.
	CoolingSince(now time.Time) ([]netip.Addr, []time.Time)
	// FreeAt is when the next of them becomes free, the zero time when none cools.
	FreeAt(now time.Time) time.Time
}

// cursoredAddresses go on behind the address given last.
type cursoredAddresses interface {
	Cursor() (netip.Addr, bool)
	SetCursor(a netip.Addr)
}

// AddressBlock is a block that a BlockLedger's node holds; Own is its addresses.
type AddressBlock = HeldBlock[Addresses]

// System is what an address system decides on its own for a BlockLedger.
type System interface {
	// Gateway is the gateway of a block of that prefix, which is in normal form, or the reason why it can be no block. It
	// is invalid where a Router is picked, or pods need none.
	Gateway(prefix netip.Prefix) (netip.Addr, error)
	// Own are the addresses that no pod gets as long as the node holds b. No pod ever holds a kept one, as b's gateway; of
	// the edges, a pod of another block may hold one when b comes.
	Own(b *AddressBlock) (kept, edges []netip.Addr)
	// Fill returns b's addresses, all of them free.
	Fill(b *AddressBlock) Addresses
}

// Router is a System that picks a block's gateway when the block is new.
type Router interface {
	// Router finds an address that is free, without taking it; false when nothing is free.
	Router(a Addresses) (netip.Addr, bool)
}
