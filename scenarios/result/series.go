package result

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Series is a cluster's address usage over a run, in equidistant samples.
type Series struct {
	EverySeconds float64 `json:"everySeconds"`
	// For each sample: addresses held by pods; cooling down after a release; free in nodes' blocks; and pods that wait for
	// an address. Fill is the largest share of held addresses of any node, 0 to 1.
	Held    []int64   `json:"held"`
	Resting []int64   `json:"resting"`
	Free    []int64   `json:"free"`
	Waiting []int64   `json:"waiting"`
	Fill    []float64 `json:"fill"`
}

// seriesMost limits the samples: at this number every second one is dropped and the distance doubles.
const seriesMost = 128

// seriesFirst is the distance of the first samples.
const seriesFirst = 250 * time.Millisecond

// sampler builds a run's Series from its facts.
type sampler struct {
	out   Series
	every time.Duration
	next  time.Duration
	rests map[netip.Addr]time.Duration // until when
}

func newSampler() *sampler {
	return &sampler{every: seriesFirst, rests: map[netip.Addr]time.Duration{}}
}

// observe takes the samples before a fact, then processes the fact. t has not seen it yet.
func (x *sampler) observe(t *tally, f *fact.Fact) {
	x.until(t, f.At)
	switch w := f.What.(type) {
	case fact.Released:
		if w.Rest > 0 {
			x.rests[w.Addr] = f.At + w.Rest
		}
	case fact.Leased:
		delete(x.rests, w.Addr)
	}
}

// until takes the samples before a time.
func (x *sampler) until(t *tally, at time.Duration) {
	for ; x.next < at; x.next += x.every {
		x.sample(t)
		if len(x.out.Held) == seriesMost {
			x.thin()
		}
	}
}

func (x *sampler) sample(t *tally) {
	for a, until := range x.rests { //vppdrill:unordered each by itself
		if until <= x.next {
			delete(x.rests, a)
		}
	}
	var all, held, fill float64
	for _, n := range t.nodes { //vppdrill:unordered sums, and a maximum
		all, held = all+n.holding.addresses, held+n.holding.leases
		if n.holding.addresses > 0 {
			fill = max(fill, n.holding.leases/n.holding.addresses)
		}
	}
	rest := float64(len(x.rests))
	o := &x.out
	o.Held, o.Resting, o.Free = append(o.Held, int64(held)), append(o.Resting, int64(rest)), append(o.Free,
		int64(max(0, all-held-rest)))
	o.Waiting, o.Fill = append(o.Waiting, t.lives.open), append(o.Fill, fill)
}

// thin keeps every second sample.
func (x *sampler) thin() {
	o := &x.out
	o.Held, o.Resting, o.Free, o.Waiting, o.Fill = half(o.Held), half(o.Resting), half(o.Free), half(o.Waiting), half(o.Fill)
	x.every *= 2
}

func half[T any](list []T) (out []T) {
	for i := 0; i < len(list); i += 2 {
		out = append(out, list[i])
	}
	return out
}

// series is the Series up to a time.
func (x *sampler) series(t *tally, now time.Duration) *Series {
	x.until(t, now)
	x.out.EverySeconds = x.every.Seconds()
	return &x.out
}
