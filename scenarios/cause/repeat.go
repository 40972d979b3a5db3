package cause

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

const (
	// againMost is how many repeated steps are reported, and againLeast how often a step must repeat for that.
	againMost, againLeast = 3, 5
)

// again is a repeated step of one actor.
type again struct {
	who         string
	first, last int64
	times       int
}

// repeats adds actors that repeat one step from the timeline's last action until the law breaks: why a cluster does not
// converge.
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
		key := x.actor + " " + unnumbered(line)
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
		// it may have begun before the searched events
		if w.unseen > 0 || from > 1 && w.at(a.first)-w.at(from) <= a.period(w) {
			least = "at least "
		}
		text := fmt.Sprintf("%s: repeated %s%d times from here until the law breaks, on average every %s",
			w.told(&event{line: unnumbered(w.r.events[a.first-w.r.first].line)}), least, a.times,
			scenarios.FormatDuration(a.period(w).Round(100*time.Microsecond)))
		for seq := a.last + 1; seq <= w.end; seq++ {
			if e := &w.r.events[seq-w.r.first]; e.parent == a.last && strings.Contains(e.line, ">"+a.who+" ") {
				text += "; the last answer: " + w.told(e)
				break
			}
		}
		w.addOf(a.first, w.at(a.first), w.nodeNamed(a.who), text, "event", w.end, 78-8*a.blamed(f)*2-6*n)
	}
}

// requestPattern finds what numbers requests, versions and revisions, which differ from one repeat to the next.
var requestPattern = regexp.MustCompile(`request=[0-9]+|#[0-9]+|\b(?:after|at|rv|version=)[ ]?[0-9]+(?:\.\.[0-9]+)?`)

// unnumbered is a line without such numbers.
func unnumbered(line string) string {
	return strings.Join(strings.Fields(requestPattern.ReplaceAllString(line, "")), " ")
}

func (w *walk) at(seq int64) time.Duration { return w.r.events[seq-w.r.first].at }

// period is the mean time between repeats.
func (a *again) period(w *walk) time.Duration {
	return (w.at(a.last) - w.at(a.first)) / time.Duration(a.times-1)
}

// blamed is 0 for an actor that the failure names, else 1.
func (a *again) blamed(f *result.Failure) int {
	if f.Node == a.who || mentions(f.What, a.who) {
		return 0
	}
	return 1
}
