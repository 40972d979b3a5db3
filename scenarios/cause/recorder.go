package cause

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// keptMost is how many events a Recorder keeps at least; at twice as many the first half goes. A chain that leads back further than
// half a million events explains nothing to a person.
const keptMost = 500_000

// Recorder keeps what a run does, for Chain. The zero Recorder is empty.
type Recorder struct {
	// first is the number of the first event kept.
	first  int64
	events []event
	facts  []told
	pods   map[string]string // by the head of a container ID
	nodes  map[string]bool
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
	fact  scenarios.Fact
}

// Event takes the next event: its number, time, the number of the event that scheduled it (0: none) and its line.
func (r *Recorder) Event(seq int64, at time.Duration, parent int64, line []byte) {
	if len(r.events) == 0 {
		r.first = seq
	}
	if len(r.events) >= 2*keptMost {
		r.events = append([]event(nil), r.events[keptMost:]...)
		r.first += keptMost
		old := 0
		for old < len(r.facts) && r.facts[old].event < r.first {
			old++
		}
		r.facts = append([]told(nil), r.facts[old:]...)
	}
	r.events = append(r.events, event{at, parent, string(line)})
}

// Fact takes a fact that became true during the present event. What it points to is kept as it is told.
func (r *Recorder) Fact(f scenarios.Fact) {
	if r.pods == nil {
		r.pods, r.nodes = map[string]string{}, map[string]bool{}
	}
	if f.Node != "" {
		r.nodes[f.Node] = true
	}
	if f.Pod != "" && f.Owner.ContainerID != "" {
		r.pods[head(f.Owner.ContainerID)] = f.Pod
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
