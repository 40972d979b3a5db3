package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/vppdrill/vppdrill/scenarios/experiment"
)

// What is traded: addresses that nobody uses for the time that pods wait.
const wasted, waits = "wastedAddresses", "startP99Seconds"

// tradeoff is a point of the curve.
type tradeoff struct {
	p    *experiment.Point
	x, y float64
}

// pareto draws wasted addresses against the time from a pod's creation to its address, the points that no other beats in both, and of
// these the knee: the farthest from the line between the ends, with both axes scaled to 1.
func pareto(o *experiment.Outcome) (section, error) {
	s := section{Title: "What addresses buy", Says: "Addresses that no pod holds against the 99th percentile of the time from a pod's creation to its address. The line joins the points that no other beats in both."}
	var all []tradeoff
	for _, p := range o.Points {
		x, okX := p.Mean(wasted)
		y, okY := p.Mean(waits)
		if okX && okY {
			all = append(all, tradeoff{p, x, y})
		}
	}
	if len(all) < 3 || o.Find != "" {
		return s, nil
	}
	front := frontOf(all)
	p := newPlot("wasted addresses against waiting", wasted, waits)
	if err := scatter(p, all, front); err != nil {
		return s, err
	}
	if k, ok := knee(front); ok {
		s.Says += fmt.Sprintf(" The knee is point %d: %s, with %s wasted and %s s.", k.p.Number, k.p.Label(), experiment.FigureText(k.x), experiment.FigureText(k.y))
		mark, err := plotter.NewScatter(plotter.XYs{{X: k.x, Y: k.y}})
		if err != nil {
			return s, err
		}
		mark.Color, mark.Shape, mark.Radius = colour(1), draw.RingGlyph{}, vg.Points(8)
		p.Add(mark)
	}
	return s, s.add(p)
}

func scatter(p *plot.Plot, all, front []tradeoff) error {
	var dots, line plotter.XYs
	labels := plotter.XYLabels{}
	for _, t := range all {
		dots = append(dots, plotter.XY{X: t.x, Y: t.y})
		labels.XYs, labels.Labels = append(labels.XYs, plotter.XY{X: t.x, Y: t.y}), append(labels.Labels, fmt.Sprint(" ", t.p.Number))
	}
	for _, t := range front {
		line = append(line, plotter.XY{X: t.x, Y: t.y})
	}
	points, err := plotter.NewScatter(dots)
	if err != nil {
		return err
	}
	points.Shape, points.Color = draw.CircleGlyph{}, colour(0)
	texts, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	p.Add(points, texts)
	if len(line) > 1 {
		l, err := plotter.NewLine(line)
		if err != nil {
			return err
		}
		l.Color = colour(0)
		p.Add(l)
	}
	return nil
}

// frontOf are the points that no other beats in both, by what they waste.
func frontOf(all []tradeoff) (front []tradeoff) {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b tradeoff) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	best := math.Inf(1)
	for _, t := range sorted {
		if t.y < best {
			front, best = append(front, t), t.y
		}
	}
	return front
}

// knee is the point of a front that is farthest below the line between its ends.
func knee(front []tradeoff) (best tradeoff, ok bool) {
	if len(front) < 3 {
		return best, false
	}
	a, z, most := front[0], front[len(front)-1], 0.0
	for _, t := range front[1 : len(front)-1] {
		x, y := (t.x-a.x)/(z.x-a.x), (t.y-z.y)/(a.y-z.y)
		if d := 1 - x - y; d > most {
			best, most, ok = t, d, true
		}
	}
	return best, ok
}

// frontier draws what was found over the field that is varied.
func frontier(o *experiment.Outcome) (section, error) {
	s := section{Title: "Frontier", Says: "Up to the line the condition holds."}
	if o.Find == "" || len(o.Vary) != 1 || len(numericAxes(o)) != 1 {
		return s, nil
	}
	p := newPlot(o.Find, o.Vary[0].Field, "")
	names, _ := arms(o)
	for i, name := range names {
		var line plotter.XYs
		for _, f := range o.Found {
			point := o.Points[f.Point-1]
			x, _ := numeric(point, 0)
			y, ok := experiment.Number(f.Level)
			if point.Arm == name && ok {
				line = append(line, plotter.XY{X: x, Y: y})
			}
		}
		if len(line) == 0 {
			continue
		}
		l, dots, err := plotter.NewLinePoints(line)
		if err != nil {
			return s, err
		}
		l.Color, dots.Color, dots.Shape = colour(i), colour(i), draw.CircleGlyph{}
		p.Add(l, dots)
		if name != "" {
			p.Legend.Add(name, l)
		}
	}
	return s, s.add(p)
}

// survival draws in what share of a point's runs there were free addresses all the time until then.
func survival(o *experiment.Outcome) (section, error) {
	s := section{Title: "How long there are free addresses", Says: "The share of runs in which some address of a node's block was free all the time until then, reserved addresses counted as free only where blocks keep none."}
	p := newPlot("", "seconds", "share of runs")
	p.Y.Min, p.Y.Max = 0, 1.02
	lost := false
	for i, point := range o.Points[:min(len(o.Points), len(colours))] {
		line, died := survivors(point)
		if len(line) == 0 {
			continue
		}
		lost = lost || died
		l, err := plotter.NewLine(line)
		if err != nil {
			return s, err
		}
		l.Color, l.StepStyle = colour(i), plotter.PostStep
		p.Add(l)
		p.Legend.Add(point.Label(), l)
	}
	if !lost {
		return s, nil
	}
	return s, s.add(p)
}

// survivors is one point's curve; died: it is not 1 throughout.
func survivors(point *experiment.Point) (line plotter.XYs, died bool) {
	var ends []float64
	last, runs := 0.0, 0
	for _, r := range point.Runs {
		if r.Series == nil {
			continue
		}
		runs++
		for i, free := range r.Series.Free {
			at := float64(i) * r.Series.EverySeconds
			last = max(last, at)
			if free == 0 && r.Series.Held[i] > 0 {
				ends = append(ends, at)
				break
			}
		}
	}
	if runs == 0 {
		return nil, false
	}
	slices.Sort(ends)
	line = plotter.XYs{{X: 0, Y: 1}}
	for i, at := range ends {
		line = append(line, plotter.XY{X: at, Y: 1 - float64(i+1)/float64(runs)})
	}
	return append(line, plotter.XY{X: last, Y: 1 - float64(len(ends))/float64(runs)}), len(ends) > 0
}
