package collide

import (
	"crypto/sha1" // #nosec: Calico names its interfaces by it
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// choice is how a cluster gives something out that is to be different, without asking anybody.
type choice struct {
	name, what string
	// size is of how many it is one.
	size float64
	// draw makes the i-th of a trial.
	draw func(rng *rand.Rand, trial, i int) uint64
}

// suffixLetters is how many letters Kubernetes' generateName takes its five of (k8s.io/apimachinery util/rand).
const suffixLetters = 27

// choices are drawn as real clusters draw them: hashes of names, or random numbers.
var choices = []choice{
	{"mac-32", "MACs of 32 bits of a hash of the pod's name, as Contiv's", 1 << 32, func(_ *rand.Rand, trial, i int) uint64 {
		h := fnv.New32a()
		_, _ = fmt.Fprintf(h, "default/web-%d-%d", trial, i) // a hash takes everything
		return uint64(h.Sum32())
	}},
	{"mac-46", "random MACs, locally administered, as bridges and runtimes make them", 1 << 46, random(1 << 46)},
	{"vni", "VXLAN network identifiers at random", 1 << 24, random(1 << 24)},
	{"suffix", "five-letter suffixes of pods' names of one ReplicaSet", suffixLetters * suffixLetters * suffixLetters * suffixLetters * suffixLetters,
		random(suffixLetters * suffixLetters * suffixLetters * suffixLetters * suffixLetters)},
	{"veth-44", "host interfaces named by 44 bits of a SHA-1 of the pod's name, as Calico's", 1 << 44, func(_ *rand.Rand, trial, i int) uint64 {
		sum := sha1.Sum(fmt.Appendf(nil, "default.web-%d-%d", trial, i)) // #nosec: see above
		return binary.BigEndian.Uint64(sum[:8]) >> 20
	}},
	{"random-16", "addresses at random of a /16, unasked", 1<<16 - 2, random(1<<16 - 2)},
}

func random(size uint64) func(*rand.Rand, int, int) uint64 {
	return func(rng *rand.Rand, _, _ int) uint64 { return rng.Uint64N(size) }
}

// birthday is how likely any two of n are the same of size (von Mises 1939), without loss of the small ones.
func birthday(n int, size float64) float64 {
	if float64(n) > size {
		return 1
	}
	log := 0.0
	for i := 1; i < n; i++ {
		log += math.Log1p(-float64(i) / size)
	}
	return -math.Expm1(log)
}

// race is how likely two of n that come at any time of a window come within latency of each other, and so do not see one another when
// they read before they write and nothing compares: 1-(1-(n-1)d)^n with d the latency's share of the window.
func race(n int, latency, window float64) float64 {
	d := latency / window
	if left := 1 - float64(n-1)*d; left > 0 {
		return -math.Expm1(float64(n) * math.Log(left))
	}
	return 1
}

// safe is the largest n up to most at which likely is at most p.
func safe(p float64, most int, likely func(n int) float64) int {
	low, high := 1, 2
	for high < most && likely(high) <= p {
		low, high = high, high*2
	}
	high = min(high, most+1)
	for high-low > 1 {
		if middle := (low + high) / 2; likely(middle) <= p {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
