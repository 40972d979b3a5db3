package reports

import (
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Bounds of a fill's picture: a map that fits a screen, however many nodes and days a run has.
const (
	fillRowsMax = 40
	fillCells   = 96
	fillHeight  = 12
)

// fill is how many addresses pods held over time, a row for each node or group of nodes, darker for more.
type fill struct {
	Rows   []fillRow
	Ticks  []tick
	Height int
	// Most is how many a node held at once at most.
	Most int
	// Grouped: there are more nodes than rows.
	Grouped bool
}

type fillRow struct {
	Name        string
	Top, Height int
	Text        string
	Cells       []fillCell
}

// Middle is where the row's name stands.
func (r fillRow) Middle() int { return r.Top + r.Height/2 }

// fillCell is a stretch of time with one darkness in (0, 1].
type fillCell struct{ From, Width, Share float64 }

// fillOf draws a run's fill from the addresses that it kept; nil where it kept none.
func fillOf(s result.Result, span stretch) *fill {
	if len(s.Addresses) == 0 || span.Until <= span.From {
		return nil
	}
	counts := map[string]*[fillCells]int{}
	for _, h := range s.Addresses {
		if counts[h.Node] == nil {
			counts[h.Node] = new([fillCells]int)
		}
		until := h.UntilSeconds
		if until < 0 {
			until = span.Until
		}
		first, last := cellAt(span, h.FromSeconds), cellAt(span, until)
		for i := first; i <= last; i++ {
			counts[h.Node][i]++
		}
	}
	var names []string
	most := 0
	for name, c := range counts { // in any order: it is sorted below
		names = append(names, name)
		most = max(most, slices.Max(c[:]))
	}
	if most == 0 { // spans that say nothing
		return nil
	}
	slices.SortFunc(names, fact.CompareNames)
	f := &fill{Most: most, Ticks: span.ticks()}
	group := (len(names) + fillRowsMax - 1) / fillRowsMax
	f.Grouped = group > 1
	for part := range slices.Chunk(names, group) {
		r := fillRow{Name: part[0], Top: len(f.Rows) * fillHeight, Height: fillHeight - 2}
		peak, total := 0, [fillCells]int{}
		for _, name := range part {
			for i, n := range counts[name] {
				total[i] = max(total[i], n)
				peak = max(peak, n)
			}
		}
		if group > 1 {
			r.Name += fmt.Sprintf(" +%d", len(part)-1)
		}
		r.Text = fmt.Sprintf("%s held at most %s at once and %s at the end", oneLine(r.Name), plural(peak, "address"), thousands(total[fillCells-1]))
		r.Cells = cellsOf(total[:], most)
		f.Rows = append(f.Rows, r)
	}
	f.Height = len(f.Rows) * fillHeight
	return f
}

// cellAt is the stretch of the picture that a time lies in.
func cellAt(span stretch, at float64) int { return min(int(span.Share(at)*fillCells), fillCells-1) }

// cellsOf joins neighbors of one darkness, in ten steps.
func cellsOf(counts []int, most int) (cells []fillCell) {
	const steps = 10
	level := func(n int) int { return (n*steps + most - 1) / most }
	for i := 0; i < len(counts); {
		end := i + 1
		for end < len(counts) && level(counts[end]) == level(counts[i]) {
			end++
		}
		if counts[i] > 0 {
			cells = append(cells, fillCell{float64(i) / fillCells, float64(end-i) / fillCells, float64(level(counts[i])) / steps})
		}
		i = end
	}
	return cells
}
