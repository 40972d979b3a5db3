package reports

import (
	"cmp"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Heights of a chart's parts in CSS pixels.
const (
	laneHeight = 30 // one row of marks with a band under them
	bandHeight = 10 // each further band that overlaps
	rowHeight  = 16 // one address
)

// lanesMax is how many nodes have a lane of their own; the rest share one.
const lanesMax = 10

// chart is a timeline ready to be drawn: lanes below one another, times as shares of the width.
type chart struct {
	Lanes  []lane
	Ticks  []tick
	Height int
	// Lines are the moments that concern every lane: quiet, failure.
	Lines []line
	// Items are all marks in time order, for the list that stands beside the picture.
	Items []item
	Cut   int
}

// lane is one node's row, or the cluster's.
type lane struct {
	Name        string
	Top, Height int
	// Even alternates from lane to lane, so that the eye keeps to its row.
	Even   bool
	Bands  []band
	Points []point
}

// Middle is where the lane's points sit.
func (l lane) Middle() int { return l.Top + 11 }

// band is a fault's span.
type band struct {
	From, Width float64
	Top         int
	Text        string
	Item        int
}

// point is an action.
type point struct {
	At   float64
	Text string
	Item int
}

// line is a moment across all lanes.
type line struct {
	At    float64
	Class string // failure, settled
	Text  string
	Item  int
}

// item is one mark in words.
type item struct {
	When, Kind, Node, Text string
	Fail                   bool
}

// Label is the whole mark in words, for readers who do not see where it stands.
func (i item) Label() string {
	text := i.When + " " + i.Kind
	if i.Node != "" {
		text += " on " + i.Node
	}
	return text + ": " + i.Text
}

// timelineOf lays out a run's marks. The failure gets a mark even when the run recorded none.
func timelineOf(s result.Result, span stretch) chart {
	marks := slices.Clone(s.Timeline)
	if f := s.Failure; f != nil && !slices.ContainsFunc(marks, func(m result.Mark) bool { return m.Kind == "failure" }) {
		marks = append(marks, result.Mark{AtSeconds: f.AtSeconds, EndSeconds: f.AtSeconds, Kind: "failure", Node: f.Node, Text: f.Law})
	}
	slices.SortStableFunc(marks, func(a, b result.Mark) int { return cmp.Compare(a.AtSeconds, b.AtSeconds) })
	marks, cut := cutMarks(marks)
	c := chart{Ticks: span.ticks(), Cut: cut}
	laneOf := c.addLanes(marks)
	free := map[*lane][]float64{} // per lane, when each of its stacked bands ends
	for i, m := range marks {
		it := item{When: moment(m.AtSeconds), Kind: m.Kind, Node: m.Node, Text: m.Text, Fail: m.Kind == "failure"}
		if m.EndSeconds > m.AtSeconds {
			it.When += "–" + moment(m.EndSeconds)
		}
		c.Items = append(c.Items, it)
		l := laneOf(m.Node)
		switch {
		case m.Kind == "failure" || m.Kind == "settled":
			c.Lines = append(c.Lines, line{span.Share(m.AtSeconds), m.Kind, it.Label(), i})
		case m.EndSeconds > m.AtSeconds:
			level := stack(free, l, m)
			from := span.Share(m.AtSeconds)
			l.Bands = append(l.Bands, band{from, max(span.Share(m.EndSeconds)-from, 0.004), level * bandHeight, it.Label(), i})
			l.Height = max(l.Height, laneHeight+level*bandHeight)
		default:
			l.Points = append(l.Points, point{span.Share(m.AtSeconds), it.Label(), i})
		}
	}
	c.stackLanes()
	return c
}

// cutMarks keeps the failure and the first marks.
func cutMarks(marks []result.Mark) ([]result.Mark, int) {
	if len(marks) <= marksMax {
		return marks, 0
	}
	kept := slices.Clone(marks[:marksMax])
	for _, m := range marks[marksMax:] {
		if m.Kind == "failure" {
			kept = append(kept, m)
		}
	}
	return kept, len(marks) - len(kept)
}

// addLanes makes a lane per node that any mark names and returns how to find it.
func (c *chart) addLanes(marks []result.Mark) func(node string) *lane {
	names := []string{}
	for _, m := range marks {
		if m.Kind == "action" || m.Kind == "fault" {
			names = append(names, m.Node)
		}
	}
	slices.SortFunc(names, fact.CompareNames)
	names = slices.Compact(names)
	rest := -1
	if len(names) > lanesMax+1 {
		names = append(names[:lanesMax], "others")
		rest = lanesMax
	}
	place := map[string]int{}
	for i, n := range names {
		place[n] = i
		if n == "" {
			n = "cluster"
		}
		c.Lanes = append(c.Lanes, lane{Name: short(n, 15), Height: laneHeight})
	}
	if len(c.Lanes) == 0 {
		c.Lanes = []lane{{Name: "cluster", Height: laneHeight}}
	}
	return func(node string) *lane {
		if i, ok := place[node]; ok {
			return &c.Lanes[i]
		}
		return &c.Lanes[max(rest, 0)]
	}
}

// stack finds the first level of a lane that is free for a band.
func stack(free map[*lane][]float64, l *lane, m result.Mark) int {
	ends := free[l]
	for level, end := range ends {
		if end <= m.AtSeconds {
			ends[level] = m.EndSeconds
			return level
		}
	}
	free[l] = append(ends, m.EndSeconds)
	return len(ends)
}

func (c *chart) stackLanes() {
	for i := range c.Lanes {
		l := &c.Lanes[i]
		l.Top, l.Even = c.Height, i%2 == 0
		c.Height += l.Height
		for j := range l.Bands {
			l.Bands[j].Top += l.Top + 18
		}
	}
}
