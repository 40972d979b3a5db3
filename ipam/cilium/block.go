package cilium

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// block is one prefix that a Node holds.
type block struct {
	prefix netip.Prefix
	router netip.Addr
	skip   uint64 // addresses below the first that is given out
	size   uint64
	// shut is the offsets that are not to be picked: leases here and in blocks that overlap, the router's, kept ones.
	shut     *space.Bitmap
	hard     []netip.Addr // kept addresses and the router's; no pod ever holds one of them
	edges    []netip.Addr // the first and the last, where they are not given out; an older pod may hold one
	leases   int
	draining bool
	since    time.Time // became active
	drained  time.Time
}

// own yields the addresses that no pod gets as long as the block is held.
func (b *block) own() iter.Seq[netip.Addr] { return slices.Values(slices.Concat(b.edges, b.hard)) }

// next finds an offset that is not shut, from where pick says upwards and around.
func (b *block) next(pick Picker, label string) (uint64, bool) {
	if b.shut.Count() == b.size {
		return 0, false
	}
	i, ok := b.shut.NextClear(uint64(pick.Pick(label, pickWidth(b.size))))
	if !ok {
		i, ok = b.shut.NextClear(0)
	}
	return i, ok
}

func (b *block) offset(a netip.Addr) (uint64, bool) {
	i, ok := space.Index(b.prefix, a)
	if !ok || i < b.skip || i-b.skip >= b.size {
		return 0, false
	}
	return i - b.skip, true
}

func (b *block) addr(i uint64) netip.Addr {
	a, err := space.Nth(b.prefix, b.skip+i)
	if err != nil {
		panic(fmt.Sprintf("cilium: offset %d of block %s: %v", i, b.prefix, err))
	}
	return a
}

func (b *block) shutAddr(a netip.Addr) {
	if i, ok := b.offset(a); ok {
		b.shut.Set(i)
	}
}

func (b *block) openAddr(a netip.Addr) {
	if i, ok := b.offset(a); ok {
		b.shut.Clear(i)
	}
}

// capacity is how many pods the block holds when no other block takes part of it.
func (b *block) capacity() uint64 {
	n := b.size
	for at, a := range b.hard {
		if _, inside := b.offset(a); inside && !slices.Contains(b.hard[:at], a) {
			n--
		}
	}
	return n
}

func (b *block) public() ipam.Block {
	return ipam.Block{Prefix: b.prefix, Gateway: b.router, Draining: b.draining}
}
