package experiment

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

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
	s := section{Title: "By two fields", Coloured: true, Says: "The darker, the more; the cells hold the means, and min and max say where the least and the most are."}
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
			p.Y.Label.Padding = vg.Points(6) // nominal axes leave none
			h := plotter.NewHeatMap(g, shades(shadesOfCells))
			means, err := cells(g, h.Min, h.Max)
			if h.Min == h.Max {
				h.Max = h.Min + 1
			}
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

// shades are a palette of one hue, from pale to dark, so that the least is seen on a white page and every cell can hold text.
type shades int

const shadesOfCells = shades(64)

// Colors are the shades.
func (n shades) Colors() (list []color.Color) {
	for i := range int(n) {
		list = append(list, shade(float64(i)/float64(n-1)))
	}
	return list
}

// shade is the colour of a share of the most, 0 to 1: from a pale blue to one as dark as text may be white on.
func shade(share float64) color.RGBA {
	mix := func(a, b float64) uint8 { return uint8(a + (b-a)*share) }
	return color.RGBA{mix(232, 8), mix(240, 48), mix(250, 107), 255}
}

// ink is the colour of text on a shade: the one of black and white that has more contrast.
func ink(c color.RGBA) color.Color {
	luminance := func(x uint8) float64 {
		v := float64(x) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	if ground := 0.2126*luminance(c.R) + 0.7152*luminance(c.G) + 0.0722*luminance(c.B); (ground+0.05)/0.05 < 1.05/(ground+0.05) {
		return color.White
	}
	return color.Black
}

// cells are the means in the middle of their cells, in what can be read there. The least and the most are named.
func cells(g grid, least, most float64) (*plotter.Labels, error) {
	var list plotter.XYLabels
	columns, rows := g.Dims()
	for c := range columns {
		for r := range rows {
			text := experiment.FigureText(g.Z(c, r))
			switch {
			case least == most:
			case g.Z(c, r) == least:
				text = "min " + text
			case g.Z(c, r) == most:
				text = "max " + text
			}
			list.XYs, list.Labels = append(list.XYs, plotter.XY{X: g.X(c), Y: g.Y(r)}), append(list.Labels, text)
		}
	}
	out, err := plotter.NewLabels(list)
	if err != nil {
		return nil, err
	}
	for i := range out.TextStyle {
		style := &out.TextStyle[i]
		style.XAlign, style.YAlign = text.XCenter, text.YCenter
		xy := list.XYs[i]
		share := 0.0
		if most > least {
			share = (g.Z(int(xy.X), int(xy.Y)) - least) / (most - least)
		}
		style.Color = ink(shade(share))
	}
	return out, nil
}
