package controllers

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// noteUsed notes which addresses a node's pods have by what the operator has been told.
func (o *crdOperator) noteUsed(n *cilium.CiliumNode) {
	for ip := range n.Status.IPAM.Used { //vppdrill:unordered each is noted by itself
		o.usedAt[ip] = o.env.Clock.Now()
	}
}

// judgeMarks tells of an address that the operator marks for release although another interface has more that nobody uses: Cilium takes from
// the interface with most of them (pkg/aws/eni, PrepareIPRelease), so that interfaces become empty no sooner than they have to;
// and of one that a pod had too short a time ago (excess-ip-release-delay).
func (o *crdOperator) judgeMarks(node string, before, after *cilium.CiliumNode) {
	states := before.Status.IPAM.ReleaseIPs
	marked := slices.SortedFunc(maps.Keys(after.Status.IPAM.ReleaseIPs), netip.Addr.Compare)
	marked = slices.DeleteFunc(marked, func(ip netip.Addr) bool {
		return after.Status.IPAM.ReleaseIPs[ip] != cilium.MarkedForRelease || states[ip] != ""
	})
	if len(marked) == 0 {
		return
	}
	delay := o.system.env.Plan.Cilium.ReleaseDelay
	for _, ip := range marked {
		if rested := o.env.Clock.Now() - o.usedAt[ip]; o.usedAt[ip] > 0 && rested < delay-delay/100 {
			o.env.needless(node, "the mark for release of "+ip.String(), fmt.Sprintf("is made %s after a pod had it, where it has to be nobody's for %s", rested, delay))
			return
		}
	}
	unused, left := map[string]int{}, map[string]int{}
	for ip, a := range before.Spec.IPAM.Pool { //vppdrill:unordered counts
		_, used := before.Status.IPAM.Used[ip]
		if _, stays := after.Spec.IPAM.Pool[ip]; used || !stays || states[ip] != "" || before.Status.ENI.ENIs[a.Resource].IP == ip {
			continue
		}
		unused[a.Resource]++
		if after.Status.IPAM.ReleaseIPs[ip] == "" {
			left[a.Resource]++
		}
	}
	for _, ip := range marked {
		from := before.Spec.IPAM.Pool[ip].Resource
		for _, other := range sortedNames(left) {
			if unused[other] > unused[from] {
				o.env.needless(node, fmt.Sprintf("the mark for release of %s, one of %d of %s that nobody uses,", ip, unused[from], from),
					fmt.Sprintf("is made where %s has %d", other, unused[other]))
				return
			}
		}
	}
}
