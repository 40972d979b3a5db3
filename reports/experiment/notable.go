package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/experiment"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// noted is a point that is drawn by itself, with why.
type noted struct {
	*experiment.Point
	why []string
}

// notable are at most most of an outcome's points, in their order: all, or those that a reader would look for first. These
// are the ones with the most runs that did not pass, then for each figure the one with the least and the one with the most
// of it, and then the first and the last.
func notable(o *experiment.Outcome, most int) (list []*noted) {
	by := map[*experiment.Point]*noted{}
	add := func(p *experiment.Point, why string) {
		n := by[p]
		if n == nil {
			if len(list) == most {
				return
			}
			n = &noted{Point: p}
			by[p], list = n, append(list, n)
		}
		if why != "" {
			n.why = append(n.why, why)
		}
	}
	if len(o.Points) <= most {
		for _, p := range o.Points {
			add(p, "")
		}
	} else {
		for _, p := range mostFailed(o.Points, most/4) {
			add(p, fmt.Sprintf("%d of %d did not pass", len(p.Failed), len(p.Runs)))
		}
		for _, m := range o.Measure {
			if least, greatest := extremes(o.Points, m); least != greatest {
				add(greatest, "most "+m)
				add(least, "least "+m)
			}
		}
		add(o.Points[0], "the first")
		add(o.Points[len(o.Points)-1], "the last")
	}
	slices.SortFunc(list, func(a, b *noted) int { return a.Number - b.Number })
	return list
}

// mostFailed are at most n points, those with the most runs that did not pass first.
func mostFailed(points []*experiment.Point, n int) (list []*experiment.Point) {
	for _, p := range points {
		if len(p.Failed) > 0 {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *experiment.Point) int { return len(b.Failed) - len(a.Failed) })
	return list[:min(n, len(list))]
}

// extremes are the points with the least and the most of a figure, the first of each; nil, nil if none has it.
func extremes(points []*experiment.Point, metric string) (least, most *experiment.Point) {
	var low, high float64
	for _, p := range points {
		x, ok := p.Mean(metric)
		if !ok {
			continue
		}
		if least == nil || x < low {
			least, low = p, x
		}
		if most == nil || x > high {
			most, high = p, x
		}
	}
	return least, most
}

// run is the run of the point that is drawn: the first that did not pass, or the first; nil where none has a series.
func (n *noted) run() *experiment.Run {
	var first *experiment.Run
	for _, r := range n.Runs {
		if r.Series == nil || len(r.Series.Held) == 0 {
			continue
		}
		if r.Verdict != result.Pass {
			return r
		}
		if first == nil {
			first = r
		}
	}
	return first
}

// title names the point, the run and why it is drawn.
func (n *noted) title(r *experiment.Run) string {
	text := fmt.Sprintf("point %d, seed %d", n.Number, r.Seed)
	if r.Verdict != result.Pass {
		text += ", which did not pass"
	}
	if len(n.why) > 0 {
		text += ": " + strings.Join(n.why[:min(len(n.why), 2)], ", ")
	}
	return text
}
