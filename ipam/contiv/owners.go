package contiv

import (
	"hash/maphash"

	"github.com/vppdrill/vppdrill/ipam"
)

// held is one lease. Beyond its key it costs 24 bytes here and 5 to 11 in the table.
type held struct {
	owner ipam.Owner
	// since is Unix nanoseconds; index counts in the block's prefix. In a vacant entry index chains the vacant ones.
	since int64
	index uint64
	block uint32
	hash  uint32
}

const (
	// pageLen leases of 72 bytes and the 8 bytes that Go's allocator (1.22 and later) puts before objects with pointers fill
	// a 1024-byte size class; 32 would waste a seventh.
	pageLen = 14
	noEntry = ^uint32(0)
)

// owners finds leases by owner: an open-addressing table of entry numbers over pages of entries that never move.
// A Go map of these keys and values takes about twice the memory. Its order is seen by nobody.
type owners struct {
	seed  maphash.Seed
	pages []*[pageLen]held
	// slots hold entry number + 1 in the low bits that len(slots) needs, and in the others as many high bits of the entry's
	// hash, so that a probe looks at an entry only when it is likely the right one; 0 is an empty slot. Linear probing.
	slots  []uint32
	count  int
	used   uint32 // entries that were ever in use
	vacant uint32 // first vacant entry, noEntry for none
}

func newOwners() owners {
	return owners{seed: maphash.MakeSeed(), slots: make([]uint32, 16), vacant: noEntry}
}

// number is a slot's entry.
func (t *owners) number(slot uint32) uint32 { return slot&uint32(len(t.slots)-1) - 1 }

// tag is the part of a hash that slots keep. Table positions come from its low bits.
func (t *owners) tag(hash uint32) uint32 { return hash &^ uint32(len(t.slots)-1) }

func (t *owners) entry(n uint32) *held { return &t.pages[n/pageLen][n%pageLen] }

func (t *owners) hash(o ipam.Owner) uint32 { return uint32(maphash.Comparable(t.seed, o)) }

// find returns the lease of o, nil when there is none. The pointer is valid until remove.
func (t *owners) find(o ipam.Owner) *held { return t.findHashed(o, t.hash(o)) }

func (t *owners) findHashed(o ipam.Owner, hash uint32) *held {
	mask := uint32(len(t.slots) - 1)
	for at := hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if (t.slots[at]^hash)&^mask == 0 {
			if e := t.entry(t.number(t.slots[at])); e.hash == hash && e.owner == o {
				return e
			}
		}
	}
	return nil
}

// add stores the lease of an owner that has none; its hash is the owner's.
func (t *owners) add(l held) {
	if (t.count+1)*4 > len(t.slots)*3 {
		t.grow()
	}
	n := t.vacant
	if n != noEntry {
		t.vacant = uint32(t.entry(n).index)
	} else {
		n = t.used
		t.used++
		if int(n/pageLen) == len(t.pages) {
			t.pages = append(t.pages, new([pageLen]held))
		}
	}
	*t.entry(n) = l
	t.insert(l.hash, n)
	t.count++
}

func (t *owners) insert(hash, n uint32) {
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = n + 1 | t.tag(hash)
}

func (t *owners) grow() {
	// By entry and not by slot: entries lie in order, and looking at a million of them at random costs a cache miss each.
	t.slots = make([]uint32, 2*len(t.slots))
	for n := range t.used {
		if e := t.entry(n); e.owner != (ipam.Owner{}) {
			t.insert(e.hash, n)
		}
	}
}

// remove forgets the lease of o and returns what it was.
func (t *owners) remove(o ipam.Owner) (held, bool) {
	hash, mask := t.hash(o), uint32(len(t.slots)-1)
	at := hash & mask
	for ; ; at = (at + 1) & mask {
		if t.slots[at] == 0 {
			return held{}, false
		}
		if (t.slots[at]^hash)&^mask == 0 {
			if e := t.entry(t.number(t.slots[at])); e.hash == hash && e.owner == o {
				break
			}
		}
	}
	n := t.number(t.slots[at])
	e := t.entry(n)
	was := *e
	*e = held{index: uint64(t.vacant)}
	t.vacant = n
	t.count--
	t.closeGap(at)
	return was, true
}

// closeGap moves later entries of the probe sequence up, so that no search ends early at the emptied slot.
func (t *owners) closeGap(gap uint32) {
	mask := uint32(len(t.slots) - 1)
	for at := (gap + 1) & mask; t.slots[at] != 0; at = (at + 1) & mask {
		home := t.entry(t.number(t.slots[at])).hash & mask
		if (at-home)&mask >= (at-gap)&mask {
			t.slots[gap] = t.slots[at]
			gap = at
		}
	}
	t.slots[gap] = 0
}

// each calls f for every lease in no order worth relying on.
func (t *owners) each(f func(*held)) {
	for _, s := range t.slots {
		if s != 0 {
			f(t.entry(t.number(s)))
		}
	}
}
