package cilium

import "math/bits"

// Spread is a Picker for programs that need no seed to replay: it steps through its range by the golden ratio. Of any k
// picks in a row no two are closer than 0.44/k of the range (the three-distance theorem; Knuth, The Art of Computer
// Programming, section 6.4), so a released address comes back late, where dice now and then pick it at once. Who knows
// one pick knows the next.
//
// A pick is an addition and a multiplication, a third of what math/rand/v2's costs. The zero Spread is ready. Labels do
// not matter to it, so each range should have its own.
type Spread struct{ at uint64 }

// goldenStep is 2^64 divided by the golden ratio.
const goldenStep = 0x9e3779b97f4a7c15

// Pick implements Picker.
func (s *Spread) Pick(_ string, n int) int {
	s.at += goldenStep
	hi, _ := bits.Mul64(s.at, uint64(n))
	return int(hi)
}
