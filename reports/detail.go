package reports

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// detail is one run's section of the page.
type detail struct {
	row
	// Open says that the section starts unfolded.
	Open bool
	// Short: it passed among hundreds, so that the address map and the laws' reasons are left out.
	Short bool
	// Until is the end of its charts in seconds.
	Until         float64
	Before, After []diffLine
	Tail          []tailLine
	TailCut       int
	Laws          []result.LawResult
	// Broken and NotJudged count laws.
	Broken, NotJudged int
	Timeline          chart
	Maps              []addressMap
	MapsCut           int
	Figures           []labelled
	// Hollow is what the verdict hides.
	Hollow string
	Fill   *fill
	Curves []curves
	Waits  []wait
	Way    []stop
	Chain  []chainLine
	// Story is for the page's script: see storyOf.
	Story string
	// HeldLaws and HeldOccasions count what a short section leaves out: laws that held.
	HeldLaws      int
	HeldOccasions int64
	// IdleLaws are the laws without occasion, which Laws does not list.
	IdleLaws []result.LawResult
	// Leaned says that story and address maps were left out, for the page's size.
	Leaned bool
	// HTML is the whole section, rendered.
	HTML template.HTML
}

// wholeMax is how many runs a page has at most for those that passed to be drawn in full; beyond, a page of hundreds
// would take seconds to open, and result.json has it all.
const wholeMax = 60

func detailOf(r row, open, short bool) detail {
	s := r.Result
	d := detail{row: r, Open: open, Short: short, Figures: figuresOf(s)}
	for _, l := range brokenFirst(s.Laws) {
		if l.Violations > 0 {
			d.Broken++
		}
		if l.Status == result.NotJudgedStatus {
			d.NotJudged++
		}
		if l.Idle() {
			d.IdleLaws = append(d.IdleLaws, l)
		} else {
			d.Laws = append(d.Laws, l)
		}
	}
	if f := s.Failure; f != nil {
		d.Before, d.After = diffLines(f.Before, f.After)
		tail := f.Tail
		if cut := len(tail) - tailMax; cut > 0 {
			tail, d.TailCut = tail[cut:], cut
		}
		d.Tail = tailOf(r.ID, tail)
	}
	span := spanOf(s)
	d.Timeline, d.Until = timelineOf(s, span), span.Until
	if !short {
		d.Maps, d.MapsCut = addressMapsOf(s, span)
	}
	d.Hollow = strings.TrimSpace(hollow(s))
	d.Curves, d.Waits = curvesOf(s, span, d.Timeline), waitsOf(s)
	if s.Failure != nil {
		d.Way, d.Chain = wayOf(s.Failure.Way), chainOf(r.ID, s.Failure.Chain, d.Tail)
	}
	if short {
		d.shorten()
	} else {
		d.Fill = fillOf(s, span)
	}
	if packed, err := storyOf(s, span, short); err == nil { // it holds nothing that cannot be encoded
		d.Story = packed
	}
	return d
}

// shorten leaves out the laws that held, which are as many in each of hundreds of sections.
func (d *detail) shorten() {
	d.Laws = slices.DeleteFunc(d.Laws, func(l result.LawResult) bool {
		if l.Status != result.HeldStatus {
			return false
		}
		d.HeldLaws++
		d.HeldOccasions += l.Occasions
		return true
	})
	var quantiles []string
	for _, w := range d.Waits {
		quantiles = append(quantiles, fmt.Sprintf("%d %% %s", w.Percent, w.Text))
	}
	if len(quantiles) > 0 {
		d.Figures = append(d.Figures, labelled{"Until pods had an address", strings.Join(quantiles, ", ")})
	}
	d.Waits = nil
}

// lean takes out what makes a section large: the story and the address maps.
func (d *detail) lean() {
	d.Leaned = d.Story != "" || len(d.Maps) > 0
	d.Story, d.Maps, d.MapsCut = "", nil, 0
}

// Failed reports that the run stands among what failed: a law is broken, or it could not be judged.
func (d detail) Failed() bool { return d.Result.Verdict != result.Pass }

// Clash reports whether any map shows an address with two holders.
func (d detail) Clash() bool {
	return slices.ContainsFunc(d.Maps, func(m addressMap) bool {
		return slices.ContainsFunc(m.Rows, func(r addressRow) bool { return len(r.Clashes) > 0 })
	})
}

// brokenFirst puts broken laws before the others and keeps the order otherwise.
func brokenFirst(laws []result.LawResult) []result.LawResult {
	out := slices.Clone(laws)
	slices.SortStableFunc(out, func(a, b result.LawResult) int {
		return int(min(b.Violations, 1) - min(a.Violations, 1))
	})
	return out
}

// figuresOf lists what the run amounts to. Figures that are zero because nothing of the kind was part of the run are
// left out, except those whose zero is good news.
func figuresOf(s result.Result) []labelled {
	m := s.Summary
	waited := "none"
	if m.PodsWaited > 0 {
		waited = fmt.Sprintf("%s, longest %s, together %s", thousands(m.PodsWaited), clock(m.LongestWaitSeconds), clock(m.TotalWaitSeconds))
	}
	reused := "none"
	if m.Reused > 0 {
		reused = thousands(m.Reused)
		if m.ShortestReuseSeconds >= 0 {
			reused += ", soonest after " + clock(m.ShortestReuseSeconds)
		}
	}
	never := "none"
	if m.PodsNeverPlaced > 0 {
		never = thousands(m.PodsNeverPlaced) + ": " + neverPlaced(m)
	}
	facts := []labelled{
		{"Nodes", thousands(s.Nodes)},
		{"Pods at the end", thousands(s.Pods)},
		{"Pods at the peak", thousands(m.PeakPods)},
		{"Pods that waited for an address", waited},
		{"Pods never placed", never},
		{"Nodes without a free address", exhaustedNodes(m.Exhausted)},
		{"Addresses given out again", reused},
		{"ADD and DEL", thousands(m.Adds) + " and " + thousands(m.Dels)},
		{"VPP calls", thousands(m.VPPCalls)},
		{"Linux calls", thousands(m.LinuxCalls)},
		{"Store operations", thousands(m.StoreOps)},
		{"Journal", bytesText(m.JournalBytes)},
		{"Faults", thousands(m.Faults)},
		{"Events", thousands(s.Events)},
		{"Virtual time", clock(s.VirtualSeconds)},
		{"Wall time", clock(s.WallSeconds)},
		{"Peak memory", bytesText(s.PeakRSSBytes)},
	}
	if s.WallSeconds > 0 {
		facts = append(facts, labelled{"Speed", thousands(int64(float64(s.Events)/s.WallSeconds)) + " events/s"})
	}
	return slices.DeleteFunc(facts, func(f labelled) bool { return f.Value == "0" || f.Value == "0 B" || f.Value == "0 and 0" })
}

// exhaustedNodes lists which nodes ran out when, in the order in which they did.
func exhaustedNodes(list []result.RanOut) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = ranOut(n)
	}
	return strings.Join(parts, "; ")
}

// diffLine is one line of a state, with whether the other state lacks it.
type diffLine struct {
	Text    string
	Changed bool
}

// diffLines marks the lines that only one of two states has. States are short; the order of common lines is taken from
// a longest common subsequence.
func diffLines(before, after string) (b, a []diffLine) {
	x, y := splitLines(before), splitLines(after)
	if len(x)*len(y) > 1<<20 { // a state this long is not read line by line
		return plainLines(x), plainLines(y)
	}
	// longest[i][j] is the length of the longest common subsequence of x[i:] and y[j:].
	longest := make([][]int, len(x)+1)
	for i := range longest {
		longest[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if x[i] == y[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			b, a = append(b, diffLine{Text: x[i]}), append(a, diffLine{Text: y[j]})
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && longest[i+1][j] >= longest[i][j+1]:
			b = append(b, diffLine{x[i], true})
			i++
		default:
			a = append(a, diffLine{y[j], true})
			j++
		}
	}
	return b, a
}

func splitLines(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return strings.Split(strings.Trim(text, "\n"), "\n")
}

func plainLines(lines []string) []diffLine {
	out := make([]diffLine, len(lines))
	for i, l := range lines {
		out[i].Text = l
	}
	return out
}
