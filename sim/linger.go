package sim

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// lingerTime is longer than what a cluster without faults still owes takes: an ipamd that was throttled asks EC2 again within five
// minutes, and then gives back at intervals of half a minute.
const lingerTime = 8 * time.Minute

// warmTime is the part of it that a node gets to keep again what it should after its leases have changed, which they do at that time
// where a quarantine ended.
const warmTime = lingerTime - 2*time.Minute

// Linger implements scenarios.Lingerer.
func (w *World) Linger(ctx context.Context) (stirred bool, err error) {
	for _, m := range w.order {
		m.recordUntil = w.eng.Now() + lingerTime // each write is a fact
	}
	w.emit(scenarios.Fact{Kind: scenarios.FactQuiet})
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

// restLonger is said when the agent's own time has fallen behind by d. What had rested by then rests again as far as its journal still tells
// of the release, which nobody else knows.
func (m *machine) restLonger(d time.Duration) {
	if d <= 0 {
		return
	}
	for a := range m.rests { //vppdrill:unordered each by itself
		rested := m.rests[a] <= m.w.eng.Now()
		if m.rests[a] += m.clocks.truly(d); rested {
			m.restsUnsure = max(m.restsUnsure, m.rests[a])
		}
	}
}

// resting are the addresses that were released and rest still, in order. Those that have rested are kept in mind: a clock that is set back
// may have them rest again.
func (m *machine) resting() (list []netip.Addr) {
	for a, until := range m.rests { //vppdrill:unordered sorted below
		if until > m.w.eng.Now() {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}

// warm is what the node keeps for pods to come, nil where it may still be about to, or nobody knows what rests.
func (m *machine) warm(a *agent.Agent) []scenarios.Warm {
	// What the metadata service shows late is asked for, and given back, late.
	ample := warmTime + 2*m.w.s.Config.IPAM.Datastore.MetadataLag
	if now := m.w.eng.Now(); now-m.leasesAt < ample || now-m.restsUnsure < ample {
		return nil
	}
	taken := m.resting()
	for l := range a.Leases() {
		taken = append(taken, l.Addr)
	}
	return m.w.system.Warm(m.name, taken)
}
