package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Estimate is a figure over the seeds of one point.
type Estimate struct {
	Metric string `json:"metric"`
	// Runs is how many runs have the figure.
	Runs int     `json:"runs"`
	Mean float64 `json:"mean"`
	// Low and High are the interval of the mean at 95 %: of a figure that is 0 or 1 Wilson's, of others by bootstrap.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// P10, P50 and P90 are quantiles over the seeds.
	P10 float64 `json:"p10"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	// Method is wilson or bootstrap; Few says that there are too few seeds for what is said.
	Method string `json:"method"`
	Few    bool   `json:"tooFewSeeds"`
}

// fewSeeds is how many an interval wants at least: a bootstrap of fewer values has too few different samples to speak of 95 %.
const fewSeeds = 8

// Z95 is the normal distribution's quantile of a two-sided interval of 95 %.
const Z95 = 1.959963984540054

// resamples of a bootstrap, and of a test by permutations.
const resamples = 2000

// estimate is a figure's, of values in the order of their seeds. The same values give the same estimate.
func estimate(metric string, values []float64) Estimate {
	e := Estimate{Metric: metric, Runs: len(values), Few: len(values) < fewSeeds}
	if len(values) == 0 {
		return e
	}
	sorted := slices.Sorted(slices.Values(values))
	e.Mean, e.P10, e.P50, e.P90 = mean(values), quantile(sorted, 0.1), quantile(sorted, 0.5), quantile(sorted, 0.9)
	if metric == "failed" {
		e.Method = "wilson"
		e.Low, e.High = Wilson(int(math.Round(e.Mean*float64(len(values)))), len(values), Z95)
		return e
	}
	e.Method = "bootstrap"
	e.Low, e.High = bootstrap(values)
	return e
}

// bootstrap is the percentile interval of the mean at 95 %.
func bootstrap(values []float64) (low, high float64) {
	rng := rand.New(rand.NewPCG(uint64(len(values)), resamples))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[rng.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	return quantile(means, 0.025), quantile(means, 0.975)
}

// Wilson is the score interval of a share: hits of n, with z the quantile of the normal distribution (Wilson 1927).
func Wilson(hits, n int, z float64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	p, m := float64(hits)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	low, high = max(0, middle-half), min(1, middle+half)
	if hits == 0 {
		low = 0 // exactly, which the arithmetic above misses by rounding
	}
	if hits == n {
		high = 1
	}
	return low, high
}

// zOf is the normal distribution's quantile of a two-sided interval.
func zOf(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }

// Difference is how one arm's figure differs from the first arm's at the same settings.
type Difference struct {
	Metric string `json:"metric"`
	Arm    string `json:"arm"`
	// Pairs are the seeds that both have. Mean is the arm's less the first one's, Low and High its bootstrap interval at 95 %.
	Pairs int     `json:"pairs"`
	Mean  float64 `json:"mean"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// P is how often a difference at least as large comes by chance: a two-sided test that turns the signs of pairs round.
	P   float64 `json:"p"`
	Few bool    `json:"tooFewSeeds"`
}

// differ compares pairs of the same seed.
func differ(metric, arm string, first, other []float64) Difference {
	d := Difference{Metric: metric, Arm: arm, Pairs: len(first), P: 1, Few: len(first) < fewSeeds}
	if len(first) == 0 {
		return d
	}
	diffs := make([]float64, len(first))
	for i := range first {
		diffs[i] = other[i] - first[i]
	}
	d.Mean = mean(diffs)
	d.Low, d.High = bootstrap(diffs)
	d.P = signTest(diffs)
	return d
}

// exactPairs is up to how many pairs all signs are tried.
const exactPairs = 11

// signTest is the share of the ways to turn signs round that give a sum at least as far from 0.
func signTest(diffs []float64) float64 {
	is, n := math.Abs(sum(diffs, nil)), len(diffs)
	const slack = 1e-12
	if n <= exactPairs {
		hits := 0
		for mask := range 1 << n {
			if math.Abs(sum(diffs, func(i int) bool { return mask>>i&1 == 1 })) >= is-slack {
				hits++
			}
		}
		return float64(hits) / float64(int(1)<<n)
	}
	rng, hits := rand.New(rand.NewPCG(uint64(n), resamples)), 1
	for range resamples {
		bits := make([]bool, n)
		for i := range bits {
			bits[i] = rng.Uint64()&1 == 1
		}
		if math.Abs(sum(diffs, func(i int) bool { return bits[i] })) >= is-slack {
			hits++
		}
	}
	return float64(hits) / (resamples + 1)
}

func sum(list []float64, turned func(int) bool) (s float64) {
	for i, x := range list {
		if turned != nil && turned(i) {
			x = -x
		}
		s += x
	}
	return s
}
