package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// choose finds out who has the say: sources that explain no pod's address, where others do, are left of a CNI that was
// there before, or are pod CIDRs that nobody uses. They count for nothing.
func (j *judge) choose() {
	for i, r := range j.ranges {
		j.of.add(r.prefix, i)
		j.ofNode[r.node] = append(j.ofNode[r.node], int32(i))
	}
	for i := range j.pools {
		for _, p := range j.pools[i].prefixes() {
			j.pooled.add(p, i)
		}
	}
	j.next = make([]int32, len(j.records))
	for i := len(j.records) - 1; i >= 0; i-- { // so that a chain is in their order
		a := j.records[i].addr
		if first, more := j.booked[a]; more {
			j.next[i] = first
		} else {
			j.next[i] = -1
		}
		j.booked[a] = int32(i)
	}
	var counts [sources]int
	var touched systems           // sources with a range, a pool or a record of an address that no CNI explains
	pods, nowhere, own := 0, 0, 0 // own and nowhere: of those that no CNI explains, on nodes with a pod CIDR
	strays := map[string]int{}    // of those the ones that no pod CIDR explains, by node
	j.faces(func(_ int, p *pod, f face) {
		says := j.explain(p, f)
		j.explained = append(j.explained, says)
		if f.second {
			return
		}
		pods++
		for s := range sources {
			if says.has(s) {
				counts[s]++
			}
		}
		if says&^(1<<podCIDRs) == 0 {
			touched |= j.touching(f)
		}
		if n := j.Objects.nodes[p.node]; n != nil && says&^(1<<podCIDRs) == 0 && n.hasCIDR(f) {
			nowhere++
			if says.has(podCIDRs) {
				own++
			} else {
				strays[p.node]++
			}
		}
	})
	some := counts != [sources]int{}
	if own > 0 && 2*own >= nowhere {
		j.used.add(podCIDRs)
	}
	elsewhere := false // a CNI's ranges count
	for s := range sources {
		if s == podCIDRs {
			continue
		}
		ofNodes := slices.ContainsFunc(j.ranges, func(r heldRange) bool {
			return r.source == s &&
				j.Objects.nodes[r.node] != nil
		})
		switch {
		case counts[s] > 0, j.named.has(s), pods == 0, touched.has(s) && !j.used.has(podCIDRs), !some && ofNodes:
			j.used.add(s)
		}
		elsewhere = elsewhere || counts[s] > 0 || j.used.has(s) && slices.ContainsFunc(j.ranges,
			func(r heldRange) bool { return r.source == s })
	}
	if !elsewhere && (pods == 0 || nowhere == 0 && !some) {
		j.used.add(podCIDRs)
	}
	j.hiding = slices.ContainsFunc(j.shownSystems(), func(s source) bool { return known[s].own && !j.shows(s) })
	j.used.add(whereabouts) // it has the say of second interfaces alone
	for _, r := range j.ranges {
		if j.used.has(r.source) {
			j.held[r.node] = append(j.held[r.node], r)
		}
	}
	unjudged := 0
	for node, n := range strays { //vppdrill:unordered a sum
		if len(j.held[node]) == 0 {
			unjudged += n
		}
	}
	if unjudged > 0 && !j.used.has(podCIDRs) {
		j.unknown(LawOutside, "%s with addresses that their nodes' pod CIDRs do not have, so %s has ranges of its own: "+
			"%s", count(unjudged, "pod"), j.theirs(), j.toGet())
	}
	for i, c := range j.covers {
		j.covered.add(c.prefix, i)
	}
}

func (n *node) hasCIDR(f face) bool {
	for _, p := range n.cidrs {
		if p.Addr().Is4() == f.addr.Is4() {
			return true
		}
	}
	return false
}

// explain is who says that a pod has an address: by a range of its node, by a record of it, by a range of no node.
func (j *judge) explain(p *pod, f face) (says systems) {
	for _, i := range j.ofNode[p.node] {
		if r := &j.ranges[i]; r.network == f.network && r.prefix.Contains(f.addr) {
			says.add(r.source)
		}
	}
	j.at(f, func(r *record) bool {
		if r.at(p) {
			says.add(r.source)
			j.named.add(r.source)
		}
		return true
	})
	j.pooled.containing(f.addr, func(i int) bool {
		if l := &j.pools[i]; l.own && l.network == f.network {
			says.add(l.source)
		}
		return true
	})
	return says
}

// touching is who has an address in any range, pool or record, whoever it is for.
func (j *judge) touching(f face) (has systems) {
	j.of.containing(f.addr, func(i int) bool {
		has.add(j.ranges[i].source)
		return len(j.of.at[j.ranges[i].prefix]) < toldMost // where many nodes share a range, the first of them is enough
	})
	j.pooled.containing(f.addr, func(i int) bool {
		has.add(j.pools[i].source)
		return true
	})
	j.at(f, func(r *record) bool {
		has.add(r.source)
		return true
	})
	return has
}

// at gives the records of a pod's address, until yield says enough.
func (j *judge) at(f face, yield func(*record) bool) {
	first, any := j.booked[f.addr]
	if !any {
		return
	}
	for i := first; i >= 0; i = j.next[i] {
		if r := &j.records[i]; r.network == f.network || f.second && strings.HasPrefix(r.network, anyNetwork) ||
			r.source == whereabouts {
			if !yield(r) {
				return
			}
		}
	}
}

// shownSystems are those that something shows, in their order.
func (j *judge) shownSystems() (list []source) {
	for s := range sources {
		if j.evidence[s] != (evidence{}) && known[s].name != "" {
			list = append(list, s)
		}
	}
	return list
}

// theirs names who may give the addresses.
func (j *judge) theirs() string {
	var names []string
	for _, s := range j.shownSystems() {
		if known[s].own {
			names = append(names, known[s].name)
		}
	}
	if len(names) == 0 {
		return "the CNI"
	}
	return strings.Join(names, " or ")
}

// toGet says how to get what shows who has which address.
func (j *judge) toGet() string {
	var words []string
	for _, s := range j.shownSystems() {
		if k := known[s]; k.get != "" && s != whereabouts && !j.booking.has(s) {
			words = append(words, k.get)
		}
	}
	if len(words) == 0 {
		for _, s := range j.shownSystems() {
			if k := known[s]; k.kept != "" && k.own {
				return k.kept
			}
		}
		return "kubectl get daemonsets -A -o json shows which CNI it is"
	}
	return "get its records: " + strings.Join(words, "; ")
}

// tell says which systems there are, and what is not judged for want of what.
func (j *judge) tell() {
	for _, s := range j.shownSystems() {
		what := ""
		switch {
		case s == whereabouts:
		case !j.used.has(s) && j.shows(s):
			what = "; no pod has an address by its ranges or records, so they do not count"
		case j.used.has(s) && j.shows(s):
			what = "; its ranges and records count"
		case j.used.has(podCIDRs) && j.shows(podCIDRs):
			what = "; pods have addresses of their nodes' pod CIDRs"
		}
		j.Systems = append(j.Systems, fmt.Sprintf("%s: %s%s", known[s].name, j.evidence[s], what))
	}
	if len(j.Systems) == 0 && j.used.has(podCIDRs) && slices.ContainsFunc(j.ranges,
		func(r heldRange) bool { return r.source == podCIDRs }) {
		j.Systems = append(j.Systems, "nothing shows which CNI; pods have addresses of their nodes' pod CIDRs")
	}
	if !slices.ContainsFunc(j.records, func(r record) bool { return r.source != whereabouts && j.used.has(r.source) }) &&
		!slices.ContainsFunc(j.covers, func(c cover) bool { return c.source != whereabouts && j.used.has(c.source) }) {
		j.noRecords()
	}
}

// shows reports whether a system's objects say something of addresses.
func (j *judge) shows(s source) bool { return j.showing.has(s) }

// noRecords says why nothing is held against records.
func (j *judge) noRecords() {
	words := map[string]bool{}
	for _, s := range j.shownSystems() {
		switch k := known[s]; {
		case s == whereabouts, !j.used.has(s) && j.shows(s):
		case k.shownKept != "" && j.shows(s):
			words[k.shownKept] = true
		case k.get != "" && slices.ContainsFunc(j.Unknown, func(u string) bool { return strings.Contains(u, k.get) }):
			words[known[s].name+"'s records are not there: the same command gets them"] = true
		case s == antrea && j.used.has(podCIDRs):
			words["Antrea's host-local keeps the records of pod CIDRs in files of the nodes; of pools, "+k.get+" shows "+
				"them"] = true
		case k.kept != "" && k.get != "":
			words[k.kept+": "+k.get+" shows them"] = true
		case k.kept != "":
			words[k.kept+": no object shows them"] = true
		case k.get != "":
			words[known[s].name+"'s records are not there: "+k.get+" gets them"] = true
		}
	}
	if len(words) == 0 {
		words["nothing shows which CNI gives the addresses: kubectl get daemonsets -A -o json does"] = true
	}
	for _, w := range slices.Sorted(maps.Keys(words)) {
		j.unknown(LawRecord+", "+LawLeak, "%s", w)
	}
}
