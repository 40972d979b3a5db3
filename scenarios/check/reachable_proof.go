package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// The tables that deliveries are proved from.
const (
	slotPod = iota
	slotMain
	slots
)

// deliveryHopsMax is how many hops a delivery may take to be put behind an egress and a transit without a look at the
// TTL.
const deliveryHopsMax = 32

type proof struct {
	s     scenarios.Snapshot
	w     *walk.Walker
	dests *destinations
	nodes map[string]int32
	// cuts marks where a range of destinations starts on the node at hand; the last one is always set.
	cuts []bool
	// delivered tells of each destination whether its own node's tables treat it right: a pod's is delivered, a free
	// one dropped.
	delivered [slots][]bool
	mainDone  []bool
	// entries is scratch: the tables where the node's pods come in.
	entries []entry
	few     []int
	// size is that of the packets, in bytes: what every pod and host can send; 0 where nobody can tell.
	size int
}

// packet is one of that size that nobody may fragment.
func (p *proof) packet(to netip.Addr) walk.Packet {
	return walk.Packet{Dst: to, Size: p.size, Whole: true}
}

// sizes finds the longest packet that all pods and hosts can send: the smallest MTU of what they send out of.
func (p *proof) sizes() {
	least := func(n *scenarios.NodeState, netns string, a netip.Addr) {
		if name, ok := n.Linux.Local(netns, a); ok {
			if l, ok := n.Linux.Link(netns, name); ok && l.MTU != 0 && (p.size == 0 || int(l.MTU) < p.size) {
				p.size = int(l.MTU)
			}
		}
	}
	for i := range p.s.Nodes {
		n := &p.s.Nodes[i]
		if !lives(n) || n.Linux == nil {
			continue
		}
		if n.HostLinux.IsValid() {
			least(n, "", n.HostLinux)
		}
		for k := range n.Pods {
			if n.Pods[k].Addr.IsValid() {
				least(n, n.Pods[k].Netns, n.Pods[k].Addr)
			}
		}
	}
}

// entry is a table that pods send into, with the first two that do: who tries to reach itself needs another witness.
type entry struct {
	table uint32
	pods  [2]int
}

// right judges where a packet for destination j ended.
func (p *proof) right(j int, out walk.Outcome) bool {
	d := &p.dests.list[j]
	if d.pod < 0 {
		return out.Kind == walk.Dropped
	}
	n := &p.s.Nodes[d.home]
	return out.To(n.Name, n.Pods[d.pod].Netns)
}

func (p *proof) deliver(slot, j int, table uint32) {
	out := p.w.Outcome(walk.FromTable(p.s.Nodes[p.dests.list[j].home].Name, table), p.packet(p.dests.list[j].addr))
	p.delivered[slot][j] = out.Hops <= deliveryHopsMax && p.right(j, out)
}

// arrives reports whether destination j, looked up next in a table of node i, is known to end well.
func (p *proof) arrives(j int, i int32, table uint32) bool {
	if p.dests.list[j].home != i {
		return false
	}
	n := &p.s.Nodes[i]
	switch table {
	case n.PodTable:
		return p.delivered[slotPod][j]
	case n.MainTable:
		if !p.mainDone[i] {
			p.mainDone[i] = true
			for k := range p.dests.list {
				if p.dests.list[k].home == i {
					p.deliver(slotMain, k, table)
				}
			}
		}
		return p.delivered[slotMain][j]
	}
	return false
}

// node proves everything that the pods of node i send.
func (p *proof) node(i int) error {
	n := &p.s.Nodes[i]
	p.entries = p.entries[:0]
	for pod := range n.Pods {
		if !n.Pods[pod].Addr.IsValid() {
			continue
		}
		if err := p.ownNode(n, pod); err != nil {
			return err
		}
		if err := p.egress(n, pod); err != nil {
			return err
		}
	}
	if len(p.entries) == 0 {
		return nil
	}
	p.cut(n)
	for e := range p.entries {
		if err := p.transit(i, &p.entries[e]); err != nil {
			return err
		}
	}
	return nil
}

// ownNode walks between a pod and its host and to the node's address, and sees that VPP takes what the pod sends to its
// gateway: whether the gateway is an address that answers depends on the wiring.
func (p *proof) ownNode(n *scenarios.NodeState, pod int) error {
	ps := &n.Pods[pod]
	if ps.Gateway.IsValid() {
		if step := p.w.Step(walk.FromPod(n.Name, ps.Netns), p.packet(ps.Gateway)); step.Outcome.Kind != 0 || !step.Next.VPP {
			return p.unreachable(n, pod, "its gateway "+ps.Gateway.String())
		}
	}
	if n.HostLinux.IsValid() {
		if out := p.w.Outcome(walk.FromPod(n.Name, ps.Netns), p.packet(n.HostLinux)); !out.To(n.Name, "") {
			return p.unreachable(n, pod, "its host's "+n.HostLinux.String())
		}
		if out := p.w.Outcome(walk.FromHost(n.Name), p.packet(ps.Addr)); !out.To(n.Name, ps.Netns) {
			path := p.w.Path()
			v := broken(reachableName, p.s.At, n.Name, "the host of %s does not reach its pod %s (%s): %s", n.Name, ps.Pod, ps.Addr, path.Outcome)
			v.After = path.String()
			return v
		}
	}
	if a := n.Address.Addr(); a.IsValid() {
		if out := p.w.Outcome(walk.FromPod(n.Name, ps.Netns), p.packet(a)); out.Kind != walk.Delivered || out.Node != n.Name || !out.VPP && out.Netns != "" {
			return p.unreachable(n, pod, "its node's "+a.String())
		}
	}
	return nil
}

// egress finds the table that a pod's packets come into, and judges what does not get there.
func (p *proof) egress(n *scenarios.NodeState, pod int) error {
	ps := &n.Pods[pod]
	from := walk.FromPod(n.Name, ps.Netns)
	self, _ := p.dests.span(single(ps.Addr))
	cuts := p.namespaceCuts(n, ps)
	var table uint32
	entered := false
	for c := 0; c+1 < len(cuts); c++ {
		lo, hi := cuts[c], cuts[c+1]
		if lo == hi || lo == self && hi == self+1 {
			continue
		}
		step := p.w.Step(from, p.packet(p.dests.list[lo].addr))
		inTable := step.Outcome.Kind == 0 && step.Next.VPP && step.Next.Node == n.Name
		if inTable && !entered {
			table, entered = step.Next.Table, true
		}
		if inTable && step.Next.Table == table && (!step.Exact || hi == lo+1) {
			continue
		}
		if err := p.eachFromPod(n, pod, lo, hi); err != nil {
			return err
		}
	}
	if entered {
		p.enter(table, pod)
	}
	return nil
}

func (p *proof) enter(table uint32, pod int) {
	for e := range p.entries {
		if p.entries[e].table == table {
			if p.entries[e].pods[1] < 0 {
				p.entries[e].pods[1] = pod
			}
			return
		}
	}
	p.entries = append(p.entries, entry{table, [2]int{pod, -1}})
}

// namespaceCuts are the borders between ranges of destinations that a pod's stack treats alike, the first and the last
// one included.
func (p *proof) namespaceCuts(n *scenarios.NodeState, ps *scenarios.PodState) []int {
	p.few = append(p.few[:0], 0, len(p.dests.list))
	add := func(lo, hi int) { p.few = append(p.few, lo, hi) }
	add(p.dests.span(single(ps.Addr)))
	if n.Linux != nil {
		for l := range n.Linux.Links(ps.Netns) {
			for _, a := range l.Addrs {
				add(p.dests.span(single(a.Addr())))
				add(p.dests.span(a))
			}
		}
		for r := range n.Linux.Routes(ps.Netns) {
			add(p.dests.span(r.Dst))
		}
	}
	slices.Sort(p.few)
	return p.few
}

// eachFromPod walks from a pod to each destination of a range.
func (p *proof) eachFromPod(n *scenarios.NodeState, pod, lo, hi int) error {
	from := walk.FromPod(n.Name, n.Pods[pod].Netns)
	for j := lo; j < hi; j++ {
		if d := &p.dests.list[j]; d.addr != n.Pods[pod].Addr && !p.right(j, p.w.Outcome(from, p.packet(d.addr))) {
			return p.wrong(n, pod, j)
		}
	}
	return nil
}

// cut marks where ranges of destinations start on a node: at both ends of every prefix in any of its tables.
func (p *proof) cut(n *scenarios.NodeState) {
	clear(p.cuts)
	p.cuts[len(p.cuts)-1] = true
	if n.VPP == nil {
		return
	}
	for table := range n.VPP.Tables() {
		for r := range n.VPP.Routes(table) {
			lo, hi := p.dests.span(r.Prefix)
			p.cuts[lo], p.cuts[hi] = true, true
		}
	}
	for ifc := range n.VPP.Interfaces() {
		for _, a := range ifc.Addrs {
			lo, hi := p.dests.span(a)
			p.cuts[lo], p.cuts[hi] = true, true
			lo, hi = p.dests.span(single(a.Addr()))
			p.cuts[lo], p.cuts[hi] = true, true
			// VPP drops a connected subnet's first and last address by routes of their own.
			if a.Bits() < a.Addr().BitLen()-1 {
				lo, hi = p.dests.span(single(a.Masked().Addr()))
				p.cuts[lo], p.cuts[hi] = true, true
				lo, hi = p.dests.span(single(beforeLast(a).Next()))
				p.cuts[lo], p.cuts[hi] = true, true
			}
		}
	}
	for nb := range n.VPP.Neighbors() {
		lo, hi := p.dests.span(single(nb.Addr))
		p.cuts[lo], p.cuts[hi] = true, true
	}
}

// transit proves a table that pods of node i send into: one step per range of destinations.
func (p *proof) transit(i int, e *entry) error {
	from := walk.FromTable(p.s.Nodes[i].Name, e.table)
	for lo, hi := 0, 0; lo < len(p.dests.list); lo = hi {
		for hi = lo + 1; !p.cuts[hi]; hi++ {
		}
		step := p.w.Step(from, p.packet(p.dests.list[lo].addr))
		whole := step.Outcome.Kind == 0 && step.Next.VPP && (!step.Exact || hi == lo+1)
		next := int32(-1)
		if whole {
			next = p.nodes[step.Next.Node]
		}
		for j := lo; j < hi; j++ {
			if whole && p.arrives(j, next, step.Next.Table) || p.arrives(j, int32(i), e.table) {
				continue
			}
			if err := p.single(i, e, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// single walks one destination from a pod of node i whose packets come into a table there: what one of them meets, all do.
func (p *proof) single(i int, e *entry, j int) error {
	n, addr := &p.s.Nodes[i], p.dests.list[j].addr
	pod := e.pods[0]
	if n.Pods[pod].Addr == addr {
		pod = e.pods[1]
	}
	if pod < 0 {
		return nil // only the pod itself would send here, and to itself it does not
	}
	if !p.right(j, p.w.Outcome(walk.FromPod(n.Name, n.Pods[pod].Netns), p.packet(addr))) {
		return p.wrong(n, pod, j)
	}
	return nil
}

// wrong is the violation that pod's packets to destination j end in the wrong place, by the last walk.
func (p *proof) wrong(n *scenarios.NodeState, pod, j int) error {
	d := &p.dests.list[j]
	if d.pod >= 0 {
		to := &p.s.Nodes[d.home]
		return p.unreachable(n, pod, to.Pods[d.pod].Pod+" ("+d.addr.String()+") on "+to.Name)
	}
	path := p.w.Path()
	v := broken(reachableName, p.s.At, n.Name, "what %s on %s sends to %s, which nobody holds, is not dropped: %s",
		n.Pods[pod].Pod, n.Name, d.addr, path.Outcome)
	v.After = path.String()
	return v
}

// unreachable is the violation that the last walk shows.
func (p *proof) unreachable(n *scenarios.NodeState, pod int, what string) error {
	path := p.w.Path()
	v := broken(reachableName, p.s.At, n.Name, "%s (%s) on %s does not reach %s: %s", n.Pods[pod].Pod, n.Pods[pod].Addr, n.Name, what, path.Outcome)
	v.After = path.String()
	return v
}
