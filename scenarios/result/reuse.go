package result

import (
	"net/netip"
	"time"
)

// reuse finds the shortest time between an address's release and its next lease, and the fewest leases.
type reuse struct {
	freed  map[netip.Addr]freed
	leases int64
}

// freed is an address's release: its time, and the number of leases before it.
type freed struct {
	at     time.Duration
	leases int64
}

func newReuse() reuse { return reuse{freed: map[netip.Addr]freed{}} }

func (r *reuse) released(at time.Duration, a netip.Addr) { r.freed[a] = freed{at, r.leases} }

func (r *reuse) leased(out *Summary, at time.Duration, a netip.Addr) {
	r.leases++
	was, ok := r.freed[a]
	if !ok {
		return
	}
	delete(r.freed, a)
	out.Reused++
	if gap := (at - was.at).Seconds(); out.ShortestReuseSeconds < 0 || gap < out.ShortestReuseSeconds {
		out.ShortestReuseSeconds = gap
	}
	if n := r.leases - was.leases; out.ShortestReuseLeases < 0 || n < out.ShortestReuseLeases {
		out.ShortestReuseLeases = n
	}
}
