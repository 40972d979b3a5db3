package cause

import (
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// keptMost is how many events a Recorder keeps at least; at twice as many the first half goes. A chain that leads back further than
// that many events explains nothing to a person.
const keptMost = 150_000

// Recorder keeps what a run does, for Chain. The zero Recorder is empty.
type Recorder struct {
	// first is the number of the first event kept.
	first  int64
	events []event
	facts  []told
	// decisions are what programs have decided and no event shows, in their order; saying is what each of them said last of its kind.
	decisions []decision
	saying    map[string]string
	// opening is what was done first in a run whose first events are not kept any more.
	opening []deed
	// precedent is what a run of the same scenario and seed did that broke no law, nil where none is known.
	precedent []deed
	// beside says what run that is.
	beside string
	// needed says without what nothing breaks, neededAt the event from which on that shows, 0 for none.
	needed   string
	neededAt int64
	// whole: long values are not left out now.
	whole bool
	pods  map[string]string // by the head of a container ID
	nodes map[string]bool
}

// event is one event of the run.
type event struct {
	at     time.Duration
	parent int64
	line   string
}

// told is a fact with the event during which it became true.
type told struct {
	event int64
	fact  fact.Fact
}

// decision is one of a program.
type decision struct {
	event     int64
	who, text string
}

// Decided takes what a node's program or a controller decides in the present event and no event shows, in words. What it says again is left
// out.
func (r *Recorder) Decided(who, text string) {
	kind, _, _ := strings.Cut(text, " ")
	if r.saying == nil {
		r.saying = map[string]string{}
	}
	if key := who + " " + kind; r.saying[key] == text {
		return
	} else {
		r.saying[key] = text
	}
	r.decisions = append(r.decisions, decision{r.first + int64(len(r.events)) - 1, who, text})
}

// Beside sets the run beside one of the same name that broke no law, if p has one.
func (r *Recorder) Beside(p *Precedents, name string) error {
	list, err := p.deeds(name)
	if err != nil {
		return err
	}
	r.precedent, r.beside = list, "the run of this scenario and seed that passed"
	return nil
}

// BesideRun sets the run beside another one that broke no law; words say which.
func (r *Recorder) BesideRun(other *Recorder, words string) {
	list := other.start(deedsMost)
	for i := range list {
		if d := &list[i]; d.told == "" && (d.inner || acts("life", d.text)) {
			d.told = other.tellDeed(d)
		}
	}
	r.precedent, r.beside = list, words
}

// Without takes what the same run does that broke no law without something; words say without what.
func (r *Recorder) Without(other *Recorder, words string) {
	here, there := r.start(deedsMost), other.start(deedsMost)
	if i := parting(here, there); i < len(here) {
		r.needed, r.neededAt = words, here[i].event
	}
}

// upTo is the last event up to a time.
func (r *Recorder) upTo(at time.Duration) int64 {
	i, _ := slices.BinarySearchFunc(r.events, at, func(e event, at time.Duration) int {
		if e.at <= at {
			return -1
		}
		return 1
	})
	return r.first + int64(max(i-1, 0))
}

// Event takes the next event: its number, time, the number of the event that scheduled it (0: none) and its line.
func (r *Recorder) Event(seq int64, at time.Duration, parent int64, line []byte) {
	if len(r.events) == 0 {
		r.first = seq
	}
	if len(r.events) >= 2*keptMost {
		if r.opening == nil {
			r.opening = r.start(deedsMost)
			for i := range r.opening {
				r.opening[i].told = r.tellDeed(&r.opening[i])
			}
		}
		r.events = append([]event(nil), r.events[keptMost:]...)
		r.first += keptMost
		old := 0
		for old < len(r.facts) && r.facts[old].event < r.first {
			old++
		}
		r.facts = append([]told(nil), r.facts[old:]...)
		old = 0
		for old < len(r.decisions) && r.decisions[old].event < r.first {
			old++
		}
		r.decisions = append([]decision(nil), r.decisions[old:]...)
	}
	r.events = append(r.events, event{at, parent, string(line)})
}

// Fact takes a fact that became true during the present event.
func (r *Recorder) Fact(f fact.Fact) {
	if r.pods == nil {
		r.pods, r.nodes = map[string]string{}, map[string]bool{}
	}
	if f.Node != "" {
		r.nodes[f.Node] = true
	}
	if s, ok := f.What.(fact.OfSandbox); ok {
		if o, pod := s.Sandbox(); pod != "" && o.ContainerID != "" {
			r.pods[head(o.ContainerID)] = pod
		}
	}
	switch x := f.What.(type) { // the world uses what they hold again
	case fact.Removed:
		removal := *x.Removal
		x.Removal = &removal
		f.What = x
	case fact.NodeBlocks:
		x.Blocks = slices.Clone(x.Blocks)
		f.What = x
	case fact.Assigned:
		x.Blocks = slices.Clone(x.Blocks)
		f.What = x
	}
	if _, say := words(r, &f); say {
		r.facts = append(r.facts, told{r.first + int64(len(r.events)) - 1, f})
	}
}

// head is how much of a container ID event lines show.
func head(container string) string { return container[:min(12, len(container))] }

// pod names a sandbox's pod, or the sandbox where nobody knows it.
func (r *Recorder) pod(container string) string {
	if p := r.pods[head(container)]; p != "" {
		return p
	}
	return "sandbox " + head(container)
}
