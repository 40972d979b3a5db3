package cause

import (
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// keptMost is how many events a Recorder keeps at least; at twice as many the first half goes. A longer chain explains
// nothing to a person.
const keptMost = 150_000

// Recorder keeps a run's events and facts for Chain. The zero Recorder is empty.
type Recorder struct {
	// first is the number of the first event kept.
	first  int64
	events []event
	facts  []told
	// decisions are programs' decisions that no event shows, in order; saying is each program's last one of each kind.
	decisions []decision
	saying    map[string]string
	// opening holds the first steps of a run whose first events are no longer kept.
	opening []deed
	// precedent holds the steps of a passing run of the same scenario and seed, or nil.
	precedent []deed
	// beside describes that run.
	beside string
	// needed says which removed step makes the run pass; neededAt is its event, or the first that differs then, or 0.
	needed   string
	neededAt int64
	// whole: long values are not shortened now.
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

// told is a fact with its event.
type told struct {
	event int64
	fact  fact.Fact
}

// decision is a decision of one program.
type decision struct {
	event     int64
	who, text string
}

// Decided records a decision of a node's program or a controller in the current event, as text. Repeats are left out.
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

// Beside compares the run with a passing one of the same name, if p has one.
func (r *Recorder) Beside(p *Precedents, name string) error {
	list, err := p.deeds(name)
	if err != nil {
		return err
	}
	r.precedent, r.beside = list, "the passing run of this scenario and seed"
	return nil
}

// BesideRun compares the run with another passing one; words describe that one.
func (r *Recorder) BesideRun(other *Recorder, words string) {
	list := other.start(deedsMost)
	for i := range list {
		if d := &list[i]; d.told == "" && (d.inner || acts("life", d.text)) {
			d.told = other.tellDeed(d)
		}
	}
	r.precedent, r.beside = list, words
}

// Without records the steps of the same run, passing without one step of the timeline; words say without what, and
// action is that step as event lines have it.
func (r *Recorder) Without(other *Recorder, words, action string) {
	here, there := r.start(deedsMost), other.start(deedsMost)
	if i := parting(here, there); i < len(here) {
		r.needed, r.neededAt = words, here[i].event
		for k := max(here[i].event-r.first, 0); k < int64(len(r.events)); k++ {
			if r.events[k].line == "action "+action {
				r.neededAt = r.first + k
				break
			}
		}
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

// Event records the next event: its number, time, the number of the event that scheduled it (0: none) and its line.
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

// Fact records a fact of the current event.
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
	switch x := f.What.(type) { // the world reuses their memory
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
		r.facts = append(r.facts, told{r.present(f.At), f})
	}
}

// present is the number of the event that happens at a time: the last one, or the next where the time has moved on. A
// world does what its timeline asks before it writes the event of it.
func (r *Recorder) present(at time.Duration) int64 {
	last := r.first + int64(len(r.events)) - 1
	if len(r.events) > 0 && at > r.events[len(r.events)-1].at {
		return last + 1
	}
	return last
}

// head is the part of a container ID that event lines show.
func head(container string) string { return container[:min(12, len(container))] }

// pod names a sandbox's pod, or the sandbox if its pod is unknown.
func (r *Recorder) pod(container string) string {
	if p := r.pods[head(container)]; p != "" {
		return p
	}
	return "sandbox " + head(container)
}
