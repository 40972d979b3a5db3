package cidrset

import "slices"

// Metrics are upstream's figures of one set (node_ipam_controller_cidrset_*), counted since it was made.
type Metrics struct {
	// Allocations and Releases count blocks that became taken or free, by AllocateNext, Occupy and Release.
	Allocations, Releases uint64
	MaxCIDRs              uint64
	// Tries is how many taken blocks the last AllocateNext passed over.
	Tries uint64
	// TriesHistogram counts calls of AllocateNext by tries: up to 1, 5, 25, 125, 625, and above.
	TriesHistogram [6]uint64
}

// tryBuckets are upstream's upper bounds of the histogram of tries.
var tryBuckets = [...]uint64{1, 5, 25, 125, 625}

// Usage is the share of blocks that are taken, 0 to 1.
func (m Metrics) Usage() float64 { return float64(m.Allocations-m.Releases) / float64(m.MaxCIDRs) }

// Metrics are the set's figures now.
func (s *CIDRSet) Metrics() Metrics { return s.metrics }

func (m *Metrics) allocated(n uint64) { m.Allocations += n }

func (m *Metrics) tried(n uint64) {
	m.Tries = n
	if n <= tryBuckets[0] {
		m.TriesHistogram[0]++
		return
	}
	bucket, _ := slices.BinarySearch(tryBuckets[:], n)
	m.TriesHistogram[bucket]++
}
