package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// The tables from which deliveries are proved.
const (
	slotPod = iota
	slotMain
	slots
)

const (
	// deliveryHopsMax is how many hops a delivery may take after an egress and a transit without a check of the TTL.
	deliveryHopsMax = 32
	// lookupsMax is how often VPP looks up a packet in a row (MAX_LUKPS_PER_PACKET, vnet/dpo/lookup_dpo.c, VPP 25.10).
	lookupsMax = 4
)

type proof struct {
	s     fact.Snapshot
	w     *walk.Walker
	dests *destinations
	nodes map[string]int32
	// delivered caches for each destination whether its own node's tables treat it right: a pod's address is delivered to,
	// a free one dropped.
	delivered [slots][]verdict
	// entries are the tables of the current node that packets enter.
	entries []entry
	// depths are scratch for tables reached from tables.
	depths []*scratch
	few    []int
	cutBy  []int // of the current node, empty until needed
	// size is the packet size in bytes that every pod and host can send, or 0 if unknown.
	size int
}

// verdict is the cached result of a proof.
type verdict uint8

const (
	unseen verdict = iota
	seenRight
	seenWrong
)

// entry is a table that packets enter: its senders, and the results so far.
type entry struct {
	table uint32
	// senders are at most two pods, and all other senders.
	senders []witness
	pods    int
	// kinds are the destinations that some of the senders may send to.
	kinds destinationKind
	// begun and proved: every packet to any of kinds ends well. lookups is the longest chain of lookups in the node.
	begun, proved bool
	lookups       int
}

// witness is a sender whose packets enter a table.
type witness struct {
	from walk.Point
	// who is its name in messages; addr its own address, to which it sends nothing.
	who  string
	addr netip.Addr
	// kinds are the destinations that it is promised a path to.
	kinds destinationKind
}

// packet has that size and DF set.
func (p *proof) packet(to netip.Addr) walk.Packet {
	return walk.Packet{Dst: to, Size: p.size, Whole: true}
}

// sizes finds the longest packet that all pods and hosts can send: the smallest MTU of their outgoing links.
func (p *proof) sizes() {
	least := func(n *fact.NodeState, netns string, a netip.Addr) {
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

// right judges the end of a packet's path from node i to destination j.
func (p *proof) right(i, j int, out walk.Outcome) bool {
	d := &p.dests.list[j]
	switch d.kind {
	case toFree:
		return out.Kind == walk.Dropped || out.Kind == walk.Left
	case toOutside:
		return out.Kind == walk.Left && out.Node == p.s.Nodes[i].Name
	}
	home := &p.s.Nodes[d.home]
	switch d.kind {
	case toPod:
		return out.To(home.Name, home.Pods[d.pod].Netns)
	case toHost:
		return out.To(home.Name, "")
	case toVPP:
		return out.Kind == walk.Delivered && out.Node == home.Name && (out.VPP || out.Netns == "")
	}
	panic("check: unknown destination")
}

// arrives reports whether a packet to destination j, next looked up in a table of node i, is known to end well.
func (p *proof) arrives(j int, i int32, table uint32) bool {
	if p.dests.list[j].home != i || i < 0 {
		return false
	}
	slot := slotPod
	switch n := &p.s.Nodes[i]; table {
	case n.PodTable:
	case n.MainTable:
		slot = slotMain
	default:
		return false
	}
	if p.delivered[slot][j] == unseen {
		out := p.w.Outcome(walk.FromTable(p.s.Nodes[i].Name, table), p.packet(p.dests.list[j].addr))
		p.delivered[slot][j] = seenWrong
		if out.Hops <= deliveryHopsMax && p.right(int(i), j, out) {
			p.delivered[slot][j] = seenRight
		}
	}
	return p.delivered[slot][j] == seenRight
}

// node proves all packets that pods and host of node i send, and packets to its NIC.
func (p *proof) node(i int) error {
	n := &p.s.Nodes[i]
	p.entries, p.cutBy = p.entries[:0], p.cutBy[:0]
	if nic, _, ok := p.w.NIC(n.Name, n.Address.Addr()); ok {
		from := walk.FromTable(n.Name, nic.Table4)
		if n.Address.Addr().Is6() {
			from.Table = nic.Table6
		}
		p.enter(from.Table, witness{from: from, who: "packets to " + nic.Name + " of " + n.Name, kinds: everything})
	}
	if n.HostLinux.IsValid() {
		if err := p.egress(i, witness{from: walk.FromHost(n.Name), who: "the host of " + n.Name,
			kinds: toPod | toFree}); err != nil {
			return err
		}
	}
	for k := range n.Pods {
		ps := &n.Pods[k]
		if !ps.Addr.IsValid() {
			continue
		}
		from := witness{from: walk.FromPod(n.Name, ps.Netns), who: ps.Pod, addr: ps.Addr, kinds: everything}
		if err := p.gateway(i, ps, from); err != nil {
			return err
		}
		if err := p.egress(i, from); err != nil {
			return err
		}
	}
	for e := range p.entries {
		if err := p.transit(i, &p.entries[e], 0); err != nil {
			return err
		}
	}
	return nil
}
