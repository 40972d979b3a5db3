package cause

import (
	_ "embed" // what runs that broke no law do
	"fmt"
	"slices"
	"strings"
)

//go:embed known.txt
var knownText string

// usual are the steps that runs which broke no law take, by class and step: the numbers in each place, nil for any.
func usual() map[string][][]string {
	out := map[string][][]string{}
	for line := range strings.Lines(knownText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var places [][]string
		for _, p := range f[1:] {
			if p == "*" {
				places = append(places, nil)
			} else {
				places = append(places, strings.Split(p, ","))
			}
		}
		out[f[0]] = places
	}
	return out
}

// unusual adds the steps of whoever is wanted that no run takes which broke no law, or not with these numbers.
func (w *walk) unusual(threads []*thread) {
	known := usual()
	for _, t := range slices.Backward(threads) {
		class, life := strings.CutSuffix(t.scope, " life")
		if !life || slices.Contains(simulated, class) {
			continue
		}
		depth, leads := 1, w.end
		if class == "node" {
			x := w.wanted["n:"+t.who]
			if x == nil {
				continue
			}
			depth, leads = x.depth, x.leads
		}
		for _, s := range slices.Backward(t.steps) {
			if !owned(t.scope, s.text) || strings.HasPrefix(s.text, "fact ") {
				continue
			}
			why := ""
			places, ok := known[class+" "+s.text]
			if !ok {
				why = "no passing run does that"
			}
			for i, p := range places {
				if i < len(s.values) && p != nil && !slices.Contains(p, s.values[i]) {
					why = fmt.Sprintf("in passing runs the number is %s where it says %s", strings.Join(p, " or "), s.values[i])
				}
			}
			if why == "" {
				continue
			}
			e := &w.r.events[s.event-w.r.first]
			text, _ := w.r.tellLine(e.line)
			if text == "" {
				text = e.line
			}
			score := 58 - 9*depth - 6*w.rank("unusual "+t.who+s.text) - 3*w.rank("unusual")
			if score > 0 {
				w.addOf(s.event, e.at, w.nodeOf(t), "unusual: "+text+" ("+why+")", "unusual", leads, score)
			}
		}
	}
}
