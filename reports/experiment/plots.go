package experiment

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/vppdrill/vppdrill/scenarios/experiment"
)

// plots are drawn in this order; one that has nothing to show of an outcome has no plots.
var plots = []func(*experiment.Outcome) (section, error){bands, heatMaps, pareto, frontier, survival, timeSeries}

// colours of arms and lines: Okabe and Ito's, which people who see colours differently can tell apart.
var colours = []color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}}

func colour(i int) color.RGBA { return colours[i%len(colours)] }

// pale is a colour for areas.
func pale(c color.RGBA) color.RGBA {
	mix := func(x uint8) uint8 { return uint8((int(x) + 3*255) / 4) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	return p
}

// svg draws a plot, and its legend to the right of it, off the curves: the picture is wider by that.
func svg(p *plot.Plot, width, height vg.Length) (template.HTML, error) {
	const margin = 4 * vg.Millimeter // labels at the ends of axes are half outside
	legend := p.Legend
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(3)
	p.Legend = plot.NewLegend()
	beside := legend.Rectangle(draw.Canvas{}).Size().X
	if beside > 0 {
		beside += margin
	}
	canvas := vgsvg.New(width+beside, height)
	whole := draw.New(canvas)
	p.Draw(draw.Crop(whole, 0, -margin-beside, 0, -2*vg.Millimeter))
	legend.Draw(draw.Crop(whole, width, 0, 0, -2*margin))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", err
	}
	text := out.Bytes()
	if i := bytes.Index(text, []byte("<svg")); i > 0 {
		text = text[i:] // the page has a head of its own
	}
	return template.HTML(text), nil // #nosec: drawn here; texts of plots are escaped by the canvas
}

const plotWidth, plotHeight = 15 * vg.Centimeter, 9 * vg.Centimeter

func (s *section) add(p *plot.Plot) error {
	text, err := svg(p, plotWidth, plotHeight)
	if err == nil {
		s.Plots = append(s.Plots, drawing{p.Title.Text, text})
	}
	return err
}

// numeric is a point's level of an axis as a number.
func numeric(p *experiment.Point, axis int) (float64, bool) {
	return experiment.Number(p.Values[axis].Text)
}

// numericAxes are the axes of which every level is a number.
func numericAxes(o *experiment.Outcome) (list []int) {
	for i := range o.Vary {
		ok := len(o.Points) > 1
		for _, p := range o.Points {
			_, is := numeric(p, i)
			ok = ok && is
		}
		if ok {
			list = append(list, i)
		}
	}
	return list
}

// arms are the points of each arm, in the order of arms; without arms all points.
func arms(o *experiment.Outcome) (names []string, points [][]*experiment.Point) {
	names = o.Arms
	if len(names) == 0 {
		names = []string{""}
	}
	points = make([][]*experiment.Point, len(names))
	for _, p := range o.Points {
		for i, name := range names {
			if p.Arm == name {
				points[i] = append(points[i], p)
			}
		}
	}
	return names, points
}

// bands draws each figure over the one field that is varied: the mean, its interval, and quantiles over seeds.
func bands(o *experiment.Outcome) (section, error) {
	s := section{Title: "By " + first(o), Says: "The line joins means; the area goes from the tenth to the ninetieth percentile of seeds, the bars are the means' intervals of 95 %."}
	axes := numericAxes(o)
	if len(o.Vary) != 1 || len(axes) != 1 || o.Find != "" {
		return s, nil
	}
	for _, m := range o.Measure {
		p := newPlot(m, o.Vary[0].Field, m)
		if ticks, ok := levelTicks(o); ok {
			p.X.Tick.Marker = ticks
		}
		names, groups := arms(o)
		for i, group := range groups {
			if err := band(p, names[i], m, group, colour(i)); err != nil {
				return s, err
			}
		}
		if err := s.add(p); err != nil {
			return s, err
		}
	}
	return s, nil
}

func first(o *experiment.Outcome) string {
	if len(o.Vary) == 0 {
		return ""
	}
	return o.Vary[0].Field
}

// levelTicks are ticks at the levels of the field that is varied; false where some are too near each other for their words.
func levelTicks(o *experiment.Outcome) (plot.ConstantTicks, bool) {
	var list []level
	for _, p := range o.Points {
		x, _ := numeric(p, 0)
		list = append(list, level{x, p.Values[0].Text})
	}
	list = levels(list)
	var ticks plot.ConstantTicks
	for i, l := range list {
		const nearest = 0.05 // of the axis' length: four digits
		if i > 0 && l.number-list[i-1].number < nearest*(list[len(list)-1].number-list[0].number) {
			return nil, false
		}
		ticks = append(ticks, plot.Tick{Value: l.number, Label: l.text})
	}
	return ticks, true
}

// band adds one arm's figure to a plot.
func band(p *plot.Plot, name, metric string, group []*experiment.Point, c color.RGBA) error {
	var line, low, high plotter.XYs
	var bars intervals
	for _, point := range group {
		e, ok := point.Estimate(metric)
		if !ok || e.Runs == 0 {
			continue
		}
		x, _ := numeric(point, 0)
		line, low, high = append(line, plotter.XY{X: x, Y: e.Mean}), append(low, plotter.XY{X: x, Y: e.P10}), append(high, plotter.XY{X: x, Y: e.P90})
		bars.XYs, bars.YErrors = append(bars.XYs, plotter.XY{X: x, Y: e.Mean}), append(bars.YErrors, struct{ Low, High float64 }{e.Mean - e.Low, e.High - e.Mean})
	}
	if len(line) == 0 {
		return nil
	}
	outline := append(plotter.XYs{}, low...)
	for i := len(high) - 1; i >= 0; i-- {
		outline = append(outline, high[i])
	}
	if len(line) > 1 {
		area, err := plotter.NewPolygon(outline)
		if err != nil {
			return err
		}
		area.Color, area.LineStyle.Width = pale(c), 0
		p.Add(area)
	}
	l, dots, err := plotter.NewLinePoints(line)
	if err != nil {
		return err
	}
	l.Color, dots.Color, dots.Shape = c, c, draw.CircleGlyph{}
	errorBars, err := plotter.NewYErrorBars(bars)
	if err != nil {
		return err
	}
	errorBars.Color = c
	p.Add(l, dots, errorBars)
	if name != "" {
		p.Legend.Add(name, l)
	}
	return nil
}

// intervals are points with errors, as plotter takes them.
type intervals struct {
	plotter.XYs
	plotter.YErrors
}

// timeSeriesMost is of how many points a run is drawn over time.
const timeSeriesMost = 8

// timeSeries draws a run of the points that matter over time.
func timeSeries(o *experiment.Outcome) (section, error) {
	s := section{Title: "Runs over time"}
	drawn := 0
	list := notable(o, timeSeriesMost)
	for _, n := range list {
		run := n.run()
		if run == nil {
			continue
		}
		drawn++
		out := newPlot(n.title(run), "seconds", "")
		series := run.Series
		most := max(1, slices.Max(series.Held), slices.Max(series.Resting), slices.Max(series.Waiting))
		for i, x := range []struct {
			name string
			of   []int64
		}{{"held", series.Held}, {"free", series.Free}, {"cooling", series.Resting}, {"waiting", series.Waiting}} {
			if len(x.of) == 0 || i > 0 && slices.Max(x.of) == 0 {
				continue
			}
			if x.name == "free" && slices.Max(x.of) > freeFits*most { // it would press the others to the ground
				out.Title.Text += fmt.Sprintf("; %d to %d free", slices.Min(x.of), slices.Max(x.of))
				continue
			}
			var xys plotter.XYs
			for n, y := range x.of {
				xys = append(xys, plotter.XY{X: float64(n) * series.EverySeconds, Y: float64(y)})
			}
			l, err := plotter.NewLine(xys)
			if err != nil {
				return s, err
			}
			l.Color = colour(i)
			out.Add(l)
			out.Legend.Add(x.name, l)
		}
		out.Y.Min = 0
		if err := s.add(out); err != nil {
			return s, err
		}
	}
	s.Says = "Addresses that pods hold, that are free and that cool down after a release, and pods that wait. "
	if left := len(o.Points) - len(list); left > 0 {
		s.Says += fmt.Sprintf("Of %d points these are the ones with the most runs that did not pass, those with the least and the most of a figure, the first and the last; the other %d are left out, and runs.jsonl has the series of all.", len(o.Points), left)
	} else {
		s.Says += "All points, a run of each."
	}
	return s, nil
}

// freeFits is how many times as many free addresses as anything else fit into one plot.
const freeFits = 4
