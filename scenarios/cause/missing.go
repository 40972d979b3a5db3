package cause

import (
	"cmp"
	_ "embed" // what runs that broke no law always did
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

//go:embed habits.txt
var habitsText string

// missing is a habit that a thread did not keep.
type missing struct {
	Habit
	thread *thread
	at     taken
	// like is another thread of the run that kept it, nil for none, with what it did.
	like    *thread
	did     taken
	example taken
	// withheld: what must come before it has not come either, so that it is a consequence.
	withheld bool
	// instead is what came behind Did in place of Other, of which a Next habit speaks.
	instead string
	// local: it is a habit of this run.
	local bool
}

// lookMost is how many events before the broken law are searched for what is missing.
const lookMost = 60_000

// keeps looks a habit up in a thread: the step that it is about (there is none where it does not apply) and the one that keeps it.
func (t *thread) keeps(h *Habit) (did, other int) {
	if h.Earlier {
		did, other = t.first(h.Did), t.first(h.Other)
		switch {
		case did < 0 || h.Both && other < 0:
			return -1, -1
		case other > did:
			return did, -1
		}
		return did, other
	}
	did = -1
	other = -1
	for i, s := range t.steps {
		switch {
		case s.text == h.Did:
			did, other = i, -1
		case s.text == h.Other && other < 0:
			other = i
		}
	}
	return did, other
}

// first is where a step was taken first, -1 for never.
func (t *thread) first(text string) int {
	return slices.IndexFunc(t.steps, func(s taken) bool { return s.text == text })
}

// local are the habits of the run itself: what all but few did. Lives of processes are too few for that.
func local(threads []*thread) map[string]map[string][]*Habit {
	var l Learner
	l.take(slices.DeleteFunc(slices.Clone(threads), func(t *thread) bool { return strings.HasSuffix(t.scope, " life") }))
	return byScope(l.Habits(4, 1, 0.75))
}

// habitsBy are the habits of runs that broke no law, by scope and by the step that was taken.
func habitsBy() map[string]map[string][]*Habit {
	habits, err := ReadHabits(habitsText)
	if err != nil {
		panic("cause: " + err.Error()) // the file is part of the program
	}
	return byScope(habits)
}

func byScope(habits []Habit) map[string]map[string][]*Habit {
	by := map[string]map[string][]*Habit{}
	for i := range habits {
		h := &habits[i]
		if by[h.Scope] == nil {
			by[h.Scope] = map[string][]*Habit{}
		}
		by[h.Scope][h.Did] = append(by[h.Scope][h.Did], h)
	}
	return by
}

// broken lists the habits that a thread did not keep, and counts those that it kept; cut: its beginning is not known.
func (t *thread) broken(by map[string][]*Habit, cut bool) (broken []missing, kept int) {
	here := map[string]bool{}
	for _, s := range t.steps {
		here[s.text] = true
	}
	for _, did := range slices.Sorted(maps.Keys(here)) {
		for _, h := range by[did] {
			if cut && h.Earlier || h.Next {
				continue
			}
			i, other := t.keeps(h)
			switch {
			case i < 0:
			case other >= 0:
				kept++
			case h.Earlier || t.steps[i].at+2*h.Within+haste <= t.end:
				broken = append(broken, missing{Habit: *h, thread: t, at: t.steps[i]})
			}
		}
	}
	for i := range broken {
		for _, h := range by[broken[i].Other] {
			broken[i].withheld = broken[i].withheld || h.Earlier && !h.Both && !here[h.Other]
		}
	}
	return broken, kept
}

// surprises are the own steps in a thread behind which another one comes than ever in runs that broke no law, or nothing.
func (t *thread) surprises(by map[string][]*Habit) (found []missing) {
	if by == nil {
		return nil
	}
	life := strings.HasSuffix(t.scope, " life")
	list := t.links()
	for i, s := range list[min(1, len(list)):] {
		if life && s.text != nothing {
			continue
		}
		if h, seen := next(by[list[i].text], s.text); h != nil && !seen {
			found = append(found, missing{Habit: *h, thread: t, at: s, instead: s.text})
		}
	}
	return found
}

// next is what comes next most often, nil where nothing is known, and whether a step is among what comes at least once in two hundred times.
func next(habits []*Habit, text string) (most *Habit, seen bool) {
	for _, h := range habits {
		if !h.Next {
			continue
		}
		if most == nil || h.Kept > most.Kept {
			most = h
		}
		seen = seen || h.Other == text && h.Kept*200 >= h.Seen
	}
	return most, seen
}

// haste is how much longer than ever before something may take until it counts as never done.
const haste = 100 * time.Millisecond

// Habits counts the habits that the run kept, and tells those that it did not.
func (r *Recorder) Habits() (kept int, broken []string) {
	if len(r.events) == 0 {
		return 0, nil
	}
	by := habitsBy()
	for _, t := range r.threads(r.first, r.first+int64(len(r.events))-1) {
		b, k := t.broken(by[t.scope], false)
		kept += k
		for i := range b {
			broken = append(broken, r.tellMissing(&b[i]))
		}
	}
	return kept, broken
}

// missing finds the habits that threads did not keep, each with another thread of the run that did, if there is one.
func (w *walk) missing(threads []*thread, cut bool) (found []missing) {
	by, here := habitsBy(), local(threads)
	for _, t := range threads {
		if by[t.scope] != nil {
			broken, _ := t.broken(by[t.scope], cut)
			found = append(found, broken...)
		}
		if here[t.scope] != nil {
			broken, _ := t.broken(here[t.scope], cut)
			for _, m := range broken {
				if !slices.ContainsFunc(found, func(f missing) bool { return f.thread == t && f.Other == m.Other && f.Did == m.Did }) {
					m.local = true
					found = append(found, m)
				}
			}
		}
	}
	for _, t := range threads {
		found = append(found, t.surprises(by[t.scope])...)
	}
	for i := range found {
		m := &found[i]
		if m.Next {
			continue
		}
		for _, t := range threads {
			if t == m.thread || t.scope != m.thread.scope {
				continue
			}
			if did, other := t.keeps(&m.Habit); did >= 0 && other >= 0 {
				m.like, m.did, m.example = t, t.steps[did], t.steps[other]
				if t.who == m.thread.who {
					break
				}
			}
		}
	}
	return found
}

// weigh is how much a missing step explains, 0 for nothing, and for whose sake.
func (w *walk) weigh(m *missing) (score int, leads int64) {
	depth, leads := depthMost+2, w.end
	subjects := []string{m.thread.subject}
	if m.thread.who != "" {
		subjects = append(subjects, "n:"+m.thread.who)
	}
	for i, s := range subjects {
		if x := w.wanted[s]; x != nil && s != "" {
			if d := x.depth + i; d < depth {
				depth, leads = d, x.leads
			}
		}
	}
	if m.thread.subject == "" && w.r.class(m.thread.who) != "node" {
		depth = min(depth, 1) // a controller works for all
	}
	if depth > depthMost+1 {
		return 0, 0
	}
	score = 66 - 9*depth
	if m.withheld {
		score -= 25
	}
	if m.local {
		score -= 4
	} else if m.Seen < 40 {
		score -= 8
	}
	switch {
	case m.instead == nothing && m.thread.subject == "":
		score += 6 // it stands still as a whole
	case !m.Next && m.Kept < m.Seen:
		score -= 8
	}
	if m.Next && (strings.Contains(m.at.text, "decides ") || strings.Contains(m.Did, "decides ")) {
		score -= 14 // what is decided comes in many orders
	}
	if m.like != nil {
		score += 4
	}
	return score, leads
}

// compare adds what others did otherwise: earlier, elsewhere in the run, or in runs that broke no law.
func (w *walk) compare(f *scenarios.Failure) {
	first := max(w.r.first, w.end-lookMost)
	threads := w.r.threads(first, w.end)
	w.omissions(threads, first > w.r.first)
	w.unusual(threads)
	w.cohort(threads)
	w.due(f.What)
}

// omissions adds what should have been done and was not.
func (w *walk) omissions(threads []*thread, cut bool) {
	type key struct {
		thread *thread
		other  string
	}
	best := map[key]int{}
	all := w.missing(threads, cut)
	var kept []missing
	for _, m := range all {
		k := key{m.thread, m.Other}
		if m.Next {
			k.other = "next " + m.at.text
		}
		if m.Earlier {
			k.other = "before " + m.Did // what was done too early, not what is missing
		}
		i, ok := best[k]
		if !ok {
			best[k] = len(kept)
			kept = append(kept, m)
			continue
		}
		if m.at.event > kept[i].at.event || m.at.event == kept[i].at.event && m.Seen > kept[i].Seen {
			kept[i] = m
		}
	}
	slices.SortStableFunc(kept, func(a, b missing) int { return cmp.Compare(b.at.event, a.at.event) }) // the last is the nearest to what broke
	for i := range kept {
		m := &kept[i]
		score, leads := w.weigh(m)
		score -= 7 * w.rank("missing "+m.thread.scope+m.Other)
		score -= 3 * w.rank("missing "+m.thread.subject+m.thread.who)
		if score <= 0 {
			continue
		}
		e := &w.r.events[m.at.event-w.r.first]
		kind := "missing"
		if m.instead != "" && m.instead != nothing {
			kind = "unusual"
		}
		w.addOf(m.at.event, e.at, w.nodeOf(m.thread), w.r.tellMissing(m), kind, leads, score)
	}
}

func (w *walk) nodeOf(t *thread) string {
	if w.r.class(t.who) == "node" {
		return t.who
	}
	return ""
}

// tellMissing puts it into words.
func (r *Recorder) tellMissing(m *missing) string {
	who := m.thread.who
	if who == "" {
		who = "the one whose turn it is"
	}
	done := r.tellStep(m.thread, m.Did)
	other := r.tellStep(m.thread, m.Other)
	about := ""
	if m.thread.subject != "" {
		about = " for " + m.thread.subject[2:]
	}
	var text string
	switch m.instead {
	case "":
	case nothing:
		return fmt.Sprintf("missing%s: nothing comes after %q, for %s; in %d of %d passing runs' cases %q comes then", about, done,
			(m.thread.end - m.at.at).Round(time.Millisecond), m.Kept, m.Seen, other)
	default:
		return fmt.Sprintf("unusual%s: %q comes right after %q, as in none of %d passing runs' cases; in %d of them %q comes then", about,
			r.tellStep(m.thread, m.instead), done, m.Seen, m.Kept, other)
	}
	if m.Earlier {
		text = fmt.Sprintf("too early%s: %q, and not before it %q", about, done, other)
	} else {
		text = fmt.Sprintf("missing%s: after %q nobody does %q", about, done, other)
		if m.thread.who != "" {
			text = fmt.Sprintf("missing%s: after %q %s never does %q", about, done, who, other)
		}
	}
	cases := "passing runs' cases"
	if m.local {
		cases = "cases in this run"
	}
	text += fmt.Sprintf(" (so in %d of %d %s", m.Kept, m.Seen, cases)
	if m.like != nil {
		name := m.like.who
		if m.like.subject != "" && m.like.subject != m.thread.subject {
			name = strings.TrimSpace(name + " for " + m.like.subject[2:])
		}
		way, by := "later", m.example.at-m.did.at
		if m.Earlier {
			way, by = "earlier", -by
		}
		if name != "" {
			text += fmt.Sprintf("; here %s does at event %d, %s %s", name, m.example.event, by.Round(100*time.Microsecond), way)
		}
	}
	return text + ")"
}

// tellStep puts a step into the words of lines.
func (r *Recorder) tellStep(t *thread, text string) string {
	who := t.who
	if t.scope == "pod" || t.scope == "node" {
		who, text, _ = strings.Cut(text, " ")
	}
	if f, ok := strings.CutPrefix(text, "fact "); ok {
		return strings.ReplaceAll(f, "@", who)
	}
	if d, ok := strings.CutPrefix(text, "decides "); ok {
		return r.tellDecision(&decision{who: who, text: d})
	}
	line := strings.ReplaceAll(text, "@", who)
	if told, _ := r.tellLine(line); told != "" {
		return told
	}
	return line
}
