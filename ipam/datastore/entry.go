package datastore

import (
	"net/netip"
	"time"
)

// state is what an address is doing. Every address is in exactly one; counts keeps score.
type state uint8

const (
	idle state = iota
	assigned
	cooling
	// aside: a damaged checkpoint entry names the address, so a pod nobody knows may use it.
	aside
	states
)

// counts is how many addresses are in each state.
type counts [states]int

func (c *counts) total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

func (c *counts) minus(d *counts) (rest counts) {
	for s := range c {
		rest[s] = c[s] - d[s]
	}
	return rest
}

// entry is one address.
type entry struct {
	addr netip.Addr
	unit *unit
	key  IPAMKey // of the pod, zero unless assigned
	// extra is what the checkpoint says about the assignment beyond what this package knows.
	extra    []Field
	released time.Time // zero when never assigned
	state    state
	at       int32 // position in the heap of idle or cooling entries
}

// unit is what EC2 hands out and takes back as one: a secondary address (/32) or a delegated prefix (/28).
type unit struct {
	prefix  netip.Prefix
	eni     *eni
	entries []*entry // ascending
	counts
}

// whole reports whether every address of u is idle.
func (u *unit) whole() bool { return u.counts[idle] == len(u.entries) }

// eni is one network interface.
type eni struct {
	id             string
	device         int
	primary, trunk bool
	created        time.Time
	units          []*unit // ascending by prefix
	idle           entryHeap
	position       uint64 // in DataStore.order
	counts
}

func compareENI(a, b *eni) int {
	switch {
	case a.device != b.device:
		return a.device - b.device
	case a.id < b.id:
		return -1
	case a.id > b.id:
		return 1
	}
	return 0
}

// entryHeap is a binary heap of entries that know their positions. before is the order.
type entryHeap struct {
	list   []*entry
	before func(a, b *entry) bool
}

func byAddress(a, b *entry) bool { return a.addr.Less(b.addr) }

func byRelease(a, b *entry) bool {
	if c := a.released.Compare(b.released); c != 0 {
		return c < 0
	}
	return a.addr.Less(b.addr)
}

func (h *entryHeap) push(e *entry) {
	h.list = append(h.list, e)
	h.up(len(h.list) - 1)
}

func (h *entryHeap) remove(e *entry) {
	i, last := int(e.at), len(h.list)-1
	moved := h.list[last]
	h.list[last] = nil
	h.list = h.list[:last]
	if i < last {
		h.put(i, moved)
		h.down(i)
		h.up(int(moved.at))
	}
}

func (h *entryHeap) put(i int, e *entry) {
	h.list[i] = e
	e.at = int32(i)
}

func (h *entryHeap) up(i int) {
	e := h.list[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(e, h.list[parent]) {
			break
		}
		h.put(i, h.list[parent])
		i = parent
	}
	h.put(i, e)
}

func (h *entryHeap) down(i int) {
	e := h.list[i]
	for {
		kid := 2*i + 1
		if kid >= len(h.list) {
			break
		}
		if right := kid + 1; right < len(h.list) && h.before(h.list[right], h.list[kid]) {
			kid = right
		}
		if !h.before(h.list[kid], e) {
			break
		}
		h.put(i, h.list[kid])
		i = kid
	}
	h.put(i, e)
}
