package reports

import (
	"math"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// stretch is a stretch of virtual time that a chart's width stands for.
type stretch struct{ From, Until float64 }

// Share is where a time stands in the span, 0 at its start and 1 at its end.
func (s stretch) Share(at float64) float64 {
	if s.Until <= s.From || math.IsNaN(at) {
		return 0
	}
	return min(max((at-s.From)/(s.Until-s.From), 0), 1)
}

// spanOf is the whole run, or more where a mark lies outside of it.
func spanOf(s result.Result) stretch {
	until := s.VirtualSeconds
	for _, m := range s.Timeline {
		until = max(until, m.AtSeconds, m.EndSeconds)
	}
	for _, h := range s.Addresses {
		until = max(until, h.FromSeconds, h.UntilSeconds)
	}
	return stretch{0, max(until, 0)}
}

// tick is a labelled time on an axis.
type tick struct {
	Share  float64
	Text   string
	Anchor string // start, middle, end
}

// ticks divides a span into four to eight round steps.
func (s stretch) ticks() []tick {
	width := s.Until - s.From
	if width <= 0 || math.IsInf(width, 0) {
		return []tick{{0, "0s", "start"}}
	}
	step := roundStep(width / 4)
	var out []tick
	for i := 0; ; i++ {
		at := s.From + float64(i)*step
		if at > s.Until*(1+1e-9) || i > 16 {
			return out
		}
		t := tick{s.Share(at), clock(at), "middle"}
		if t.Share < 0.03 {
			t.Anchor = "start"
		} else if t.Share > 0.95 {
			t.Anchor = "end"
		}
		out = append(out, t)
	}
}

// roundSteps are the seconds, minutes, hours and days that people count in.
var roundSteps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
	172800, 432000, 864000}

// roundStep is the largest round step that is at most want, or a decimal fraction for spans under a second.
func roundStep(want float64) float64 {
	if want < 1 {
		step := math.Pow(10, math.Floor(math.Log10(want)))
		for _, f := range []float64{5, 2} {
			if step*f <= want {
				return step * f
			}
		}
		return step
	}
	best := roundSteps[0]
	for _, s := range roundSteps {
		if s <= want {
			best = s
		}
	}
	if last := roundSteps[len(roundSteps)-1]; want > 2*last {
		return last * math.Floor(want/last)
	}
	return best
}
