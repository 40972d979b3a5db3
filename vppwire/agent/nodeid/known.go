package nodeid

import "iter"

// Known is what the Machines of one process know alike and keep once: what the texts of present records say, and the
// names and UIDs of all nodes there ever were, by number. A cluster of a thousand nodes has a million records and Node
// objects to be known. It is not safe for concurrent use.
type Known struct {
	readings map[string]*reading
	numbers  map[string]uint32
	names    []string
}

// NewKnown returns one that keeps nothing yet.
func NewKnown() *Known { return &Known{readings: map[string]*reading{}, numbers: map[string]uint32{}} }

// reading is the text of a record and what it says. It is never changed but for uses, how many entries it is of.
type reading struct {
	uses      int
	value     string
	name, uid string
	record    Record
	err       error
}

// unread is the text of no record.
var unread = &reading{}

// read is what a text says, for one more entry; a text that is read already is not parsed again.
func (k *Known) read(value string) *reading {
	r, ok := k.readings[value]
	if !ok {
		r = &reading{value: value}
		if r.record, r.err = ParseRecord(value); r.err == nil {
			r.name, r.uid = r.record.Name, r.record.UID
		}
		k.readings[value] = r
	}
	r.uses++
	return r
}

// unused is for an entry whose text is another one now.
func (k *Known) unused(r *reading) {
	if r == unread {
		return
	}
	if r.uses--; r.uses == 0 {
		delete(k.readings, r.value)
	}
}

// number is that of a name or a UID, from 1.
func (k *Known) number(name string) uint32 {
	n, ok := k.numbers[name]
	if !ok {
		k.names = append(k.names, name)
		n = uint32(len(k.names))
		k.numbers[name] = n
	}
	return n
}

// name is what has a number.
func (k *Known) name(n uint32) string { return k.names[n-1] }

// nodes are Node objects by the number of their name.
type nodes struct {
	known *Known
	list  []member
}

// member is a Node object as last told; without a pointer, as there is one of each node on each node.
type member struct {
	// uid is the number of its UID, 0 where there is no such node.
	uid   uint32
	round uint32
	// seen is when it was told, in nanoseconds since 1970.
	seen int64
}

// of is the node of a name and its UID; false where there is none.
func (ns *nodes) of(name string) (n member, uid string, ok bool) {
	if at := ns.known.numbers[name]; at != 0 && at <= uint32(len(ns.list)) {
		n = ns.list[at-1]
	}
	if n.uid == 0 {
		return member{}, "", false
	}
	return n, ns.known.name(n.uid), true
}

func (ns *nodes) set(name string, n member) {
	at := ns.known.number(name)
	for at > uint32(len(ns.list)) {
		ns.list = append(ns.list, member{})
	}
	ns.list[at-1] = n
}

// all yields the names of nodes and the nodes, in the order in which anybody first heard of them.
func (ns *nodes) all() iter.Seq2[string, member] {
	return func(yield func(string, member) bool) {
		for i, n := range ns.list {
			if n.uid != 0 && !yield(ns.known.names[i], n) {
				return
			}
		}
	}
}
