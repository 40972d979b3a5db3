package cilium

import (
	"maps"
	"slices"
	"time"
)

// needed is how many addresses of a pool and family the node needs in all.
func (m *MultiPool) needed(now time.Time, name string, f Family) int {
	p := m.pools[name]
	half := p.half[f.at()]
	if half == nil {
		return 0
	}
	return NeededIPCeil(int(half.Used())+p.pending[f.at()].count(now), m.cfg.PreAllocate[name])
}

// NextExpiry is when the demand of a pending request ends next, the zero time when there is none.
func (m *MultiPool) NextExpiry() time.Time {
	var first time.Time
	for _, name := range slices.Sorted(maps.Keys(m.pools)) {
		for _, pending := range m.pools[name].pending {
			if until := pending.next(); first.IsZero() || !until.IsZero() && until.Before(first) {
				first = until
			}
		}
	}
	return first
}
