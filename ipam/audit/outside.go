package audit

import (
	"net/netip"
	"slices"
	"strings"
)

// outside are addresses that their pods' nodes have no range for. What the CNI's own record gives to that pod on that
// node is as it should be: Calico's nodes borrow from others' blocks when their pool has none left, and pods may ask
// for an address of their own.
func (j *judge) outside() {
	without, hidden := map[string]bool{}, 0
	j.faces(func(number int, p *pod, f face) {
		if f.second {
			return
		}
		if j.explained[number]&j.used != 0 {
			j.Judged[LawOutside]++
			return
		}
		if p.node == "" || len(j.Objects.nodes) > 0 && j.Objects.nodes[p.node] == nil {
			return // it is lost, and told as such
		}
		if f.network != "" {
			j.outsideOfSubnets(p, f)
			return
		}
		ranges := j.of4or6(p.node, f.addr)
		switch {
		case len(ranges) > 0 && j.mayHide(f):
			hidden++
		case len(ranges) > 0:
			j.Judged[LawOutside]++
			if !j.wrong[place{f.network, f.addr}] { // where its record is wrong, that is the cause
				j.find(LawOutside, Error, f.addr, "pod %s has it, and its node %s has %s", p, orNone(p.node), join(ranges))
			}
		case j.used.has(kubeOVN) && j.shows(kubeOVN):
			j.outsideOfSubnets(p, f)
		default:
			without[p.node] = true
		}
	})
	if len(without) > 0 && !slices.ContainsFunc(j.Unknown, func(u string) bool {
		return strings.HasPrefix(u,
			LawOutside)
	}) {
		j.unknown(LawOutside, "nothing says which ranges %s: %s", have(len(without)), j.toGet())
	}
	if hidden > 0 {
		j.unknown(LawOutside, "%s with addresses that no range has, so %s may have pools of its own: %s", count(hidden,
			"pod"), j.theirs(), j.toGet())
	}
	j.hosts()
}

// mayHide reports whether an address may be of a pool that no object shows: no node's range has it, and a CNI that may
// have pools shows none of its objects.
func (j *judge) mayHide(f face) bool {
	some := false
	j.of.containing(f.addr, func(i int) bool {
		some = j.used.has(j.ranges[i].source)
		return !some
	})
	return !some && j.hiding
}

// of4or6 are the ranges of a node that count, of an address' family.
func (j *judge) of4or6(node string, a netip.Addr) (list []netip.Prefix) {
	for _, r := range j.held[node] {
		if r.network == "" && sameFamily(r.prefix.Addr(), a) && !slices.Contains(list, r.prefix) {
			list = append(list, r.prefix)
		}
	}
	return list
}

// outsideOfSubnets judges an address of a network whose subnets belong to no node.
func (j *judge) outsideOfSubnets(p *pod, f face) {
	var list []netip.Prefix
	for _, s := range j.subnets {
		if s.network == f.network {
			list = append(list, s.ranges...)
		}
	}
	list = slices.DeleteFunc(list, func(r netip.Prefix) bool { return !sameFamily(r.Addr(), f.addr) })
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, netip.Prefix.Compare)
	j.Judged[LawOutside]++
	j.find(LawOutside, Error, f.addr, "pod %s has it, and the subnets of its network%s have %s", p, on(f.network),
		join(list))
}

// hosts are pods of the host's network with an address that their node does not have: it changed, and they keep the
// former.
func (j *judge) hosts() {
	for i := range j.Objects.pods {
		p := &j.Objects.pods[i]
		n := j.Objects.nodes[p.node]
		if !p.host || p.over || n == nil || len(n.internal) == 0 {
			continue
		}
		for _, a := range p.addrs() {
			j.Judged[LawOutside]++
			if !slices.Contains(n.internal, a) {
				j.find(LawOutside, Warning, a, "pod %s of the host's network has it, and its node %s has %s: it has been "+
					"restarted with another address, and the pod has not", p, n.name, join(n.internal))
			}
		}
	}
}

// have is how many nodes with pods have something.
func have(n int) string {
	if n == 1 {
		return "1 node with pods has"
	}
	return count(n, "node with pods have")
}
