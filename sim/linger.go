package sim

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// lingerTime is longer than what a cluster without faults still owes takes: an ipamd that was throttled asks EC2 again
// within five minutes, and then gives back at intervals of half a minute.
const lingerTime = 8 * time.Minute

// Linger implements result.Lingerer.
func (w *World) Linger(ctx context.Context) (stirred bool, err error) {
	for _, m := range w.order {
		m.recordUntil = w.eng.Now() + lingerTime // each write is a fact
	}
	w.emit(fact.Fact{What: fact.Quiet{}})
	before := w.stirs
	err = w.Advance(ctx, w.eng.Now()+lingerTime)
	w.lingered = true
	return w.stirs != before, err
}

// rest notes that an address was released.
func (m *machine) rest(a netip.Addr) {
	if d := m.w.rest(); d > 0 {
		m.rests[a] = m.w.eng.Now() + m.clocks.truly(d)
	}
}

// restLonger is said when the agent's own time has fallen behind by d. What had rested by then rests again as far as
// its journal still tells of the release, which nobody else knows.
func (m *machine) restLonger(d time.Duration) {
	if d <= 0 {
		return
	}
	for a := range m.rests { //vppdrill:unordered each by itself
		m.rests[a] += m.clocks.truly(d)
	}
}

// resting are the addresses that were released and rest still, in order. Those that have rested are kept in mind: a
// clock that is set back may have them rest again.
func (m *machine) resting() (list []netip.Addr) {
	for a, until := range m.rests { //vppdrill:unordered sorted below
		if until > m.w.eng.Now() {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}
