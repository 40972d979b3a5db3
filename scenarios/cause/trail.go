package cause

import (
	"hash/fnv"
	"time"
)

// deed is one step of an actor: an event, a fact of it, or a decision in it.
type deed struct {
	step
	event int64
	at    time.Duration
	// mark distinguishes own steps with different names or numbers (a hash, so with rare collisions).
	mark byte
	// inner: it is a fact or a decision of the event, described by told; an event's line describes itself.
	inner bool
	told  string
}

// trail lists all steps in the events from first to last, in order.
func (r *Recorder) trail(first, last int64) (list []deed) {
	facts, decisions := 0, 0
	for facts < len(r.facts) && r.facts[facts].event < first {
		facts++
	}
	for decisions < len(r.decisions) && r.decisions[decisions].event < first {
		decisions++
	}
	for seq := first; seq <= last; seq++ {
		e := &r.events[seq-r.first]
		x := r.stepOf(e.line)
		d := deed{step: x, event: seq, at: e.at}
		if acts("life", x.text) { // others follow from an actor's steps
			d.mark = markOf(e.line)
		}
		list = append(list, d)
		for ; facts < len(r.facts) && r.facts[facts].event == seq; facts++ {
			f := &r.facts[facts].fact
			if x := r.stepOfFact(f); x.text != "" {
				text, _ := words(r, f)
				list = append(list, deed{x, seq, e.at, markOf(text), true, text})
			}
		}
		for ; decisions < len(r.decisions) && r.decisions[decisions].event == seq; decisions++ {
			d := &r.decisions[decisions]
			list = append(list, deed{stepOfDecision(d), seq, e.at, markOf(d.text), true, r.tellDecision(d)})
		}
	}
	return list
}

// start lists the run's first steps, up to a number and to the last event.
func (r *Recorder) start(most int) []deed {
	if r.opening != nil {
		return r.opening
	}
	list := r.trail(r.first, r.first+int64(min(most, len(r.events)))-1)
	return list[:min(most, len(list))]
}

func markOf(text string) byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return byte(h.Sum32())
}

// stepOfDecision is the step of a decision.
func stepOfDecision(d *decision) step { return made(d.who, "decides ", d.text) }

// tellDecision describes a decision.
func (r *Recorder) tellDecision(d *decision) string {
	who := d.who
	if r.class(who) == "node" {
		who += "'s agent"
	}
	return who + " " + r.named(d.text)
}
