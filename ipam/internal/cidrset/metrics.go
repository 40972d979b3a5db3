package cidrset

// Metrics are upstream's figures of one set (node_ipam_controller_cidrset_*), counted since it was made.
type Metrics struct {
	// Allocations and Releases count blocks that became taken or free, by AllocateNext, Occupy and Release.
	Allocations, Releases uint64
	MaxCIDRs              uint64
	// Tries is how many taken blocks the last AllocateNext passed over.
	Tries uint64
	// TriesHistogram counts calls of AllocateNext by tries: up to 1, 5, 25, 125, 625, and above.
	TriesHistogram [6]uint64
	// TriesSum is all tries together.
	TriesSum uint64
}

// Usage is the share of blocks that are taken, 0 to 1.
func (m Metrics) Usage() float64 { return float64(m.Allocations-m.Releases) / float64(m.MaxCIDRs) }

// Metrics are the set's figures now.
func (s *CIDRSet) Metrics() Metrics {
	m := Metrics{Allocations: s.tally.occupied, MaxCIDRs: s.taken.Size(), Tries: s.tally.tries, TriesHistogram: s.tally.histogram, TriesSum: s.tally.sum}
	for _, n := range m.TriesHistogram {
		m.Allocations += n
	}
	m.Releases = m.Allocations - s.taken.Count()
	return m
}

// tally is what Metrics cannot work out from the set itself; an allocation and a release pay for no more.
type tally struct {
	occupied  uint64 // blocks that became taken by other ways than AllocateNext
	tries     uint64
	sum       uint64
	histogram [6]uint64
}

// tried notes an AllocateNext.
func (t *tally) tried(n uint64) {
	t.tries = n
	t.sum += n
	t.histogram[bucket(n)]++
}

// bucket is upstream's bucket of the histogram for so many tries.
func bucket(n uint64) int {
	switch {
	case n <= 1:
		return 0
	case n <= 5:
		return 1
	case n <= 25:
		return 2
	case n <= 125:
		return 3
	case n <= 625:
		return 4
	}
	return 5
}
