package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// scratch is the working memory of one table's proof.
type scratch struct {
	// cuts marks where a range of destinations starts; the last one is always set.
	cuts []bool
	// steps are the results for next hops.
	steps map[nextHop]walk.Step
}

// nextHop is what decides a packet's path besides its destination, where a route names it.
type nextHop struct {
	via    netip.Addr
	index  uint32
	lookup uint32
}

// scratchAt is the scratch of a table that many lookups after the first.
func (p *proof) scratchAt(depth int) *scratch {
	for depth >= len(p.depths) {
		p.depths = append(p.depths, &scratch{cuts: make([]bool, len(p.dests.list)+1), steps: map[nextHop]walk.Step{}})
	}
	x := p.depths[depth]
	clear(x.cuts)
	clear(x.steps)
	return x
}

// cut marks the borders of ranges that a table treats alike: both ends of every prefix in it.
func (p *proof) cut(n *fact.NodeState, table uint32, cuts []bool) {
	cuts[len(cuts)-1] = true
	if n.VPP == nil {
		return
	}
	for r := range n.VPP.Routes(table) {
		lo, hi := p.dests.span(r.Prefix)
		cuts[lo], cuts[hi] = true, true
	}
	lo, hi := p.dests.families()
	cuts[lo], cuts[hi] = true, true
	for _, at := range p.ends(n) {
		cuts[at] = true
	}
}

// ends are the borders that interface addresses and neighbors of the current node add to all of its tables.
func (p *proof) ends(n *fact.NodeState) []int {
	if len(p.cutBy) > 0 {
		return p.cutBy
	}
	mark := func(x netip.Prefix) {
		lo, hi := p.dests.span(x)
		p.cutBy = append(p.cutBy, lo, hi)
	}
	for ifc := range n.VPP.Interfaces() {
		for _, a := range ifc.Addrs {
			mark(a)
			mark(single(a.Addr()))
			// VPP drops a connected subnet's first and last address by routes of their own.
			if a.Bits() < a.Addr().BitLen()-1 {
				mark(single(a.Masked().Addr()))
				mark(single(beforeLast(a).Next()))
			}
		}
	}
	for nb := range n.VPP.Neighbors() {
		mark(single(nb.Addr))
	}
	return p.cutBy
}

// transit proves a table of node i: one step per next hop and range of destinations.
func (p *proof) transit(i int, e *entry, depth int) error {
	if e.begun {
		return nil
	}
	e.begun = true
	n := &p.s.Nodes[i]
	x := p.scratchAt(depth)
	p.cut(n, e.table, x.cuts)
	from := walk.FromTable(n.Name, e.table)
	for lo, hi := 0, 0; lo < len(p.dests.list); lo = hi {
		for hi = lo + 1; !x.cuts[hi]; hi++ {
		}
		kinds := destinationKind(0)
		for j := lo; j < hi; j++ {
			kinds |= p.dests.list[j].kind
		}
		if kinds&e.kinds == 0 {
			continue
		}
		var route fact.Route
		if n.VPP != nil {
			route, _ = n.VPP.Route(e.table, p.dests.list[lo].addr)
		}
		if route.Action == fact.ActionLookup {
			done, err := p.behind(i, e, route.Lookup, kinds, depth)
			if err != nil {
				return err
			}
			if done {
				continue
			}
		}
		step := p.hop(x, from, &route, lo)
		next := p.next(&step)
		for j := lo; j < hi; j++ {
			if step.Exact && j > lo {
				step = p.w.Step(from, p.packet(p.dests.list[j].addr))
				next = p.next(&step)
			}
			e.lookups = max(e.lookups, step.Outcome.Lookups)
			if p.dests.list[j].kind&e.kinds == 0 || p.arrives(j, next, step.Next.Table) || p.arrives(j, int32(i), e.table) {
				continue
			}
			if err := p.single(i, e, j); err != nil {
				return err
			}
		}
	}
	e.proved = true
	return nil
}

// behind reports whether all destinations of some kinds end well in another table of the node, one more lookup
// included.
func (p *proof) behind(i int, e *entry, table uint32, kinds destinationKind, depth int) (bool, error) {
	at := slices.IndexFunc(p.entries, func(o entry) bool { return o.table == table })
	if at < 0 || kinds&e.kinds&^p.entries[at].kinds != 0 {
		return false, nil
	}
	if err := p.transit(i, &p.entries[at], depth+1); err != nil {
		return false, err
	}
	o := &p.entries[at]
	if !o.proved || o.lookups >= lookupsMax {
		return false, nil
	}
	e.lookups = max(e.lookups, o.lookups+1)
	return true, nil
}

// hop takes a destination, and its whole range, from a table to the next lookup. All packets to one next hop take the
// same path, whichever route sent them there.
func (p *proof) hop(x *scratch, from walk.Point, route *fact.Route, j int) walk.Step {
	at := nextHop{route.Via, route.Index, route.Lookup}
	named := route.Action == fact.ActionForward && route.Via.IsValid()
	if named {
		if step, known := x.steps[at]; known {
			return step
		}
	}
	step := p.w.Step(from, p.packet(p.dests.list[j].addr))
	if named && !step.Exact {
		x.steps[at] = step
	}
	return step
}

// next is the node in whose table a step ended, or -1.
func (p *proof) next(step *walk.Step) int32 {
	if step.Outcome.Kind == 0 && step.Next.VPP {
		if i, ok := p.nodes[step.Next.Node]; ok {
			return i
		}
	}
	return -1
}

// single walks one destination from one sender into a table of node i. It stands for all senders into that table.
func (p *proof) single(i int, e *entry, j int) error {
	d := &p.dests.list[j]
	for _, from := range e.senders {
		if from.kinds&d.kind == 0 || from.addr == d.addr {
			continue
		}
		out := p.w.Outcome(from.from, p.packet(d.addr))
		e.lookups = max(e.lookups, out.Lookups)
		if !p.right(i, j, out) {
			return p.wrong(i, from, j)
		}
		return nil
	}
	return nil // only the pod itself would send here, and packets to itself never leave its namespace
}
