package vppwire

import (
	"encoding/binary"
)

// ident is a Key packed into 32 bytes without pointers: names are numbers of the Session's own list.
type ident struct {
	hi, lo           uint64
	name, netns, num uint32
	kind, bits       uint8
}

// entry is what a Session knows of one key: what should be, what is, and how it hangs together with others.
type entry struct {
	want, have Object
	id         ident
	// group is the index of the owning group in Session.groups, 0 for none.
	group uint32
	// refs counts entries with have that need this one and would not be owned along with it.
	refs uint32
	// firstAttr heads the list of entries that go when this one is deleted; nextAttr links it. Numbers as in Session.at.
	firstAttr, nextAttr uint32
	mark                uint32
	flags               entryFlags
}

type entryFlags uint16

const (
	flagPending    entryFlags = 1 << iota // counted in its group's pending
	flagAddQueue                          // in Session.adds
	flagDelQueue                          // in Session.dels
	flagForce                             // must be deleted although wanted: something it needs is being replaced
	flagDeaf                              // sits on a link that has gone, or needs what does: it goes whatever else is known
	flagBlocked                           // waits for its dependents to go
	flagDelayed                           // failed; waits for its time
	flagAttr                              // in its owner's attribute list
	flagLive                              // in use (not on the free list)
	flagUnverified                        // a call's outcome or VPP's life is in doubt; have is a guess until a dump
	flagBusy                              // the outstanding call is about it
)

// pageSize entries live together, so that growth copies nothing.
const pageSize = 256

// store keeps entries by number, from 1; numbers of freed entries are used again, last freed first.
type store struct {
	pages []*[pageSize]entry
	used  uint32
	free  []uint32
	byID  map[ident]uint32
}

func (st *store) at(n uint32) *entry { return &st.pages[n/pageSize][n%pageSize] }

func (st *store) find(id ident) uint32 { return st.byID[id] }

func (st *store) add(id ident) uint32 {
	var n uint32
	if k := len(st.free); k > 0 {
		n = st.free[k-1]
		st.free = st.free[:k-1]
	} else {
		st.used++
		n = st.used
		if int(n/pageSize) >= len(st.pages) {
			st.pages = append(st.pages, new([pageSize]entry))
		}
	}
	*st.at(n) = entry{id: id, flags: flagLive}
	st.byID[id] = n
	return n
}

func (st *store) remove(n uint32) {
	delete(st.byID, st.at(n).id)
	*st.at(n) = entry{}
	st.free = append(st.free, n)
}

// names numbers strings, from 1; the empty string is 0.
type names struct {
	byName map[string]uint32
	list   []string
}

func (ns *names) number(s string) uint32 {
	if s == "" {
		return 0
	}
	if n, ok := ns.byName[s]; ok {
		return n
	}
	ns.list = append(ns.list, s)
	n := uint32(len(ns.list))
	ns.byName[s] = n
	return n
}

// ident packs a key. Equal keys, and only those, have equal idents.
func (s *Session) ident(k *Key) ident {
	id := ident{kind: uint8(k.Kind), num: k.Num, name: s.names.number(k.Name), netns: s.names.number(k.Netns)}
	if k.Prefix.IsValid() {
		a := k.Prefix.Addr()
		if a.Is4() {
			b := a.As4()
			id.lo = uint64(binary.BigEndian.Uint32(b[:]))
			id.bits = uint8(k.Prefix.Bits()) + 1
		} else {
			b := a.As16()
			id.hi, id.lo = binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
			id.bits = uint8(k.Prefix.Bits()) + 64 // beyond every IPv4 length
		}
	}
	if k.MAC != (MAC{}) {
		id.lo = uint64(k.MAC[0])<<40 | uint64(k.MAC[1])<<32 | uint64(binary.BigEndian.Uint32(k.MAC[2:]))
	}
	return id
}

// queue is a first-in first-out list of entry numbers.
type queue struct {
	list []uint32
	head int
}

func (q *queue) push(n uint32) { q.list = append(q.list, n) }

func (q *queue) pop() (uint32, bool) {
	if q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
		return 0, false
	}
	n := q.list[q.head]
	q.head++
	return n, true
}
