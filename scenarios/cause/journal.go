package cause

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// answersMost is how many answers are reported with the journal records that they rely on.
const answersMost = 2

// recordsMost is how many records of one answer are reported.
const recordsMost = 3

// answers reports whether a request succeeded.
func answers(w fact.What) bool {
	switch w.(type) {
	case fact.Answered, fact.Deleted:
		return true
	}
	return false
}

// saved adds the journal records about subjects of the law at a node's answer, and how many of them were on disk.
func (w *walk) saved(failure *result.Failure) {
	for i := range slices.Backward(w.r.facts) {
		x := &w.r.facts[i]
		f := &x.fact
		if x.event > w.end || f.Node == "" || !answers(f.What) {
			continue
		}
		subjects := w.r.aboutFact(f)
		if near, _ := w.nearest(subjects, "ap"); near == nil || near.depth > 0 {
			continue
		}
		if w.rank("answer") == answersMost {
			return
		}
		text, late := w.r.recordsOf(f.Node, subjects, x.event)
		score := 46
		if late || strings.Contains(failure.What, "journal") || strings.Contains(failure.What, "disk") {
			score = 74
		}
		w.addOf(x.event, w.r.events[x.event-w.r.first].at, f.Node, text, "event", w.end, score-6*w.rank("saved"))
	}
}

// recordsOf describes the records about a pod that a node's agent wrote between its last answer for it and an event, and
// what the disk had reported by then. late: the last record is not reported as written, or there is none.
func (r *Recorder) recordsOf(node string, subjects []string, event int64) (text string, late bool) {
	since, born := r.first, r.first
	for i := range r.facts {
		x := &r.facts[i]
		if x.event >= event {
			break
		}
		if x.fact.Node != node {
			continue
		}
		switch x.fact.What.(type) {
		case fact.AgentUp:
			born = x.event
		case fact.Answered, fact.Deleted:
			if shares(r.aboutFact(&x.fact), subjects) {
				since = x.event
			}
		}
	}
	type written struct {
		number int
		event  int64
		what   []string
	}
	var told []written
	for i := range r.decisions {
		d := &r.decisions[i]
		rest, ok := strings.CutPrefix(d.text, "writes record ")
		if !ok || d.who != node || d.event < since || d.event > event || !shares(r.about(node, d.text), subjects) {
			continue
		}
		number, what, _ := strings.Cut(rest, " to its journal: ")
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		if last := len(told) - 1; last >= 0 && told[last].number == n && told[last].event == d.event {
			told[last].what = append(told[last].what, r.record(what)) // one write of several lines
			continue
		}
		told = append(told, written{n, d.event, []string{r.record(what)}})
	}
	if len(told) == 0 {
		return fmt.Sprintf("%s's agent has written no record about it to its journal since event %d", node, since), true
	}
	last := told[len(told)-1]
	var latest []string
	for _, x := range told[max(0, len(told)-recordsMost):] {
		latest = append(latest, fmt.Sprintf("%d (%s, event %d)", x.number, strings.Join(x.what, ", "), x.event))
	}
	list := strings.Join(latest, ", ")
	if last.event < born {
		return "this answer relies on records of the agent's previous process: " + list, false
	}
	disk := 0
	for seq := last.event; seq <= event; seq++ {
		number, ok := strings.CutPrefix(r.events[seq-r.first].line, node+" synced ")
		if n, err := strconv.Atoi(number); ok && err == nil {
			if disk = n; n >= last.number {
				return fmt.Sprintf("this answer relies on records %s, reported to be on disk at event %d", list, seq), false
			}
		}
	}
	text = "this answer does not wait for the journal: records " + list + ", of which the disk has not reported record " +
		strconv.Itoa(last.number)
	if disk > 0 {
		text += ", only those up to " + strconv.Itoa(disk)
	}
	return text, true
}

// shares reports whether two results of about share a pod.
func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(t string) bool { return t[0] == 'p' && slices.Contains(b, t) })
}
