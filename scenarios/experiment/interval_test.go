package experiment

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Goal: Wilson's interval is the one of the literature. Method: values by hand of Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
func TestWilson(t *testing.T) {
	for _, c := range [...]struct {
		hits, n   int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		low, high := Wilson(c.hits, c.n, Z95)
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.hits, c.n, low, high, c.low, c.high)
		}
	}
	if z := zOf(0.95); math.Abs(z-Z95) > 1e-9 {
		t.Error(z)
	}
}

// Goal: intervals of 95 % hold the mean about that often. Method: 400 samples of 20 values of an exponential distribution, which is
// skewed as waits are: percentile bootstraps of it are known to fall a few percent short.
func TestBootstrapCovers(t *testing.T) {
	rng, held := rand.New(rand.NewPCG(1, 2)), 0
	for range 400 {
		values := make([]float64, 20)
		for i := range values {
			values[i] = rng.ExpFloat64()
		}
		if low, high := bootstrap(values); low <= 1 && 1 <= high {
			held++
		}
	}
	if held < 400*86/100 || held > 400*98/100 {
		t.Errorf("held in %d of 400", held)
	}
}

// Goal: the test of differences gives what counting gives. Method: five pairs of one sign are the most extreme 2 of 32; of pairs that
// cancel out everything is as extreme; many pairs agree with few to two digits.
func TestSigns(t *testing.T) {
	if p := signTest([]float64{1, 2, 3, 4, 5}); p != 2.0/32 {
		t.Error(p)
	}
	if p := signTest([]float64{1, -1}); p != 1 {
		t.Error(p)
	}
	exactly := signTest([]float64{3, 1, 2, -1, 2, 1, -2, 3, 1, 1, 2})
	sampled := signTest([]float64{3, 1, 2, -1, 2, 1, -2, 3, 1, 1, 2, 0}) // one more that changes nothing
	if math.Abs(exactly-sampled) > 0.02 {
		t.Errorf("%f exactly, %f by samples", exactly, sampled)
	}
}
