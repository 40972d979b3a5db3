package vppwire

// pageSize entries live together, so that growth copies nothing.
const pageSize = 256

// store keeps entries by number, from 1; numbers of freed entries are used again, last freed first.
type store struct {
	pages []*[pageSize]entry
	used  uint32
	free  []uint32
	// own are the subjects of this store alone, from 1; freeSubjects are those of no entry. alike has those that other
	// stores have as well, nil for a store that is alone: their numbers have alikeSubject.
	own          []subject
	freeSubjects []uint32
	alike        *ObjectSet
	// slots is a hash table of entry numbers with linear probing, 0 for none: the keys are in the entries, where a Go map
	// would hold them again. A power of two long, at most three quarters full.
	slots []uint32
}

func (st *store) at(n uint32) item { return item{st.entry(n), st} }

func (st *store) entry(n uint32) *entry { return &st.pages[n/pageSize][n%pageSize] }

const alikeSubject = 1 << 31

// subject is valid until the next one is made.
func (st *store) subject(n uint32) *subject {
	if n&alikeSubject != 0 {
		return &st.alike.subjects[n&^alikeSubject]
	}
	return &st.own[n]
}

func (st *store) newSubject(r subject) uint32 {
	if k := len(st.freeSubjects); k > 0 {
		n := st.freeSubjects[k-1]
		st.freeSubjects = st.freeSubjects[:k-1]
		st.own[n] = r
		return n
	}
	if len(st.own) == 0 {
		st.own = make([]subject, 1, 16)
	}
	st.own = append(st.own, r)
	return uint32(len(st.own) - 1)
}

func (st *store) freeSubject(n uint32) {
	if n&alikeSubject == 0 {
		st.own[n] = subject{}
		st.freeSubjects = append(st.freeSubjects, n)
	}
}

// hold makes an object that of an entry, nil for none.
func (st *store) hold(e *entry, o Object) {
	r := st.subject(e.subject)
	switch {
	case e.subject&alikeSubject == 0:
		r.object = o
	case r.object != o:
		e.subject = st.newSubject(subject{o, r.ident})
	}
}

// holdAlike has an entry be about what other stores are about as well; key and object are the same as before.
func (st *store) holdAlike(e *entry, n uint32) {
	if e.subject != n {
		st.freeSubject(e.subject)
		e.subject = n
	}
}

// find returns the number of the entry with that key, 0 for none.
func (st *store) find(id ident) uint32 {
	if len(st.slots) == 0 {
		return 0
	}
	return st.slots[st.slot(id, id.hash())]
}

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
	hash := id.hash()
	*st.entry(n) = entry{subject: st.newSubject(subject{ident: id}), hash: hash, kind: id.kind, flags: flagLive}
	if used := int(st.used) - len(st.free); used*4 > len(st.slots)*3 {
		st.grow()
	} else {
		st.slots[st.slot(id, hash)] = n
	}
	return n
}

func (st *store) remove(n uint32) {
	mask := uint32(len(st.slots) - 1)
	gone := st.at(n)
	empty := st.slot(gone.id(), gone.hash)
	st.slots[empty] = 0
	// whoever stood behind it moves up, or it would not be found
	for i := (empty + 1) & mask; st.slots[i] != 0; i = (i + 1) & mask {
		if home := st.entry(st.slots[i]).hash & mask; (i-home)&mask >= (i-empty)&mask {
			st.slots[empty], st.slots[i] = st.slots[i], 0
			empty = i
		}
	}
	st.freeSubject(gone.subject)
	*gone.entry = entry{}
	st.free = append(st.free, n)
}

// slot is where id stands, or the free slot where it would.
func (st *store) slot(id ident, hash uint32) uint32 {
	mask := uint32(len(st.slots) - 1)
	i := hash & mask
	for st.slots[i] != 0 {
		if e := st.entry(st.slots[i]); e.hash == hash && st.subject(e.subject).ident == id {
			break
		}
		i = (i + 1) & mask
	}
	return i
}

// grow makes twice as many slots and puts every live entry into one.
func (st *store) grow() {
	st.slots = make([]uint32, max(16, 2*len(st.slots)))
	for n := uint32(1); n <= st.used; n++ {
		if e := st.at(n); e.flags&flagLive != 0 {
			st.slots[st.slot(e.id(), e.hash)] = n
		}
	}
}

// hash spreads keys over slots: neighbors differ in few bits of an address or in the number of a name. The factors are
// odd numbers without a pattern (2^64 divided by the golden ratio, and two constants of SplitMix64).
func (id ident) hash() uint32 {
	h := id.lo * 0x9e3779b97f4a7c15
	h = (h ^ h>>29 ^ id.hi) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>32 ^ uint64(id.name)<<32 ^ uint64(id.num)) * 0x94d049bb133111eb
	h = (h ^ h>>31 ^ uint64(id.kind)<<8 ^ uint64(id.bits)) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}
