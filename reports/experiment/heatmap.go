package experiment

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"

	"github.com/vppdrill/vppdrill/scenarios/experiment"
)

// grid is a figure over two fields, as plotter takes it: a cell for each pair of levels, all of one size, however far apart levels are.
type grid struct {
	xs, ys []level
	of     map[[2]float64]float64
}

// level is a field's level as a number, and as it was written.
type level struct {
	number float64
	text   string
}

func (g grid) Dims() (c, r int)   { return len(g.xs), len(g.ys) }
func (g grid) X(c int) float64    { return float64(c) }
func (g grid) Y(r int) float64    { return float64(r) }
func (g grid) Z(c, r int) float64 { return g.of[[2]float64{g.xs[c].number, g.ys[r].number}] }

// gridOf is a figure's means over the two fields that are varied; false where a cell is empty, as in a Latin hypercube.
func gridOf(group []*experiment.Point, metric string) (g grid, ok bool) {
	g.of = map[[2]float64]float64{}
	for _, p := range group {
		x, _ := numeric(p, 0)
		y, _ := numeric(p, 1)
		if e, ok := p.Estimate(metric); ok && e.Runs > 0 {
			g.xs, g.ys = append(g.xs, level{x, p.Values[0].Text}), append(g.ys, level{y, p.Values[1].Text})
			g.of[[2]float64{x, y}] = e.Mean
		}
	}
	g.xs, g.ys = levels(g.xs), levels(g.ys)
	return g, len(g.xs) > 1 && len(g.ys) > 1 && len(g.of) == len(g.xs)*len(g.ys)
}

// levels is the list in its order, each once.
func levels(list []level) []level {
	slices.SortFunc(list, func(a, b level) int { return cmp.Compare(a.number, b.number) })
	return slices.CompactFunc(list, func(a, b level) bool { return a.number == b.number })
}

// names are the levels as they were written.
func names(list []level) (out []string) {
	for _, l := range list {
		out = append(out, l.text)
	}
	return out
}

// heatMaps draws each figure over two fields that are varied.
func heatMaps(o *experiment.Outcome) (section, error) {
	s := section{Title: "By two fields", Says: "The darkest is the least and the lightest the most; the cells hold the means."}
	axes := numericAxes(o)
	if len(o.Vary) != 2 || len(axes) != 2 || o.Find != "" {
		return s, nil
	}
	armNames, groups := arms(o)
	for i, group := range groups {
		for _, m := range o.Measure {
			g, ok := gridOf(group, m)
			if !ok {
				continue
			}
			p := newPlot(m+" "+armNames[i], o.Vary[0].Field, o.Vary[1].Field)
			p.NominalX(names(g.xs)...)
			p.NominalY(names(g.ys)...)
			h := plotter.NewHeatMap(g, moreland.Kindlmann().Palette(64))
			if h.Min == h.Max {
				h.Max = h.Min + 1
			}
			means, err := cells(g, (h.Min+h.Max)/2)
			if err != nil {
				return s, err
			}
			p.Add(h, means)
			if err := s.add(p); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// cells are the means in the middle of their cells, white on those below half, which are dark.
func cells(g grid, half float64) (*plotter.Labels, error) {
	var list plotter.XYLabels
	columns, rows := g.Dims()
	for c := range columns {
		for r := range rows {
			list.XYs, list.Labels = append(list.XYs, plotter.XY{X: g.X(c), Y: g.Y(r)}), append(list.Labels, experiment.FigureText(g.Z(c, r)))
		}
	}
	out, err := plotter.NewLabels(list)
	if err != nil {
		return nil, err
	}
	for i := range out.TextStyle {
		style := &out.TextStyle[i]
		style.XAlign, style.YAlign = text.XCenter, text.YCenter
		style.Color = color.Black
		if xy := list.XYs[i]; g.Z(int(xy.X), int(xy.Y)) < half {
			style.Color = color.White
		}
	}
	return out, nil
}
