package audit

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/noun"
)

// inUse are the ranges that count, of one network after the other, in the order of their addresses, wider ones first.
func (j *judge) inUse() []*heldRange {
	var list []*heldRange
	for i := range j.ranges {
		if j.used.has(j.ranges[i].source) {
			list = append(list, &j.ranges[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *heldRange) int {
		return cmp.Or(cmp.Compare(a.network, b.network), a.prefix.Addr().Compare(b.prefix.Addr()),
			cmp.Compare(a.prefix.Bits(), b.prefix.Bits()),
			cmp.Compare(a.node, b.node), cmp.Compare(a.by, b.by))
	})
	return list
}

// overlaps are ranges that two nodes have, and blocks within blocks of one node.
func (j *judge) overlaps() {
	var open []*heldRange // those that reach as far as here: prefixes lie within each other or apart
	for _, r := range j.inUse() {
		j.Judged[LawOverlap]++
		open = slices.DeleteFunc(open, func(o *heldRange) bool {
			return o.network != r.network ||
				!o.prefix.Overlaps(r.prefix)
		})
		again := false
		var other *heldRange // the first of another node that has it
		others := 0
		for _, o := range open {
			switch {
			case o.node != r.node:
				if others++; others == 1 {
					other = o
				}
			case o.by == r.by && o.prefix != r.prefix:
				j.find(LawOverlap, Error, r.prefix, "node %s has it (%s), and %s around it (%s): both give %s", r.node, r.by,
					o.prefix, o.by, spanOf(r.prefix))
			case o.by == r.by:
				again = true
			}
		}
		if other != nil && !again {
			j.find(LawOverlap, Error, r.prefix, "node %s has it (%s), and node %s has %s (%s)%s", r.node, r.by, other.node,
				other.prefix, other.by, more(others-1, ", as well as"))
		}
		if again { // it is said by two objects, such as a block and who has affinity to it
			continue
		}
		open = append(open, r)
		if len(j.Objects.nodes) > 0 {
			j.Judged[LawGone]++
			if j.Objects.nodes[r.node] == nil {
				j.find(LawGone, Warning, r.prefix, "%s gives it to node %s, which does not exist: no other node gets it", r.by,
					r.node)
			}
		}
	}
}

// more says of how many further nodes something is so.
func more(n int, words string) string {
	if n <= 0 {
		return ""
	}
	return words + " " + noun.Count(n, "more node")
}

// rangeWith is the range of nodes that has an address, the first by their names; others says how many more have it.
func (j *judge) rangeWith(a netip.Addr) (first *heldRange, others int) {
	j.of.containing(a, func(i int) bool {
		if r := &j.ranges[i]; r.network == "" && j.used.has(r.source) {
			if others++; first == nil || r.node < first.node {
				first = r
			}
		}
		return true
	})
	return first, others - 1
}

// overlapsOfStores are prefixes that two nodes' ipamd have, of which nothing says which nodes those are.
func (j *judge) overlapsOfStores() {
	var list []cover
	for _, c := range j.covers {
		if c.source == aws {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b cover) int {
		return cmp.Or(a.prefix.Compare(b.prefix), cmp.Compare(a.by,
			b.by))
	})
	for i, c := range list {
		j.Judged[LawOverlap]++
		if i > 0 && list[i-1].prefix.Overlaps(c.prefix) && list[i-1].by != c.by {
			j.find(LawOverlap, Error, c.prefix, "%s has it, and %s has %s: both give it", c.by, list[i-1].by, list[i-1].prefix)
		}
	}
}

// overlapsOfPools are addresses that two pools of one CNI give.
func (j *judge) overlapsOfPools() {
	list := slices.Clone(j.pools)
	slices.SortStableFunc(list, func(a, b pool) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.network, b.network), a.first.Compare(b.first),
			cmp.Compare(a.by, b.by))
	})
	for i, l := range list {
		if !j.used.has(l.source) {
			continue
		}
		j.Judged[LawOverlap]++
		for k := i - 1; k >= 0; k-- {
			o := list[k]
			if o.source != l.source || o.network != l.network {
				break
			}
			if o.by != l.by && o.overlaps(l.span) {
				last := l.last
				if o.last.Less(last) {
					last = o.last
				}
				j.find(LawOverlap, Error, l.first, "%s and %s of %s%s both have %s: pods of both get these addresses", o.by,
					l.by, known[l.source].name, on(l.network), span{l.first, last})
				break
			}
			if i-k > 64 { // pools that reach over as many others are told with those
				break
			}
		}
	}
}

// servicesOverlap are services' addresses and ranges that pods get as well.
func (j *judge) servicesOverlap() {
	ranges := j.inUse()
	four := slices.DeleteFunc(slices.Clone(ranges), func(r *heldRange) bool { return r.network != "" })
	for _, s := range j.services {
		for _, a := range s.addrs {
			if len(four) > 0 || len(j.pools) > 0 {
				j.Judged[LawService]++
			}
			r, others := j.rangeWith(a)
			if r != nil {
				j.find(LawService, Error, a, "service %s has it, and it lies in %s of node %s%s: a pod gets it", s.podName,
					r.prefix, r.node, more(others, " and in ranges of"))
			} else if l := j.poolWith(span{a, a}); l != nil {
				j.find(LawService, Error, a, "service %s has it, and it lies in %s: a pod gets it", s.podName, l.by)
			}
		}
		for _, c := range s.cidrs {
			j.Judged[LawService]++
			if l := j.poolWith(spanOf(c)); l != nil {
				j.find(LawService, Error, c, "service range %s overlaps %s, which has %s: pods and services get the same "+
					"addresses", s.name, l.by, l.span)
				continue
			}
			told := 0
			j.each4(four, c, func(r *heldRange) {
				if told++; told <= toldMost {
					j.find(LawService, Error, c, "service range %s overlaps %s of node %s", s.name, r.prefix, r.node)
				}
			})
			if told > toldMost {
				j.find(LawService, Error, c, "service range %s overlaps ranges of %d more nodes", s.name, told-toldMost)
			}
			if told == 0 {
				j.podsWithin(s, c)
			}
		}
	}
}

// each4 gives the ranges that overlap another one; they are in the order of their addresses.
func (j *judge) each4(ranges []*heldRange, c netip.Prefix, take func(*heldRange)) {
	j.of.containing(c.Addr(), func(i int) bool {
		if r := &j.ranges[i]; r.network == "" && j.used.has(r.source) && r.prefix.Bits() < c.Bits() {
			take(r)
		}
		return true
	})
	from, _ := slices.BinarySearchFunc(ranges, c.Addr(), func(r *heldRange,
		a netip.Addr) int {
		return r.prefix.Addr().Compare(a)
	})
	for _, r := range ranges[from:] {
		if !c.Contains(r.prefix.Addr()) {
			break
		}
		if r.prefix.Bits() >= c.Bits() {
			take(r)
		}
	}
}

// podsWithin tells of pods with addresses of a range of services, where no range of nodes says so.
func (j *judge) podsWithin(s service, c netip.Prefix) {
	n := 0
	var one *pod
	j.faces(func(_ int, p *pod, f face) {
		if f.network == "" && c.Contains(f.addr) {
			if n++; one == nil || p.String() < one.String() {
				one = p
			}
		}
	})
	if n > 0 {
		j.find(LawService, Error, c, "service range %s has the addresses of %d pods, such as %s: a service that gets one "+
			"takes it from the pod", s.name, n, one)
	}
}

// poolWith is the first pool in use that has some of a span for pods.
func (j *judge) poolWith(s span) *pool {
	for i := range j.pools {
		if l := &j.pools[i]; j.used.has(l.source) && l.network == "" && l.overlaps(s) && !j.excepted(l, s) {
			return l
		}
	}
	return nil
}

// excepted reports whether no pod gets addresses of a span: a pool leaves them out, or a reservation does.
func (j *judge) excepted(l *pool, s span) bool {
	within := func(o span) bool { return o.has(s.first) && o.has(s.last) }
	return slices.ContainsFunc(l.except, within) || slices.ContainsFunc(j.reserved,
		func(p netip.Prefix) bool { return within(spanOf(p)) })
}

// nodesOverlap are nodes' addresses that pods get as well.
func (j *judge) nodesOverlap() {
	for _, n := range j.byName {
		for _, a := range n.internal {
			if len(j.held) > 0 || len(j.pools) > 0 {
				j.Judged[LawNodeRange]++
			}
			s := span{a, a}
			if r, others := j.rangeWith(a); r != nil && !j.excepted(&pool{}, s) {
				j.find(LawNodeRange, Error, a, "node %s has it, and it lies in %s of node %s%s: a pod gets it", n.name,
					r.prefix, r.node, more(others, " and in ranges of"))
			} else if l := j.poolWith(s); l != nil {
				j.find(LawNodeRange, Error, a, "node %s has it, and %s has it (%s): a pod gets it", n.name, l.by, l.span)
			}
		}
	}
}
