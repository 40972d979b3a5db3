package check

import (
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// gateway checks that VPP accepts a pod's packets to its gateway. Whether the gateway address answers depends on the
// wiring.
func (p *proof) gateway(i int, ps *fact.PodState, from witness) error {
	if !ps.Gateway.IsValid() {
		return nil
	}
	if step := p.w.Step(from.from, p.packet(ps.Gateway)); step.Outcome.Kind != 0 || !step.Next.VPP {
		return p.unreachable(i, from, "its gateway "+ps.Gateway.String())
	}
	return nil
}

// egress finds the table that a namespace's packets enter, and judges packets that do not get there.
func (p *proof) egress(i int, from witness) error {
	n := &p.s.Nodes[i]
	self, _ := p.dests.span(single(from.addr))
	cuts := p.namespaceCuts(n, from)
	var table uint32
	entered := false
	for c := 0; c+1 < len(cuts); c++ {
		lo, hi := p.promised(from, cuts[c], cuts[c+1])
		if lo == hi || from.addr.IsValid() && lo == self && hi == self+1 {
			continue
		}
		step := p.w.Step(from.from, p.packet(p.dests.list[lo].addr))
		inTable := step.Outcome.Kind == 0 && step.Next.VPP && step.Next.Node == n.Name
		if inTable && !entered {
			table, entered = step.Next.Table, true
		}
		if inTable && step.Next.Table == table && (!step.Exact || hi == lo+1) {
			continue
		}
		if err := p.each(i, from, lo, hi); err != nil {
			return err
		}
	}
	if entered {
		p.enter(table, from)
	}
	return nil
}

// promised narrows a range to begin and end with a destination that the sender is promised a path to.
func (p *proof) promised(from witness, lo, hi int) (int, int) {
	for lo < hi && p.dests.list[lo].kind&from.kinds == 0 {
		lo++
	}
	for lo < hi && p.dests.list[hi-1].kind&from.kinds == 0 {
		hi--
	}
	return lo, hi
}

// enter records a sender into a table. Two pods are enough: for a pod's own address the other one is the witness.
func (p *proof) enter(table uint32, from witness) {
	at := slices.IndexFunc(p.entries, func(e entry) bool { return e.table == table })
	if at < 0 {
		at = len(p.entries)
		if at == cap(p.entries) {
			p.entries = append(p.entries, entry{})
		}
		p.entries = p.entries[:at+1]
		p.entries[at] = entry{table: table, senders: p.entries[at].senders[:0]}
	}
	e := &p.entries[at]
	if from.addr.IsValid() {
		if e.pods == 2 {
			return
		}
		e.pods++
	}
	e.kinds |= from.kinds
	e.senders = append(e.senders, from)
}

// namespaceCuts are the borders between ranges of destinations that a namespace treats alike, the first and the last
// one included.
func (p *proof) namespaceCuts(n *fact.NodeState, from witness) []int {
	p.few = append(p.few[:0], 0, len(p.dests.list))
	add := func(lo, hi int) { p.few = append(p.few, lo, hi) }
	if from.addr.IsValid() {
		add(p.dests.span(single(from.addr)))
	}
	if n.Linux != nil {
		for l := range n.Linux.Links(from.from.Netns) {
			for _, a := range l.Addrs {
				add(p.dests.span(single(a.Addr())))
				add(p.dests.span(a))
			}
		}
		for r := range n.Linux.Routes(from.from.Netns) {
			add(p.dests.span(r.Dst))
		}
	}
	add(p.dests.families())
	slices.Sort(p.few)
	return p.few
}

// each walks from a namespace to each promised destination of a range.
func (p *proof) each(i int, from witness, lo, hi int) error {
	for j := lo; j < hi; j++ {
		d := &p.dests.list[j]
		if d.kind&from.kinds != 0 && d.addr != from.addr && !p.right(i, j, p.w.Outcome(from.from, p.packet(d.addr))) {
			return p.wrong(i, from, j)
		}
	}
	return nil
}
