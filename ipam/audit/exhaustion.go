package audit

import (
	"slices"
)

// exhaustion tells nodes whose kubelets take more pods than there are addresses for. Blocks that are given on demand do
// not count.
func (j *judge) exhaustion() {
	wanted := map[string]bool{}
	j.each(func(p *part) {
		if p.interfaces != "" {
			wanted[p.interfaces] = true
		}
	})
	for _, n := range j.byName {
		if len(wanted) > 0 && n.interfaces != "" {
			j.Judged[LawExhaustion]++
			if !wanted[n.interfaces] {
				j.find(LawExhaustion, Warning, n.name, "it wants ENIConfig %s, which does not exist: it gets no interface for pods",
					n.interfaces)
			}
		}
		ranges := slices.Clone(j.held[n.name])
		ranges = slices.DeleteFunc(ranges, func(r heldRange) bool { return r.network != "" })
		if n.maxPods == 0 || slices.ContainsFunc(ranges, func(r heldRange) bool { return !r.whole }) {
			continue // it gets more when it needs more
		}
		slices.SortStableFunc(ranges, func(a, b heldRange) int { return a.prefix.Compare(b.prefix) })
		ranges = slices.CompactFunc(ranges, func(a,
			b heldRange) bool {
			return a.prefix == b.prefix
		}) // two objects say the same
		for family := range 2 {
			room, last := 0, -1
			for i, r := range ranges {
				if familyOf(r.prefix.Addr()) == family {
					room, last = min(capacityMost, room+capacity(r)), i
				}
			}
			if last < 0 {
				continue
			}
			j.Judged[LawExhaustion]++
			if room < n.maxPods {
				j.find(LawExhaustion, Warning, n.name, "its kubelet takes %d pods, and %s has addresses for %d; %s", n.maxPods,
					join(j.of4or6(n.name, ranges[last].prefix.Addr())), room, count(j.onNode[n.name], "pod")+" there now")
			}
		}
	}
}

// capacityMost is where counting ends: no kubelet takes as many.
const capacityMost = 1 << 20

// capacity is how many pods a range has addresses for.
func capacity(r heldRange) int {
	host := r.prefix.Addr().BitLen() - r.prefix.Bits()
	if host >= 20 {
		return capacityMost
	}
	return max(0, 1<<host-r.kept)
}
