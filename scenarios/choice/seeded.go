package choice

import (
	"fmt"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Chooser makes every free decision of a run.
type Chooser interface {
	// Pick returns a number in [0, n). n must be at least 1; n of 1 always yields 0. The label names the decision for
	// people and for replay; it is a constant of the calling code with, where it matters, the entity's name.
	Pick(label string, n int) int
}

// Seeded returns a Chooser that draws from seed. Each label has a stream of its own, so a decision that is added, removed
// or drawn more often shifts no decision with another label.
//
// A draw is one step of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014) scaled by
// a multiplication; it takes constant time, and its bias of at most n/2^64 is far below what a run can show.
func Seeded(seed uint64) Chooser {
	return &seeded{seed: seed, streams: make(map[string]*uint64)}
}

type seeded struct {
	seed    uint64
	streams map[string]*uint64
}

func (s *seeded) Pick(label string, n int) int {
	if n <= 1 {
		MustWidth(label, n)
		return 0
	}
	state := s.streams[label]
	if state == nil {
		state = s.open(label)
	}
	hi, _ := bits.Mul64(splitmix(state), uint64(n))
	return int(hi)
}

func (s *seeded) open(label string) *uint64 {
	state := new(uint64)
	*state = xxh3.HashStringSeed(label, s.seed)
	s.streams[label] = state
	return state
}

func splitmix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// MustWidth panics for a decision between no alternatives: a broken caller.
func MustWidth(label string, n int) {
	if n < 1 {
		panic(fmt.Sprintf("choice: decision %q is between %d alternatives", label, n))
	}
}
