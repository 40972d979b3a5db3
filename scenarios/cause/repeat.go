package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

const (
	// againMost is how many things that are done again and again are told, and againLeast how often something must have been done for that.
	againMost, againLeast = 3, 5
)

// again is what somebody does over and over.
type again struct {
	who         string
	first, last int64
	times       int
}

// repeats adds who does one thing again and again since the timeline did something last, and until the law breaks: why a cluster finds no rest.
func (w *walk) repeats(f *result.Failure) {
	if f.Law != result.LawSettles && !strings.Contains(f.What, "quiet") {
		return
	}
	from := max(w.r.first, w.end-lookMost)
	by := map[string]*again{}
	for seq := from; seq <= w.end; seq++ {
		line := w.r.events[seq-w.r.first].line
		if strings.HasPrefix(line, "action ") || line == "heal" {
			clear(by)
			continue
		}
		x := w.r.stepOf(line)
		if slices.Contains(simulated, x.actor) || !owned("life", x.text) {
			continue
		}
		key := x.actor + " " + line
		if strings.Contains(x.text, "#") && !strings.HasPrefix(line, "link ") {
			key = x.actor + " " + x.text // requests have numbers of their own
		}
		if by[key] == nil {
			by[key] = &again{who: x.actor, first: seq}
		}
		by[key].last = seq
		by[key].times++
	}
	var list []*again
	end := w.r.events[w.end-w.r.first].at
	for _, a := range by { //vppdrill:unordered sorted below
		if a.times >= againLeast && end-w.at(a.last) <= 3*a.period(w) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *again) int {
		return cmp.Or(cmp.Compare(a.blamed(f), b.blamed(f)), -cmp.Compare(a.times, b.times), cmp.Compare(a.first, b.first))
	})
	for n, a := range list[:min(len(list), againMost)] {
		least := ""
		if w.unseen > 0 || from > 1 && w.at(a.first)-w.at(from) <= a.period(w) { // it may have begun before what is searched
			least = "at least "
		}
		text := fmt.Sprintf("%s: again and again, %s%d times from here until the law breaks, every %s", w.told(&w.r.events[a.first-w.r.first]), least, a.times,
			scenarios.FormatDuration(a.period(w).Round(100*time.Microsecond)))
		for seq := a.last + 1; seq <= w.end; seq++ {
			if e := &w.r.events[seq-w.r.first]; e.parent == a.last && strings.Contains(e.line, ">"+a.who+" ") {
				text += "; at last with the answer: " + w.told(e)
				break
			}
		}
		w.addOf(a.first, w.at(a.first), w.nodeNamed(a.who), text, "event", w.end, 78-8*a.blamed(f)*2-6*n)
	}
}

func (w *walk) at(seq int64) time.Duration { return w.r.events[seq-w.r.first].at }

// period is the mean time between two of them.
func (a *again) period(w *walk) time.Duration {
	return (w.at(a.last) - w.at(a.first)) / time.Duration(a.times-1)
}

// blamed is 0 for one whom the failure names, else 1.
func (a *again) blamed(f *result.Failure) int {
	if f.Node == a.who || mentions(f.What, a.who) {
		return 0
	}
	return 1
}
