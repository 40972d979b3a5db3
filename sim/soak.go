package sim

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// soakTime is longer than what a cluster without faults still owes takes: an ipamd that was throttled asks EC2 again
// within five minutes, and then gives back at intervals of half a minute.
const soakTime = 8 * time.Minute

// Soak lets time pass after the end of a run, for package result.
func (w *World) Soak(ctx context.Context) (stirred bool, err error) {
	for _, m := range w.order {
		m.recordUntil = w.eng.Now() + soakTime // each write is a fact
	}
	w.emit(fact.Fact{What: fact.Quiet{}})
	before := w.stirs
	err = w.Advance(ctx, w.eng.Now()+soakTime)
	w.soaked = true
	return w.stirs != before, err
}

// rest notes that an address was released.
func (m *machine) rest(a netip.Addr) {
	if d := m.w.rest(); d > 0 {
		m.rests[a] = m.w.eng.Now() + m.clocks.truly(d)
	}
}

// restLonger is called when the agent's own time has fallen behind by d. Addresses that had cooled down by then cool
// again if the agent's journal still holds the release, which nothing else knows.
func (m *machine) restLonger(d time.Duration) {
	if d <= 0 {
		return
	}
	for a := range m.rests { //vppdrill:unordered each by itself
		m.rests[a] += m.clocks.truly(d)
	}
}

// resting are the released addresses that still cool, in order. Those that have cooled are remembered: a clock that is
// set back may make them cool again.
func (m *machine) resting() (list []netip.Addr) {
	for a, until := range m.rests { //vppdrill:unordered sorted below
		if until > m.w.eng.Now() {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}
