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

// recordsOf describes the records about a subject that a node's agent wrote between its last answer for it and an
// event. late: the last record is not on disk yet, or there is none.
func (r *Recorder) recordsOf(node string, subjects []string, event int64) (text string, late bool) {
	since, born, disk, at := r.first, r.first, 0, int64(0)
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
		case fact.Answered:
			if shares(r.aboutFact(&x.fact), subjects) {
				since = x.event
			}
		}
	}
	for i := event - r.first; i >= 0 && disk == 0; i-- {
		line, ok := strings.CutPrefix(r.events[i].line, node+" synced ")
		if n, err := strconv.Atoi(line); ok && err == nil {
			disk, at = n, r.first+i
		}
	}
	var told []string
	last, wrote := 0, int64(0)
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
		last, wrote = n, d.event
		told = append(told, fmt.Sprintf("%d (%s, event %d)", n, r.named(what), d.event))
	}
	latest := strings.Join(told[max(0, len(told)-recordsMost):], ", ")
	switch {
	case last == 0:
		return "before this answer " + node + "'s agent wrote no record about it to its journal since event " +
			strconv.FormatInt(since, 10), true
	case wrote < born:
		return "this answer relies on records of the agent's previous process: " + latest, false
	case last > disk:
		return fmt.Sprintf("this answer does not wait for the journal: of records %s those up to %d are on disk", latest, disk), true
	}
	return fmt.Sprintf("this answer relies on records %s, on disk since event %d", latest, at), false
}

// shares reports whether two results of about share a pod or an address.
func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(t string) bool { return (t[0] == 'a' || t[0] == 'p') && slices.Contains(b, t) })
}
