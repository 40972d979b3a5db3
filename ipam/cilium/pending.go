package cilium

import (
	"maps"
	"time"
)

// pendingTimeout is how long a request that found no address counts as demand (pkg/ipam/multipool.go, 1.14).
const pendingTimeout = 5 * time.Minute

// pending is requests that found no address, with the time until which each counts as demand.
type pending[K comparable] map[K]time.Time

// add lets a request count from now on; timeout 0 is pendingTimeout.
func (p *pending[K]) add(now time.Time, who K, timeout time.Duration) {
	if *p == nil {
		*p = make(pending[K])
	}
	if timeout == 0 {
		timeout = pendingTimeout
	}
	(*p)[who] = now.Add(timeout)
}

// count is how many requests count at now; the others are forgotten.
func (p pending[K]) count(now time.Time) int {
	maps.DeleteFunc(p, func(_ K, until time.Time) bool { return !now.Before(until) })
	return len(p)
}

// next is when the first request ends to count, the zero time when there is none.
func (p pending[K]) next() (first time.Time) {
	for _, until := range p { // in any order: it is a minimum
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

// NeededIPCeil is the smallest multiple of preAlloc that leaves preAlloc addresses beyond numIP; numIP when preAlloc is
// 0.
func NeededIPCeil(numIP, preAlloc int) int {
	if preAlloc <= 0 {
		return numIP
	}
	return (numIP + 2*preAlloc - 1) / preAlloc * preAlloc
}
