package result

import (
	"cmp"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// lives tracks pods: which got a node and an address, how long each waited for them, and why the others never got one.
// A pod is identified by its UID: another UID with the same name is another pod. Facts may come in any order: all
// figures are computed at the end.
type lives struct {
	byUID map[string]*life
	// open counts waiting pods.
	open int64
}

// never is the time of an event that has not happened.
const never time.Duration = -1

// life holds the first time of each event of one pod.
type life struct {
	created, bound, refused, answered, deleted time.Duration
	// full is the start of its current wait for an address, on node; waits are past waits. A pod waits again when its
	// sandbox was replaced.
	full           time.Duration
	node           string
	waited         bool
	waits, longest time.Duration
}

// ranOut is a node's shortage.
type ranOut struct {
	first time.Duration
	pods  int64
}

func newLives() lives { return lives{byUID: map[string]*life{}} }

func (v *lives) of(uid string) *life {
	l := v.byUID[uid]
	if l == nil {
		l = &life{created: never, bound: never, refused: never, answered: never, deleted: never, full: never}
		v.byUID[uid] = l
	}
	return l
}

// mark keeps the first time.
func mark(at *time.Duration, now time.Duration) {
	if *at == never || now < *at {
		*at = now
	}
}

// pod records changes of a pod's API object.
func (v *lives) pod(at time.Duration, x fact.PodChanged) {
	l := v.of(x.PodUID)
	switch x.Change {
	case fact.PodCreated:
		mark(&l.created, at)
	case fact.PodBound:
		mark(&l.bound, at)
	case fact.PodDeleted:
		mark(&l.deleted, at)
		v.ended(l, at)
	}
}

func (v *lives) answered(at time.Duration, podUID string) {
	l := v.of(podUID)
	mark(&l.answered, at)
	v.ended(l, at)
}

// ended ends a wait.
func (v *lives) ended(l *life, at time.Duration) {
	if l.full != never {
		v.open--
	}
	l.waitUntil(at)
}

// waitUntil ends a wait.
func (l *life) waitUntil(at time.Duration) {
	if l.full == never {
		return
	}
	wait := max(0, at-l.full)
	l.waits, l.longest, l.full = l.waits+wait, max(l.longest, wait), never
}

func (v *lives) refused(t *tally, f *fact.Fact, x fact.Refused) {
	l := v.of(x.PodUID)
	mark(&l.refused, f.At)
	if !x.Exhausted || l.full != never || l.deleted != never {
		return
	}
	l.full, l.node, l.waited = f.At, f.Node, true
	v.open++
	n := t.node(f.Node)
	if n.ranOut == nil {
		n.ranOut = &ranOut{first: f.At}
	}
	n.ranOut.pods++
}

// gone is the time of the pod's deletion, or of the run's end.
func (l *life) gone(now time.Duration) time.Duration {
	if l.deleted != never {
		return l.deleted
	}
	return now
}

// sum adds the pods' figures to a summary.
func (v *lives) sum(out *Summary, nodes map[string]*tallied, now time.Duration) {
	var starts []time.Duration
	var total, longest time.Duration
	waits := map[string]time.Duration{} // by node
	for _, l := range v.byUID {         //vppdrill:unordered sums and counts; starts are sorted
		if l.created != never {
			out.PodsCreated++
			starts = append(starts, l.start(now))
		}
		if l.waited {
			out.PodsWaited++
			whole := *l
			whole.waitUntil(l.gone(now))
			total, longest = total+whole.waits, max(longest, whole.longest)
			waits[l.node] += whole.waits
		}
		switch l.fate() {
		case placed:
			continue
		case unscheduled:
			out.PodsUnscheduled++
		case neverAnswered:
			out.PodsNeverAnswered++
		case waiting:
			out.PodsWaiting++
		case refusedPods:
			out.PodsRefused++
		}
		out.PodsNeverPlaced++
	}
	out.LongestWaitSeconds, out.TotalWaitSeconds = longest.Seconds(), total.Seconds()
	slices.Sort(starts)
	out.StartP50Seconds, out.StartP99Seconds = quantile(starts, 50), quantile(starts, 99)
	for name, n := range nodes { //vppdrill:unordered sorted below
		if r := n.ranOut; r != nil {
			out.Exhausted = append(out.Exhausted, RanOut{Node: name, AtSeconds: r.first.Seconds(), PodsWaited: r.pods,
				WaitSeconds: waits[name].Seconds()})
		}
	}
	slices.SortFunc(out.Exhausted, func(a, b RanOut) int {
		return cmp.Or(cmp.Compare(a.AtSeconds, b.AtSeconds), cmp.Compare(a.Node, b.Node))
	})
}

// fate is why the pod never got an address, if so.
func (l *life) fate() fate {
	switch {
	case l.answered != never:
		return placed
	case l.created != never && l.bound == never && l.refused == never:
		return unscheduled
	case l.refused == never:
		return neverAnswered
	case l.waited && l.deleted == never:
		return waiting
	}
	return refusedPods
}

// quantiles are quantiles of the times from pods' creation to their address, at Quantiles; nil without pods.
func (v *lives) quantiles(now time.Duration) (out []float64) {
	var starts []time.Duration
	for _, l := range v.byUID { //vppdrill:unordered starts are sorted
		if l.created != never {
			starts = append(starts, l.start(now))
		}
	}
	if len(starts) == 0 {
		return nil
	}
	slices.Sort(starts)
	for _, q := range Quantiles() {
		out = append(out, quantile(starts, q))
	}
	return out
}

// start is the time from a pod's creation to its address, or to its deletion or the run's end if it never got one.
func (l *life) start(now time.Duration) time.Duration {
	until := l.answered
	if until == never {
		until = l.gone(now)
	}
	return max(0, until-l.created)
}

// quantile is the smallest of sorted times that is at least as long as percent of them, in seconds, or 0 without any.
func quantile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Seconds()
}
