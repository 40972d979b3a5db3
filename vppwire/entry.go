package vppwire

import (
	"encoding/binary"
)

// ident is a Key packed without pointers: names and namespaces are numbers of the Session's list. No key has both a Num
// and a namespace.
type ident struct {
	hi, lo    uint64
	name, num uint32
	kind      Kind
	bits      uint8
}

// entry is what a Session knows of one key: what should be, what is, and how it hangs together with others. A mesh of a
// thousand nodes has ten millions of them, so one is 32 bytes without a pointer; what it is about is apart: most of
// that is the same on all nodes.
type entry struct {
	// subject is the number of its key and objects: see store.subject.
	subject uint32
	// hash is the key's.
	hash uint32
	// group is the index of the owning group in Session.groups, 0 for none.
	group uint32
	// refs counts entries with have that need this one and would not be owned along with it.
	refs uint32
	// firstAttr heads the list of entries that go when this one is deleted; nextAttr links it. Numbers as in Session.at.
	firstAttr, nextAttr uint32
	mark                uint32
	kind                Kind
	flags               entryFlags
}

// subject is a key and what is wanted or there under it, each where an entry's flag says so; a *differing where the two are
// not the same, nil for nothing.
type subject struct {
	object Object
	ident  ident
}

// differing is what should be and what is instead.
type differing struct {
	Object
	have Object
}

// item is an entry of a store.
type item struct {
	*entry
	of *store
}

// object is what the entry is about, see subject.
func (e item) object() Object { return e.of.subject(e.subject).object }

// want is what should be, nil for nothing.
func (e item) want() Object {
	if e.flags&flagWant == 0 {
		return nil
	}
	o := e.object()
	if d, ok := o.(*differing); ok {
		return d.Object
	}
	return o
}

// have is what is there, nil for nothing.
func (e item) have() Object {
	if e.flags&flagHave == 0 {
		return nil
	}
	o := e.object()
	if d, ok := o.(*differing); ok {
		return d.have
	}
	return o
}

// same reports whether what is there is what should be.
func (e item) same() bool {
	if (e.flags&flagWant == 0) != (e.flags&flagHave == 0) {
		return false
	}
	_, differ := e.object().(*differing)
	return !differ
}

// sufficient reports whether what should be can do with what is there.
func (e item) sufficient() bool {
	if e.flags&flagWant == 0 || e.flags&flagHave == 0 {
		return false
	}
	c, may := e.want().(contented)
	return may && c.suffices(e.have())
}

// set says what should be and what is, nil for nothing.
func (e item) set(want, have Object) {
	object := want
	switch {
	case want == nil:
		object = have
	case have != nil && have != want:
		object = &differing{want, have}
	}
	e.of.hold(e.entry, object)
	e.flags &^= flagWant | flagHave
	if want != nil {
		e.flags |= flagWant
	}
	if have != nil {
		e.flags |= flagHave
	}
}

// id is the entry's packed key.
func (e item) id() ident { return e.of.subject(e.subject).ident }

type entryFlags uint16

const (
	flagPending  entryFlags = 1 << iota // counted in its group's pending
	flagAddQueue                        // in Session.adds
	flagDelQueue                        // in Session.dels
	flagForce                           // must be deleted although wanted: something it needs is being replaced
	// sits on a link that has gone, or needs what does: it goes whatever else is known
	flagDeaf
	flagBlocked    // waits for its dependents to go
	flagDelayed    // failed; waits for its time
	flagAttr       // in its owner's attribute list
	flagLive       // in use (not on the free list)
	flagUnverified // a call's outcome or VPP's life is in doubt; have is a guess until a dump
	flagBusy       // the outstanding call is about it
	flagWant       // something should be: see entry.want
	flagHave       // something is: see entry.have
)

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
	id := ident{kind: k.Kind, num: k.Num, name: s.names.number(k.Name)}
	if k.Netns != "" {
		id.num = s.names.number(k.Netns)
	}
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

// queueKept is how long an empty queue's memory may be: a node that joins a thousand others queues ten thousand
// entries, once.
const queueKept = 1024

// queue is a first-in first-out list of entry numbers.
type queue struct {
	list []uint32
	head int
}

func (q *queue) push(n uint32) { q.list = append(q.list, n) }

func (q *queue) pop() (uint32, bool) {
	if q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
		if cap(q.list) > queueKept {
			q.list = nil
		}
		return 0, false
	}
	n := q.list[q.head]
	q.head++
	return n, true
}
