package audit

import (
	"cmp"
	"slices"
	"strings"
)

// wrongRecords are running pods' addresses of which the CNI's record says something else: it calls them free, or books
// them for others. So it does with the addresses that nodes themselves have.
func (j *judge) wrongRecords() {
	j.faces(func(number int, p *pod, f face) {
		if p.deleting || p.branch { // on its way out, or not of the node's program
			return
		}
		var wrong *record
		right, judged, unknown := false, false, false
		j.at(f, func(r *record) bool {
			if !j.used.has(r.source) || r.kind == ofOther { // nothing says whose it is
				unknown = true
				return true
			}
			judged = true
			right = r.at(p)
			if wrong == nil || r.has(p) {
				wrong = r
			}
			return !right
		})
		if judged {
			j.Judged[LawRecord]++
		}
		switch {
		case right:
		case wrong != nil && wrong.source == whereabouts && !f.second && j.explained[number] != 0:
			// a range of second interfaces that is the same as pods' first ones is another network's
		case wrong != nil:
			j.wrong[place{f.network, f.addr}] = true
			j.find(LawRecord, Error, f.addr, "pod %s on %s has it, and %s", p, orNone(p.node), j.booksFor(p, wrong))
		case !judged && !unknown:
			j.unbooked(number, p, f)
		}
	})
	for _, n := range j.byName {
		for _, own := range n.own {
			j.unbookedOwn(n, own)
		}
	}
}

// booksFor says what a wrong record says, and what will come of it.
func (j *judge) booksFor(p *pod, r *record) string {
	switch {
	case r.has(p):
		if _, there := j.Objects.nodes[r.node]; !there && len(j.Objects.nodes) > 0 {
			return r.by + " has it on node " + r.node + ", which does not exist: it is collected while the pod runs"
		}
		return r.by + " has it on node " + r.node + ": it is taken for leaked, and collected while the pod runs"
	case r.kind == ofPod && j.runs(r.pod()) == nil && len(r.second.name) == 0:
		return r.by + " gives it to " + r.owner.String() + ", which does not run: it is collected while this one runs"
	case r.kind == ofPod:
		return r.by + " gives it to " + r.owner.String() + ": it is given again when that pod goes, while this one runs"
	case r.kind == ofCooling:
		return r.by + " gives it to " + r.owner.String() + ": the next pod gets it"
	}
	return r.by + " gives it to " + r.owner.String() + ": both answer for it"
}

// runs is the pod of a name that runs and has addresses of its own, or will have; nil: there is none.
func (j *judge) runs(name podName) *pod {
	if at, there := j.podAt[name]; there && j.Objects.pods[at].alone() {
		return &j.Objects.pods[at]
	}
	return nil
}

// unbooked is an address of a range whose record is complete and does not have it.
func (j *judge) unbooked(number int, p *pod, f face) {
	j.covered.containing(f.addr, func(i int) bool {
		c := &j.covers[i]
		unsure := c.unsure && (f.second || j.explained[number] == 0)
		others := j.explained[number] &^ (1 << c.source)
		if c.network != f.network && !unsure || !j.used.has(c.source) || others&j.used != 0 && !j.named.has(c.source) ||
			c.unsure && !unsure {
			return true
		}
		j.Judged[LawRecord]++
		j.wrong[place{f.network, f.addr}] = true
		if c.unsure {
			j.find(LawRecord, Warning, f.addr, "pod %s on %s has it%s, and %s calls it free: the next pod gets it, unless "+
				"the network's range excludes it", p, orNone(p.node), on(f.network), c.by)
		} else {
			j.find(LawRecord, Error, f.addr, "pod %s on %s has it, and it lies in %s, which calls it free: the next pod gets it",
				p, orNone(p.node), c.by)
		}
		return false
	})
}

// unbookedOwn is an address of a node's own that the record does not have for it.
func (j *judge) unbookedOwn(n *node, own ownAddr) {
	f := face{addr: own.addr}
	var wrong *record
	right := false
	j.at(f, func(r *record) bool {
		if j.used.has(r.source) {
			right = r.kind != ofPod && r.kind != ofService && r.kind != ofCooling && (r.node == n.name || r.node == "")
			wrong = r
		}
		return !right
	})
	if right || wrong != nil && wrong.kind == ofPod && j.holds(wrong) { // that pod has it: a duplicate, and told as such
		return
	}
	if wrong != nil {
		j.Judged[LawRecord]++
		j.find(LawRecord, Error, own.addr, "the %s of node %s has it, and %s gives it to %s: both answer for it",
			own.what, n.name, wrong.by, wrong.owner)
		return
	}
	j.covered.containing(own.addr, func(i int) bool {
		c := &j.covers[i]
		if c.network != "" || c.source != calico || !j.used.has(calico) || !j.named.has(calico) { // others book pods alone
			return true
		}
		j.Judged[LawRecord]++
		j.find(LawRecord, Error, own.addr, "the %s of node %s has it, and it lies in %s, which calls it free: the next "+
			"pod gets it", own.what, n.name, c.by)
		return false
	})
}

// holds reports whether the pod of a record has its address.
func (j *judge) holds(r *record) bool {
	p := j.runs(r.pod())
	return p != nil && slices.ContainsFunc(p.faces, func(f face) bool { return f.addr == r.addr })
}

// bookedTwice are addresses of one network that two records have.
func (j *judge) bookedTwice() {
	for first := range j.records {
		if j.booked[j.records[first].addr] != int32(first) {
			continue // it is judged with the first of its address
		}
		if j.used.has(j.records[first].source) {
			j.Judged[LawTwice]++
		}
		if j.next[first] < 0 {
			continue
		}
		var all []*record
		for i := int32(first); i >= 0; i = j.next[i] {
			if r := &j.records[i]; j.used.has(r.source) && r.kind != ofCooling {
				all = append(all, r)
			}
		}
		slices.SortStableFunc(all, func(a, b *record) int {
			return cmp.Or(cmp.Compare(a.network, b.network),
				cmp.Compare(a.by, b.by))
		})
		for i := 1; i < len(all); i++ {
			a, b := all[i-1], all[i]
			if a.network != b.network || a.owner == b.owner || a.kind == ofOther || b.kind == ofOther {
				continue
			}
			severity, why := Error, ""
			for _, r := range []*record{a, b} {
				if dead := j.Objects.nodes[r.node].dead(); r.node != "" && dead != "" && len(j.Objects.nodes) > 0 {
					severity, why = Warning, why+"; node "+r.node+" "+dead
				}
			}
			j.find(LawTwice, severity, a.addr, "%s gives it to %s, and %s to %s: one of them loses it when the other goes%s",
				a.by, where(a.owner), b.by, where(b.owner), why)
		}
	}
}

// where names an owner with its node.
func where(o owner) string {
	if o.node == "" || o.kind == ofNode || strings.HasSuffix(o.String(), o.node) {
		return o.String()
	}
	return o.String() + " on " + o.node
}
