package cilium

import (
	"maps"
	"slices"
	"time"
)

// pendingTimeout is how long a request that found no address counts as demand (pkg/ipam/multipool.go, 1.14).
const pendingTimeout = 5 * time.Minute

// NeededIPCeil is the smallest multiple of preAlloc that leaves preAlloc addresses beyond numIP; numIP when preAlloc is 0.
func NeededIPCeil(numIP, preAlloc int) int {
	if preAlloc <= 0 {
		return numIP
	}
	return (numIP + 2*preAlloc - 1) / preAlloc * preAlloc
}

// needed is how many addresses of a pool and family the node needs in all.
func (m *MultiPool) needed(now time.Time, name string, f Family) int {
	p := m.pools[name]
	half := p.half[f.at()]
	if half == nil {
		return 0
	}
	pending := p.pending[f.at()]
	maps.DeleteFunc(pending, func(_ string, until time.Time) bool { return !now.Before(until) })
	return NeededIPCeil(int(half.Used())+len(pending), m.cfg.PreAllocate[name])
}

// NextExpiry is when the demand of a pending request ends next, the zero time when there is none.
func (m *MultiPool) NextExpiry() time.Time {
	var first time.Time
	for _, name := range slices.Sorted(maps.Keys(m.pools)) {
		for _, pending := range m.pools[name].pending {
			for _, owner := range slices.Sorted(maps.Keys(pending)) {
				if until := pending[owner]; first.IsZero() || until.Before(first) {
					first = until
				}
			}
		}
	}
	return first
}
