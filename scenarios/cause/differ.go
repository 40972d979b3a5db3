package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// leave adds how the run diverges from a passing run: the first difference, the actor's last step before it, the
// actor's next difference, and later steps that only one of the two runs has.
func (w *walk) leave(there []deed) {
	here := w.r.start(deedsMost)
	whole := len(here) < deedsMost
	if n := slices.IndexFunc(here, func(d deed) bool { return d.event > w.end }); n >= 0 {
		here, whole = here[:n], true
	}
	i := parting(here, there)
	switch {
	case i == len(here) && i > 0 && whole:
		d := &here[i-1]
		w.addOf(d.event, d.at, w.nodeNamed(d.actor), w.r.tellDeed(d)+": up to here this run equals "+w.r.beside+
			". Probably the fault is in this event, in what no line of the run shows",
			"unusual", w.end, 120)
	case i == len(there) && i > 0 && i < len(here) && i < deedsMost:
		d := &here[i]
		w.addOf(d.event, d.at, w.nodeNamed(d.actor),
			"up to here this run equals "+w.r.beside+", which ends here; this run goes on: "+w.r.tellDeed(d), "unusual", w.end, 120)
	}
	if i == len(here) || i == len(there) {
		return
	}
	a, b := &here[i], &there[i]
	text := "first difference from " + w.r.beside + ": in this run " + w.r.tellWhole(a)
	if a.actor == b.actor && a.text == b.text {
		text += "; in the other run " + w.others(b)
		w.births(w.r.tellDeed(a), a.event, 96)
	} else {
		text += "; in the other run " + w.tellThere(b) + w.sooner(a, b, here[i:], there[i:]) + w.lately(b, a.event)
	}
	w.addOf(a.event, a.at, w.nodeNamed(a.actor), text, "unusual", w.end, 120)
	for k := min(a.event, w.end) - w.r.first; k >= 0; k-- { // the last action of the timeline
		if e := &w.r.events[k]; strings.HasPrefix(e.line, "action ") {
			w.addOf(w.r.first+k, e.at, NodeOf(e.line), w.told(e), "action", a.event, 92)
			break
		}
	}
	for _, who := range slices.Compact([]string{b.actor, a.actor}) {
		w.lastStep(here[:i], who, a.event)
		w.parts(here[i:], there[i:], who, a.event)
	}
	w.gone(here[i:], there[i:], a.event)
	w.come(here[i:], there)
}

// others describes the same step with other names or numbers, where they are known.
func (w *walk) others(d *deed) string {
	if d.told != "" {
		return d.told
	}
	return "the same with other names or numbers"
}

// lately describes this run's last decision of the same kind by the actor of a decision in the other run.
func (w *walk) lately(d *deed, event int64) string {
	kind, decided := strings.CutPrefix(d.text, "decides ")
	if !decided {
		return ""
	}
	kind, _, _ = strings.Cut(kind, " ")
	for i := range slices.Backward(w.r.decisions) {
		x := &w.r.decisions[i]
		if had, _, _ := strings.Cut(x.text, " "); x.event < event && x.who == d.actor && had == kind {
			return fmt.Sprintf(" (in this run its last decision of that kind is at event %d: %s)", x.event, w.r.named(x.text))
		}
	}
	return ""
}

// sooner says when this run does what the other run does first.
func (w *walk) sooner(a, b *deed, here, there []deed) string {
	if slices.Contains(simulated, b.actor) || !owned("life", b.text) {
		return ""
	}
	if d := find(here, b); d != nil {
		if d.event == a.event {
			return ""
		}
		return fmt.Sprintf(", which this run does at event %d, %s later", d.event, (d.at - b.at).Round(100*time.Microsecond))
	}
	return ", which this run never does"
}

// find is the first of deeds that equals one of the other run.
func find(list []deed, x *deed) *deed {
	for i := range list {
		if d := &list[i]; d.actor == x.actor && d.text == x.text && d.mark == x.mark {
			return d
		}
	}
	return nil
}

// parts adds an actor's first own step that differs from the passing run, after the first difference.
func (w *walk) parts(here, there []deed, who string, first int64) {
	if slices.Contains(simulated, who) {
		return
	}
	a, b := deedsOf(here, who), deedsOf(there, who)
	i := 0
	for i < len(a) && i < len(b) && a[i].text == b[i].text && a[i].mark == b[i].mark {
		i++
	}
	switch {
	case i == len(a) && i == len(b):
	case i == len(a):
		d := b[i]
		since := d.at
		if i > 0 {
			since = max(since, a[i-1].at)
		}
		if end := w.r.events[w.end-w.r.first].at; since > end {
			return
		}
		at, when := w.place(since, first)
		w.addOf(at, when, w.nodeNamed(who), fmt.Sprintf(
			"missing: after this event %s takes no step in this run, apart from reads; its next one in the other run is (at %s) %s",
			who, scenarios.FormatDuration(d.at.Round(time.Microsecond)), w.tellThere(d)), "missing", w.end, 112)
	case a[i].event != first || i < len(b) && a[i].text != b[i].text:
		text := "next difference of " + who + ": in this run " + w.r.tellWhole(a[i])
		if i < len(b) && b[i].text != a[i].text {
			text += "; in the other run " + w.tellThere(b[i])
		} else if i < len(b) {
			text += "; in the other run " + w.others(b[i])
		} else {
			text += "; in the other run nothing more"
		}
		switch d := find(there, a[i]); {
		case d == nil && (i == len(b) || b[i].text != a[i].text):
			text += "; the other run never does this"
		case d != nil && (d.at-a[i].at).Abs() >= time.Millisecond:
			text += fmt.Sprintf("; the other run does this at %s", scenarios.FormatDuration(d.at))
		}
		w.addOf(a[i].event, a[i].at, w.nodeNamed(who), text, "unusual", w.end, 112)
	}
}

// deedsOf are an actor's own steps that events show.
func deedsOf(list []deed, who string) (out []*deed) {
	for i := range list {
		if d := &list[i]; d.actor == who && !d.inner && acts("life", d.text) {
			out = append(out, d)
		}
	}
	return out
}

// macPattern finds link addresses.
var macPattern = regexp.MustCompile(`\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b`)

// birthsMost is how many values of one text are followed to their first event.
const birthsMost = 3

// births adds the origin of values in a text: the first event, before a given one, whose line, facts or decisions show
// them. A run whose first events are no longer kept does not tell that.
func (w *walk) births(text string, before int64, score int) {
	if w.r.first > 1 {
		return
	}
	values := append(macPattern.FindAllString(text, -1), addressPattern.FindAllString(text, -1)...)
	seen := map[string]bool{}
	for _, v := range values {
		if seen[v] || len(seen) == birthsMost {
			continue
		}
		seen[v] = true
		at, what := w.birth(v, before)
		if at > 0 {
			e := &w.r.events[at-w.r.first]
			w.addOf(at, e.at, NodeOf(e.line), v+" is first seen here: "+what, "event", before, score-4*len(seen))
		}
	}
}

// birth is the first event before a given one that shows a value, and what shows it there; 0 if none does.
func (w *walk) birth(v string, before int64) (at int64, what string) {
	at = before
	for i := range w.r.events[:max(before-w.r.first, 0)] {
		if e := &w.r.events[i]; mentions(e.line, v) {
			at, what = w.r.first+int64(i), w.told(e)
			break
		}
	}
	for i := range w.r.facts {
		x := &w.r.facts[i]
		if x.event >= at {
			break
		}
		if text, _ := words(w.r, &x.fact); mentions(text, v) {
			at, what = x.event, text
			break
		}
	}
	for i := range w.r.decisions {
		d := &w.r.decisions[i]
		if d.event >= at {
			break
		}
		if mentions(d.text, v) {
			at, what = d.event, w.r.tellDecision(d)
			break
		}
	}
	if at == before {
		return 0, ""
	}
	return at, what
}

// parting is the index of the first difference between two runs.
func parting(here, there []deed) (i int) {
	for i < len(here) && i < len(there) && here[i].actor == there[i].actor && here[i].text == there[i].text &&
		here[i].mark == there[i].mark {
		i++
	}
	return i
}

// decided adds decisions of wanted programs: what the law says that they wait for, and since when; what they logged;
// what they wrote about subjects of the law.
func (w *walk) decided(f *result.Failure) {
	for i := range slices.Backward(w.r.decisions) {
		d := &w.r.decisions[i]
		if d.event > w.end || d.event < w.r.first {
			continue
		}
		kind, what, _ := strings.Cut(d.text, " ")
		e := &w.r.events[d.event-w.r.first]
		near, _ := w.nearest(w.r.about(d.who, d.text), "apbi")
		score, text := 0, w.r.tellDecision(d)
		switch {
		case kind == "waits:" && len(what) > 8 && strings.Contains(f.What, strings.TrimSuffix(what, " ")):
			if w.rank("waits "+d.who) > 0 {
				continue
			}
			score, text = 68-4*w.rank("waits"), text+", and waits until the law breaks; at that moment "+w.told(e)
		case near != nil && (kind == "says:" || kind == "writes"):
			score = 40 - 8*near.depth - 6*w.rank(kind+" near")
		case kind == "says:" && strings.HasPrefix(what, "no node ID yet") || d.text == "lacks: nothing":
			continue // as in every start
		case kind == "says:" && w.nearness(d.who) <= depthMost:
			score = 44 - 8*w.nearness(d.who) - 5*w.rank("says")
		case kind == "wants" || kind == "has" || kind == "gives" || kind == "lacks:":
			if w.nearness(d.who) > 1 || w.rank(d.who+" "+kind) > 0 {
				continue // the last decision counts
			}
			score = 40 - 6*w.rank("holds")
		}
		if score > 0 {
			w.addOf(d.event, e.at, w.nodeNamed(d.who), text, "event", w.end, score)
		}
	}
}

// told describes an event.
func (w *walk) told(e *event) string {
	if text, _ := w.r.tellLine(e.line); text != "" {
		return text
	}
	return e.line
}

// lastStep adds an actor's last step or input before an event.
func (w *walk) lastStep(here []deed, who string, event int64) {
	for _, d := range slices.Backward(here) {
		if d.actor != who || d.inner || d.event == event || strings.HasPrefix(d.text, "@ wake") {
			continue
		}
		w.addOf(d.event, d.at, w.nodeNamed(who), w.r.tellDeed(&d)+": up to here both runs are equal", "event", event, 118)
		return
	}
}

// goneMost and comeMost are how many differences after the first are reported.
const (
	goneMost = 2
	comeMost = 1
)

// own is an actor's own step.
type own struct{ actor, text string }

// gone adds steps that the passing run does after the first difference, before the time of the broken law, and this run
// never does.
func (w *walk) gone(here, there []deed, first int64) {
	did := map[own]bool{}
	for _, d := range here {
		did[own{d.actor, d.text}] = true
	}
	end := w.r.events[w.end-w.r.first].at
	times := map[own]int{}
	var order []*deed
	for i := range there {
		d := &there[i]
		k := own{d.actor, d.text}
		if d.at > end || did[k] || slices.Contains(simulated, d.actor) || !acts("life", d.text) {
			continue
		}
		if times[k]++; times[k] == 1 {
			order = append(order, d)
		}
	}
	slices.SortStableFunc(order, func(a, b *deed) int { return w.nearness(a.actor) - w.nearness(b.actor) })
	for n, d := range order[:min(len(order), goneMost)] {
		text := fmt.Sprintf("missing: %s; from here on the other run takes such a step %s, first at %s, and this run not once",
			w.tellThere(d), noun.Count(times[own{d.actor, d.text}], "time"), scenarios.FormatDuration(d.at.Round(time.Microsecond)))
		at, when := w.place(d.at, first)
		w.addOf(at, when, w.nodeNamed(d.actor), text, "missing", w.end, 50-8*n)
	}
}

// come adds steps that this run does after the first difference and the passing run never does.
func (w *walk) come(here, there []deed) {
	did := map[own]bool{}
	for _, d := range there {
		did[own{d.actor, d.text}] = true
	}
	n := 0
	for i := range here {
		d := &here[i]
		k := own{d.actor, d.text}
		if did[k] || slices.Contains(simulated, d.actor) || !acts("life", d.text) || n == comeMost {
			continue
		}
		did[k] = true
		n++
		w.addOf(d.event, d.at, w.nodeNamed(d.actor), "such a step the other run never takes: "+w.r.tellDeed(d), "unusual", w.end,
			42)
	}
}

// place is the last event up to a time, or the first difference if the time is before the kept events.
func (w *walk) place(at time.Duration, first int64) (event int64, when time.Duration) {
	if at < w.r.events[0].at {
		return first, at
	}
	event = w.r.upTo(at)
	return event, w.r.events[event-w.r.first].at
}

// nearness is the distance between an actor and the subjects of the law.
func (w *walk) nearness(actor string) int {
	if x := w.wanted["n:"+actor]; x != nil {
		return x.depth
	}
	if w.r.class(actor) != "node" {
		return 1
	}
	return depthMost + 1
}

func (w *walk) nodeNamed(actor string) string {
	if w.r.class(actor) == "node" {
		return actor
	}
	return ""
}

// tellDeed describes a step of this run, tellThere one of the passing run, whose names and numbers are unknown.
func (r *Recorder) tellDeed(d *deed) string {
	if d.told != "" {
		return d.told
	}
	line := r.events[d.event-r.first].line
	if text, _ := r.tellLine(line); text != "" {
		return text
	}
	return line
}

// tellWhole is tellDeed with long values.
func (r *Recorder) tellWhole(d *deed) string {
	r.whole = true
	defer func() { r.whole = false }()
	return r.tellDeed(d)
}

func (w *walk) tellThere(d *deed) string {
	if d.told != "" {
		return d.told
	}
	return w.r.tellStep(&thread{who: d.actor}, d.text)
}
