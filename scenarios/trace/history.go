package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// podKey names a pod of a cluster.
type podKey struct{ namespace, name string }

// deed is what a record says of a pod.
type deed uint8

const (
	// seen: it was there. Nothing else is known.
	seen deed = iota
	// placed: it exists since then at least, as a pod is bound or scheduled once.
	placed
	created
	deleted
)

// sighting is a record of a pod.
type sighting struct {
	at   time.Time
	pod  podKey
	deed deed
	// app is the workload that the pod belongs to; empty where the record does not tell.
	app         string
	hostNetwork bool
}

// life is a pod's, as far as records tell. Zero times are unknown.
type life struct {
	pod         podKey
	app         string
	begin, end  time.Time
	hostNetwork bool
	fromBinding bool
}

// history collects records of pods, of an audit log or of events, in any order.
type history struct {
	sightings []sighting
	// first and last are the times of any records, also of those that are about other objects.
	first, last time.Time
	records     int
	// otherStages counts records of requests' other stages, which say nothing more.
	otherStages int
	// dropped counts records that tell nothing, by why.
	dropped map[string]int
}

// record counts a record of a time, whatever it is about.
func (h *history) record(at time.Time) {
	h.records++
	if h.first.IsZero() || at.Before(h.first) {
		h.first = at
	}
	if at.After(h.last) {
		h.last = at
	}
}

// drop counts a record that tells nothing.
func (h *history) drop(why string) {
	if h.dropped == nil {
		h.dropped = map[string]int{}
	}
	h.dropped[why]++
}

// window is how long the records last.
func (h *history) window() time.Duration { return h.last.Sub(h.first) }

// lives are the pods', in the order of their first records. A name that comes again after its end is another pod.
func (h *history) lives() (list []*life, notes []string) {
	slices.SortStableFunc(h.sightings, func(a, b sighting) int { return a.at.Compare(b.at) })
	now := map[podKey]*life{}
	again := 0
	for _, s := range h.sightings {
		l := now[s.pod]
		if l == nil || s.deed == created && (!l.begin.IsZero() && !l.fromBinding || !l.end.IsZero()) || s.deed == placed && !l.end.IsZero() {
			if l != nil && l.end.IsZero() {
				l.end, again = s.at, again+1
			}
			l = &life{pod: s.pod}
			now[s.pod] = l
			list = append(list, l)
		}
		if s.app != "" {
			l.app = s.app
		}
		l.hostNetwork = l.hostNetwork || s.hostNetwork
		switch s.deed {
		case seen:
		case placed:
			if l.begin.IsZero() {
				l.begin, l.fromBinding = s.at, true
			}
		case created:
			l.begin, l.fromBinding = s.at, false
		case deleted: // the last one counts: the first begins a graceful end
			l.end = s.at
		}
	}
	if again > 0 {
		notes = append(notes, fmt.Sprintf("%d pods were created again though no record tells their end: it is taken to be then.", again))
	}
	return list, append(notes, h.notes()...)
}

// notes say which records were dropped and why.
func (h *history) notes() (list []string) {
	for _, why := range slices.Sorted(maps.Keys(h.dropped)) {
		list = append(list, fmt.Sprintf("Dropped: %d of %d records, %s.", h.dropped[why], h.records, why))
	}
	return list
}

// row is a life as a workload has it: times since the records' begin.
func (h *history) row(l *life) scenarios.WorkloadPod {
	row := scenarios.WorkloadPod{Create: scenarios.BeforeStart, Delete: scenarios.AfterEnd}
	if !l.begin.IsZero() {
		row.Create = max(0, l.begin.Sub(h.first)).Round(time.Millisecond)
	}
	if !l.end.IsZero() {
		row.Delete = max(0, row.Create, l.end.Sub(h.first).Round(time.Millisecond))
	}
	return row
}

// suffix is what Kubernetes generates names' ends of: no vowels, no letters that look like digits.
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789"

// appOf is the workload that a pod's name tells: without the random end, and without the hash before it that a Deployment's have.
func appOf(name string) string {
	cut := func(name string, least, most int) string {
		i := strings.LastIndexByte(name, '-')
		if end := name[i+1:]; i > 0 && len(end) >= least && len(end) <= most && strings.Trim(end, suffixLetters) == "" {
			return name[:i]
		}
		return name
	}
	short := cut(name, 5, 5)
	if short == name {
		if i := strings.LastIndexByte(name, '-'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
			return name[:i] // a StatefulSet's
		}
		return name
	}
	return cut(short, 6, 10)
}
