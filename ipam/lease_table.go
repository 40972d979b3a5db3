package ipam

import "hash/maphash"

// leaseEntry is one lease. Its owner is id at a place: what owners share is kept once for all of them, so that a lease
// takes 48 bytes here, the owner's part of it included, and 5 to 11 in the table. One pointer instead of three is also
// what the garbage collector has to follow.
type leaseEntry struct {
	id string // the owner's ContainerID; empty in a free entry
	// since is Unix nanoseconds; index counts in the block's prefix. In a free entry index chains the free ones.
	since int64
	index uint64
	block uint32
	place uint32
	hash  uint32
}

const (
	// pageLen leases of 48 bytes and the 8 bytes that Go's allocator (1.22 and later) puts before objects with pointers
	// fill a 1024-byte size class.
	pageLen = 21
	noEntry = ^uint32(0)
)

// leaseTable finds leases by owner: an open-addressing table of entry numbers over pages of entries that never move.
// A Go map of these keys and values takes more than twice the memory. Its order is seen by nobody.
type leaseTable struct {
	seed   maphash.Seed
	places places
	pages  []*[pageLen]leaseEntry
	// slots hold entry number + 1 in the low bits that len(slots) needs, and in the others as many high bits of the
	// entry's hash, so that a probe looks at an entry only when it is likely the right one; 0 is an empty slot. Linear
	// probing.
	slots []uint32
	count int
	used  uint32 // entries that were ever in use
	free  uint32 // first free entry, noEntry for none
	// prefetched says nothing: it is what keeps the compiler from leaving prefetch out.
	prefetched uint32
}

// leaseKey is an owner as the table looks for it. Valid until the next add or remove.
type leaseKey struct {
	owner Owner
	place uint32 // noEntry where nobody of the owner's network and interface holds anything
	hash  uint32 // the sum where there is no place
	// at is the owner's slot, or the empty one that ends the search for it.
	at uint32
}

func newLeaseTable() leaseTable {
	return leaseTable{seed: maphash.MakeSeed(), slots: make([]uint32, 16), free: noEntry}
}

// find returns the key of an owner and its lease, nil when there is none. The lease is valid until remove.
func (t *leaseTable) find(o Owner) (leaseKey, *leaseEntry) {
	return t.findSummed(o, t.sum(o.ContainerID))
}

// findSummed is find for whoever knows the sum of the container.
func (t *leaseTable) findSummed(o Owner, sum uint32) (leaseKey, *leaseEntry) {
	place, ok := t.places.find(o.Network, o.IfName)
	if !ok {
		return leaseKey{owner: o, place: noEntry, hash: sum}, nil
	}
	hash, mask := spread(sum, place), uint32(len(t.slots)-1)
	at := hash & mask
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		if (t.slots[at]^hash)&^mask == 0 {
			if e := t.entry(t.number(t.slots[at])); e.hash == hash && e.place == place && e.id == o.ContainerID {
				return leaseKey{owner: o, place: place, hash: hash, at: at}, e
			}
		}
	}
	return leaseKey{owner: o, place: place, hash: hash, at: at}, nil
}

// sum is the part of a hash that follows from the container.
func (t *leaseTable) sum(id string) uint32 { return uint32(maphash.String(t.seed, id)) }

// spread is the hash: it tells the interfaces of one container apart by an odd factor, which is 2^32 divided by the
// golden ratio.
func spread(sum, place uint32) uint32 { return sum ^ place*0x9e3779b1 }

// owner is whose lease h is.
func (t *leaseTable) owner(h *leaseEntry) Owner {
	at := &t.places.list[h.place]
	return Owner{Network: at.network, ContainerID: h.id, IfName: at.ifName}
}

// prefetch asks the memory for the slots that owners with these sums will be looked for in, all of them at once: each
// is far from the others, and to wait for one after the other takes longer than everything else that is done for a
// lease. It takes them to be where the last owner was.
func (t *leaseTable) prefetch(sums []uint32) {
	mask, seen := uint32(len(t.slots)-1), uint32(0)
	for _, sum := range sums {
		seen |= t.slots[spread(sum, t.places.last)&mask]
	}
	t.prefetched = seen
}

// number is a slot's entry.
func (t *leaseTable) number(slot uint32) uint32 { return slot&uint32(len(t.slots)-1) - 1 }

// tag is the part of a hash that slots keep. Table positions come from its low bits.
func (t *leaseTable) tag(hash uint32) uint32 { return hash &^ uint32(len(t.slots)-1) }

func (t *leaseTable) entry(n uint32) *leaseEntry { return &t.pages[n/pageLen][n%pageLen] }

// add stores the lease of an owner that has none, whose key k is; id, place and hash of l are set here.
func (t *leaseTable) add(k leaseKey, l leaseEntry) {
	known := k.place != noEntry
	if !known {
		k.place = t.places.add(k.owner.Network, k.owner.IfName)
		k.hash = spread(k.hash, k.place)
	}
	t.places.list[k.place].owners++
	l.id, l.place, l.hash = k.owner.ContainerID, k.place, k.hash
	n := t.free
	if n != noEntry {
		t.free = uint32(t.entry(n).index)
	} else {
		n = t.used
		t.used++
		if int(n/pageLen) == len(t.pages) {
			t.pages = append(t.pages, new([pageLen]leaseEntry))
		}
	}
	t.count++
	if t.count*4 > len(t.slots)*3 {
		t.grow()
		known = false
	}
	if known {
		t.slots[k.at] = n + 1 | t.tag(k.hash)
	} else {
		t.insert(k.hash, n)
	}
	*t.entry(n) = l
}

func (t *leaseTable) insert(hash, n uint32) {
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = n + 1 | t.tag(hash)
}

func (t *leaseTable) grow() {
	// By entry and not by slot: entries lie in order, and looking at a million of them at random costs a cache miss each.
	t.slots = make([]uint32, 2*len(t.slots))
	for n := range t.used {
		if e := t.entry(n); e.id != "" {
			t.insert(e.hash, n)
		}
	}
}

// remove forgets the lease of an owner that has one, whose key k is.
func (t *leaseTable) remove(k leaseKey) {
	n := t.number(t.slots[k.at])
	*t.entry(n) = leaseEntry{index: uint64(t.free)}
	t.free = n
	t.count--
	t.closeGap(k.at)
	t.places.left(k.place)
}

// closeGap moves later entries of the probe sequence up, so that no search ends early at the emptied slot.
func (t *leaseTable) closeGap(gap uint32) {
	mask := uint32(len(t.slots) - 1)
	for at := (gap + 1) & mask; t.slots[at] != 0; at = (at + 1) & mask {
		first := t.entry(t.number(t.slots[at])).hash & mask
		if (at-first)&mask >= (at-gap)&mask {
			t.slots[gap] = t.slots[at]
			gap = at
		}
	}
	t.slots[gap] = 0
}

// each calls f for every lease in no order worth relying on.
func (t *leaseTable) each(f func(*leaseEntry)) {
	for _, s := range t.slots {
		if s != 0 {
			f(t.entry(t.number(s)))
		}
	}
}
