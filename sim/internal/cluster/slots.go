package cluster

import (
	"math/bits"
	"slices"
	"strings"
)

// slots finds the emptiest node. Nodes are kept in buckets by their number of pods that stay; a bucket is a set of bits
// in name order, so that the first bit of the first bucket is the answer, less the bits of nodes that a pod must avoid.
// A pick looks at one bit per node of the lowest bucket, sixty-four at a time.
type slots struct {
	limit   int // pods per node
	nodes   []*slot
	byName  map[string]*slot
	buckets []bitset
	lowest  int // no bucket below it has a bit
	stale   bool
	joined  int // grows with each renumbering
}

// slot is one node as the scheduler sees it.
type slot struct {
	name  string
	index int
	// pods count against the limit; going of them are being deleted and do not count when the emptiest node is looked for.
	pods, going int
	// usable nodes exist, are ready and not cordoned.
	usable bool
	known  bool
}

type bitset []uint64

func (b bitset) set(i int)   { b[i/64] |= 1 << (i % 64) }
func (b bitset) clear(i int) { b[i/64] &^= 1 << (i % 64) }

// firstWithout is the lowest bit of b that is not in avoid, which may be nil; -1 without any.
func (b bitset) firstWithout(avoid bitset) int {
	for i, word := range b {
		if avoid != nil {
			word &^= avoid[i]
		}
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// newSlots starts stale: the buckets are made by the first fresh.
func newSlots(limit int) *slots {
	return &slots{limit: limit, byName: make(map[string]*slot), stale: true}
}

// slot returns a node's entry, which it creates at first: pods may be bound to a node that is not known yet.
func (s *slots) slot(name string) *slot {
	n := s.byName[name]
	if n == nil {
		n = &slot{name: name, index: -1}
		s.byName[name] = n
		s.nodes = append(s.nodes, n)
		s.stale = true
	}
	return n
}

// forget drops a node that does not exist and has no pods.
func (s *slots) forget(n *slot) {
	if !n.known && n.pods == 0 {
		delete(s.byName, n.name)
		s.nodes = slices.DeleteFunc(s.nodes, func(o *slot) bool { return o == n })
		s.stale = true
	}
}

func (s *slots) setUsable(n *slot, usable bool) {
	s.leave(n)
	n.usable = usable
	s.enter(n)
}

// mark changes a node's number of pods that are being deleted by d.
func (s *slots) mark(n *slot, d int) {
	s.leave(n)
	n.going += d
	s.enter(n)
}

// add changes a node's number of pods by d.
func (s *slots) add(n *slot, d int) {
	s.leave(n)
	n.pods += d
	s.enter(n)
}

func (s *slots) leave(n *slot) {
	if !s.stale && n.usable && n.pods < s.limit {
		s.buckets[n.pods-n.going].clear(n.index)
	}
}

func (s *slots) enter(n *slot) {
	if !s.stale && n.usable && n.pods < s.limit {
		s.buckets[n.pods-n.going].set(n.index)
		s.lowest = min(s.lowest, n.pods-n.going)
	}
}

// fresh renumbers the nodes after joins and departures.
func (s *slots) fresh() {
	if !s.stale {
		return
	}
	s.stale = false
	s.joined++
	s.lowest = 0
	slices.SortFunc(s.nodes, func(a, b *slot) int { return strings.Compare(a.name, b.name) })
	words := s.words()
	bitsOf := make(bitset, words*s.limit)
	s.buckets = make([]bitset, s.limit)
	for i := range s.buckets {
		s.buckets[i] = bitsOf[i*words : (i+1)*words]
	}
	for i, n := range s.nodes {
		n.index = i
		s.enter(n)
	}
}

func (s *slots) words() int { return (len(s.nodes) + 63) / 64 }

// pick is the usable node with the fewest pods that stay outside avoid, the first by name among equals; nil without
// one. The slots must be fresh, and avoid in their numbering.
func (s *slots) pick(avoid bitset) *slot {
	empty := true
	for pods := s.lowest; pods < s.limit; pods++ {
		if i := s.buckets[pods].firstWithout(avoid); i >= 0 {
			if empty {
				s.lowest = pods
			}
			return s.nodes[i]
		}
		if empty && s.buckets[pods].firstWithout(nil) >= 0 {
			s.lowest, empty = pods, false
		}
	}
	if empty {
		s.lowest = s.limit
	}
	return nil
}
