package audit

import (
	"net/netip"
	"slices"
)

// families are pods that lack an address of a family of which their node has a range, and other pods have some.
func (j *judge) families() {
	var seen [2]bool // IPv4 and IPv6, as ranges of nodes give them
	j.faces(func(number int, _ *pod, f face) {
		if !f.second && f.network == "" && j.explained[number]&j.used != 0 {
			seen[familyOf(f.addr)] = true
		}
	})
	names := [2]string{"IPv4", "IPv6"}
	number := 0
	var silent [2]int
	for i := range j.Objects.pods {
		p := &j.Objects.pods[i]
		if !p.alone() {
			continue
		}
		var have [2]int
		granted := false // by a record or a pool of no node, which may be of one family
		for _, f := range p.faces {
			if !f.second && f.network == "" {
				have[familyOf(f.addr)]++
				own := len(j.of4or6(p.node, f.addr)) > 0 && slices.ContainsFunc(j.held[p.node],
					func(r heldRange) bool { return r.prefix.Contains(f.addr) })
				granted = granted || !own
			}
			number++
		}
		if have == [2]int{} || granted || p.one || p.deleting {
			continue
		}
		for family, n := range have {
			r := slices.IndexFunc(j.held[p.node], func(r heldRange) bool {
				return r.network == "" &&
					familyOf(r.prefix.Addr()) == family
			})
			if r < 0 {
				continue
			}
			j.Judged[LawFamily]++
			other := have[1-family]
			switch {
			case n > 0:
			case !seen[family]:
				silent[family]++
			case other > 1:
				j.find(LawFamily, Warning, p, "it has %d %s addresses and no %s address, and its node %s has %s: services and "+
					"clients of that family do not reach it", other, names[1-family], names[family], p.node,
					j.held[p.node][r].prefix)
			default:
				j.find(LawFamily, Warning, p, "it has no %s address, and its node %s has %s: services and clients of that "+
					"family do not reach it", names[family], p.node, j.held[p.node][r].prefix)
			}
		}
	}
	for family, n := range silent {
		if n > 0 {
			j.unknown(LawFamily, "nodes have %s ranges, and none of %d pods an %s address: the CNI seems to be set up without",
				names[family], n, names[family])
		}
	}
}

func familyOf(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}
