package check

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

const packetsFitName = "packets-fit"

// packetsFit: every device of a link between VPP and Linux, a pod's or the host's, has the same MTU; all of these links
// have the same; and the NICs carry packets of that size between the nodes, with what a tunnel puts around them, in one
// piece. The law reachable proves that such packets then arrive everywhere with DF set.
func packetsFit() fact.Law {
	return fact.Law{
		Name: packetsFitName,
		Rule: "All links between VPP and Linux have one MTU, and NICs carry packets of that size in one piece.",
		Why: "Where MTUs differ, short packets pass and long ones are lost: connections open and hang at their first " +
			"full segment.",
		When:    fact.Settled,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Sandboxes, fact.NodeIDs, fact.VPPTables, fact.LinuxTables},
		Check:   checkFit,
	}
}

func checkFit(s fact.Snapshot) (occasions int64, err error) {
	f := fit{s: s, w: walk.New(s)}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; lives(n) && n.VPP != nil && n.Linux != nil {
			if err := f.links(n); err != nil {
				return f.occasions, err
			}
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; lives(n) && n.VPP != nil {
			if err := f.nic(n); err != nil {
				return f.occasions, err
			}
		}
	}
	return f.occasions, nil
}

// fit is one judgement.
type fit struct {
	s         fact.Snapshot
	w         *walk.Walker
	occasions int64
	// first is the first link that was looked at, and its MTU; 0 before.
	first linkSide
	mtu   uint32
}

// linkSide is the Linux side of a link.
type linkSide struct {
	n *fact.NodeState
	// who is "the host" or a pod; addr its address.
	who, netns, device string
	addr               netip.Addr
}

func (l linkSide) String() string { return l.who + " on " + l.n.Name }

func (l linkSide) from() walk.Point {
	if l.netns == "" {
		return walk.FromHost(l.n.Name)
	}
	return walk.FromPod(l.n.Name, l.netns)
}

// links checks the links between VPP and a node's host and pods.
func (f *fit) links(n *fact.NodeState) error {
	if n.HostLinux.IsValid() {
		if err := f.link(linkSide{n: n, who: "the host", addr: n.HostLinux}); err != nil {
			return err
		}
	}
	for p := range n.Pods {
		if ps := &n.Pods[p]; ps.Addr.IsValid() {
			if err := f.link(linkSide{n: n, who: ps.Pod, netns: ps.Netns, addr: ps.Addr}); err != nil {
				return err
			}
		}
	}
	return nil
}

// link compares one link's devices with each other and with other links. Where it does not lead to VPP, reachable says
// so.
func (f *fit) link(side linkSide) error {
	n := side.n
	name, ok := n.Linux.Local(side.netns, side.addr)
	if !ok {
		return nil
	}
	l, _ := n.Linux.Link(side.netns, name)
	chain := f.w.Link(n.Name, side.netns, &l, side.addr.Is6())
	if len(chain) == 0 {
		return nil
	}
	f.occasions++
	side.device = name
	for _, e := range chain[1:] {
		if e.MTU != chain[0].MTU {
			return f.mismatch(side, chain[0], e, max(chain[0].MTU, e.MTU))
		}
	}
	if f.mtu == 0 {
		f.first, f.mtu = side, chain[0].MTU
	}
	if f.mtu != chain[0].MTU {
		return f.differ(side, chain[0].MTU)
	}
	return nil
}

// mismatch is the violation that two devices of one link have different MTUs. It shows the fate of a packet that fits
// only one of them: into the namespace, or else out of it.
func (f *fit) mismatch(side linkSide, a, b walk.LinkEnd, size uint32) error {
	n := side.n
	packet := walk.Packet{Dst: side.addr, Size: int(size), Whole: true}
	way, out := "to it", f.w.Outcome(walk.FromTable(n.Name, n.PodTable), packet)
	if out.Kind == walk.Delivered && n.Address.IsValid() {
		packet.Dst = n.Address.Addr()
		way, out = "from it to VPP", f.w.Outcome(side.from(), packet)
	}
	v := broken(packetsFitName, f.s.At, n.Name,
		"the link of %s has two MTUs: %s %d, %s %d; a packet of %d bytes with DF %s is %s",
		side, device(a), a.MTU, device(b), b.MTU, size, way, out)
	show(v, f.w.Path())
	return v
}

func device(e walk.LinkEnd) string {
	if e.VPP {
		return e.Name + " of VPP"
	}
	return e.Name
}

// differ is the violation that two links have different MTUs. It shows the fate of a packet of the larger size.
func (f *fit) differ(side linkSide, mtu uint32) error {
	from, to, size := f.first, side, f.mtu
	if mtu > size {
		from, to, size = side, f.first, mtu
	}
	out := f.w.Outcome(from.from(), walk.Packet{Dst: to.addr, Size: int(size), Whole: true})
	v := broken(packetsFitName, f.s.At, side.n.Name,
		"%s of %s has MTU %d, %s of %s has %d; a packet of %d bytes with DF from %s to %s is %s",
		side.device, side, mtu, f.first.device, f.first, f.mtu, size, from, to, out)
	show(v, f.w.Path())
	return v
}

// nic checks that the node's NIC carries the packets that the links send to other nodes.
func (f *fit) nic(n *fact.NodeState) error {
	to := f.elsewhere(n)
	ifc, carries, ok := f.w.NIC(n.Name, n.Address.Addr())
	if !ok || f.mtu == 0 || to == nil {
		return nil
	}
	f.occasions++
	need, more := int(f.mtu), ""
	if n.VXLANAddress.IsValid() {
		need += walk.Overhead(n.Address.Addr())
		more = fmt.Sprintf(" and %d of VXLAN", walk.Overhead(n.Address.Addr()))
	}
	limit := walk.MTU(&ifc, n.Address.Addr().Is6())
	if carries != 0 {
		limit = min(limit, carries)
	}
	if need <= int(limit) {
		return nil
	}
	from, packet := walk.FromTable(n.Name, n.MainTable), walk.Packet{Dst: to.Address.Addr(), Size: need, Whole: true}
	if a := behind(to); a.IsValid() {
		from, packet.Dst, packet.Size = walk.FromTable(n.Name, n.PodTable), a, int(f.mtu)
	}
	out := f.w.Outcome(from, packet)
	v := broken(packetsFitName, f.s.At, n.Name,
		"%s of %s has MTU %d, but nodes send each other packets of %d bytes (%d of %s of %s%s); one with DF to %s is %s",
		ifc.Name, n.Name, limit, need, f.mtu, f.first.device, f.first, more, to.Name, out)
	show(v, f.w.Path())
	return v
}

// elsewhere is another running node with an address, or nil.
func (f *fit) elsewhere(n *fact.NodeState) *fact.NodeState {
	for i := range f.s.Nodes {
		if m := &f.s.Nodes[i]; m != n && lives(m) && m.Address.IsValid() {
			return m
		}
	}
	return nil
}

// behind is an address that other nodes reach on this node: a pod's, or else the host's, or the zero Addr.
func behind(n *fact.NodeState) netip.Addr {
	for p := range n.Pods {
		if a := n.Pods[p].Addr; a.IsValid() {
			return a
		}
	}
	return n.HostLinux
}
