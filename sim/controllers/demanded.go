package controllers

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// waitingPods are the pods of a node that found no address, and until when they count as demand (Cilium's pending-timeout of 5 min). It is counted here anew, so that
// the product is not judged by its own sums.
type waitingPods map[ipam.Owner]waitingPod

type waitingPod struct {
	pool  string
	until time.Time
}

// pendingTime is how long a pod that found no address counts.
const pendingTime = 5 * time.Minute

// in counts those of a pool, and forgets who has an address by now or has waited for too long.
func (w waitingPods) in(pool string, now time.Time, holds func(ipam.Owner) bool) (n int) {
	for o, x := range w { //vppdrill:unordered a count
		switch {
		case holds(o) || !now.Before(x.until):
			delete(w, o)
		case x.pool == pool:
			n++
		}
	}
	return n
}

// judge tells of a pool of which the node asks for more or fewer addresses than its pods and what its CIDRs keep call for.
func (r *requester) judge(needed []int) {
	several := len(r.system.env.Plan.Cilium.Pools) > 0
	in := func(block netip.Prefix, pool string) bool { return !several || r.system.poolOf(block) == pool }
	holds := func(o ipam.Owner) bool {
		for l := range r.alloc.Leases() {
			if l.Owner == o {
				return true
			}
		}
		return false
	}
	for i, d := range r.demands {
		if _, own := d.Demand.(*allocatorDemand); !own {
			continue
		}
		p := r.poolNamed(d.pool)
		pods := r.waiting.in(d.pool, r.system.env.now(), holds)
		for l := range r.alloc.Leases() {
			if in(l.Block, d.pool) {
				pods++
			}
		}
		want := 0
		if pods > 0 || p.PreAllocate > 0 || !several {
			for _, b := range r.alloc.Active() {
				if in(b.Prefix, d.pool) {
					pods += 2 // the router and the loopback of NAT
				}
			}
			want = wanted(pods, p.PreAllocate)
		}
		if needed[i] != want {
			r.system.env.needless(r.node, fmt.Sprintf("a request for %d addresses of pool %s", needed[i], d.pool), fmt.Sprintf("is made where its pods and what its CIDRs keep call for %d", want))
		}
	}
}

// poolNamed is a pool as the configuration has it.
func (r *requester) poolNamed(name string) scenarios.CiliumPool {
	list := r.system.pools()
	for _, p := range list {
		if p.Name == name {
			return p
		}
	}
	return list[0]
}
