package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

const tunnelsSymmetricName = "tunnels-symmetric"

// tunnelsSymmetric: where nodes have VXLAN addresses, each has exactly one tunnel to each other one, from its own node
// address to the peer's and with the VNI that all share, so that every tunnel has its reverse; the tunnels and the BVI
// are the bridge domain's members; and the L2 FIB and the BVI's neighbors name each peer's BVI once. Nothing of the
// kind leads to a node that is gone.
//
// Tunnels are required between fully running nodes with ID and addresses. A node that is down but still in the cluster
// may have them or not.
func tunnelsSymmetric() fact.Law {
	return fact.Law{
		Name: tunnelsSymmetricName,
		Rule: "Each node has exactly one VXLAN tunnel to each other node, and none to a node that is gone.",
		Why: "VPP accepts a tunnel's packets only if it has the reverse tunnel; one missing half silently disconnects " +
			"two nodes.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.NodeIDs, fact.VPPTables},
		Check: checkTunnels,
	}
}

func checkTunnels(s fact.Snapshot) (occasions int64, err error) {
	m := mesh{s: s, peers: make([]meshNode, len(s.Nodes)), byAddress: map[netip.Addr]int{}, byVXLAN: map[netip.Addr]int{},
		byMAC:   map[vppwire.MAC]int{},
		tunnels: make([]uint32, len(s.Nodes))}
	for i := range s.Nodes {
		m.learn(i)
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; lives(n) && n.AgentUp && n.VPP != nil {
			if err := m.node(i); err != nil {
				return occasions + 1, err
			}
			occasions += int64(len(m.members)) // tunnels and the BVI
		}
	}
	return occasions, nil
}

// mesh is the reference for all nodes' tunnels. Maps are from what identifies a peer to its index in the snapshot.
type mesh struct {
	s         fact.Snapshot
	peers     []meshNode
	byAddress map[netip.Addr]int
	byVXLAN   map[netip.Addr]int
	byMAC     map[vppwire.MAC]int
	// vni is the VNI of the snapshot's first tunnel, group its split horizon group.
	vni   uint32
	group uint8
	known bool
	// hidden: some node reports its addresses neither through its agent nor through its VPP, so no tunnel can be called
	// stale.
	hidden bool

	// tunnels holds the current node's interface towards each peer, or 0: index 0 is local0. members are all of them in
	// order.
	tunnels []uint32
	members []uint32
}

// meshNode is a node's state that its peers must have.
type meshNode struct {
	// whole: every other whole node must have a tunnel to it.
	whole  bool
	bvi    fact.Interface
	hasBVI bool
	// pods is the bridge domain that joins the pods' shared interface with VPP's tables, 0 for none. It is not part of the
	// mesh.
	pods uint32
}

// learn registers what identifies a node: its agent's data, or else its VPP's.
func (m *mesh) learn(i int) {
	n, p := &m.s.Nodes[i], &m.peers[i]
	told := n.Address.IsValid() && n.VXLANAddress.IsValid()
	if told {
		m.byAddress[n.Address.Addr()] = i
		for _, a := range bviAddresses(n) {
			m.byVXLAN[a] = i
		}
	}
	if n.VPP == nil || !lives(n) {
		m.hidden = m.hidden || !told
		return
	}
	var others []fact.Interface
	for ifc := range n.VPP.Interfaces() {
		switch {
		case ifc.BVI && !p.hasBVI:
			p.bvi, p.hasBVI = ifc, true
		case ifc.BVI:
			others = append(others, ifc)
		case ifc.Bridge != 0 && ifc.Type == fact.TypeAFPacket:
			p.pods = ifc.Bridge
		case !told && (ifc.Type == fact.TypeNIC || ifc.Type == fact.TypeLoopback):
			register(m.byAddress, ifc.Addrs, i)
		}
	}
	if p.hasBVI && p.bvi.Bridge == p.pods {
		if p.hasBVI = len(others) > 0; p.hasBVI {
			p.bvi = others[0]
		}
	}
	if p.hasBVI {
		m.byMAC[p.bvi.MAC] = i
		if !told {
			register(m.byVXLAN, p.bvi.Addrs, i)
		}
	}
	p.whole = told && n.AgentUp && n.ID != 0
}

func register(m map[netip.Addr]int, addrs []netip.Prefix, i int) {
	for _, a := range addrs {
		if _, taken := m[a.Addr()]; !taken {
			m[a.Addr()] = i
		}
	}
}

func (m *mesh) broken(i int, format string, args ...any) error {
	return broken(tunnelsSymmetricName, m.s.At, m.s.Nodes[i].Name, format, args...)
}

func (m *mesh) node(i int) error {
	n, p := &m.s.Nodes[i], &m.peers[i]
	if p.whole && !p.hasBVI {
		return m.broken(i, "the node has VXLAN address %s but no BVI", n.VXLANAddress)
	}
	if p.hasBVI && (!p.bvi.Up || !hasAll(p.bvi.Addrs, bviAddresses(n))) {
		return m.broken(i, "the BVI %s is down or does not have address %s alone", p.bvi.Name, n.VXLANAddress)
	}
	for _, compare := range [...]func(int) error{m.interfaces, m.domain, m.macs, m.neighbors} {
		if err := compare(i); err != nil {
			return err
		}
	}
	return nil
}

// bviAddresses are a node's VXLAN addresses, of each family one.
func bviAddresses(n *fact.NodeState) []netip.Addr {
	if n.Second != nil {
		return []netip.Addr{n.VXLANAddress, n.Second.VXLANAddress}
	}
	return []netip.Addr{n.VXLANAddress}
}

// hasAll reports whether an interface's addresses are these and no others.
func hasAll(have []netip.Prefix, want []netip.Addr) bool {
	return len(have) == len(want) && !slices.ContainsFunc(want, func(a netip.Addr) bool {
		return !slices.ContainsFunc(have, func(p netip.Prefix) bool { return p.Addr() == a })
	})
}

// interfaces: one tunnel per peer, made right.
func (m *mesh) interfaces(i int) error {
	n, p := &m.s.Nodes[i], &m.peers[i]
	clear(m.tunnels)
	m.members = m.members[:0]
	for ifc := range n.VPP.Interfaces() {
		if p.hasBVI && ifc.Index == p.bvi.Index {
			m.members = append(m.members, ifc.Index)
		}
		if ifc.Type != fact.TypeVXLAN {
			continue
		}
		peer, ok := m.byAddress[ifc.Dst]
		if !ok && m.hidden {
			m.members = append(m.members, ifc.Index)
			continue
		}
		if !ok || !p.hasBVI || peer == i {
			return m.broken(i, "tunnel %s leads to %s, which is not a peer's address", ifc.Name, ifc.Dst)
		}
		if !m.known {
			m.vni, m.group, m.known = ifc.VNI, ifc.SHG, true
		}
		to := m.s.Nodes[peer].Name
		switch {
		case m.tunnels[peer] != 0:
			return m.broken(i, "two tunnels lead to %s, the second is %s", to, ifc.Name)
		case ifc.Src != n.Address.Addr() || ifc.VNI != m.vni || ifc.EncapTable != n.MainTable:
			return m.broken(i, "tunnel %s to %s is from %s with VNI %d in table %d, not from %s with %d in %d",
				ifc.Name, to, ifc.Src, ifc.VNI, ifc.EncapTable, n.Address.Addr(), m.vni, n.MainTable)
		case !ifc.Up:
			return m.broken(i, "tunnel %s to %s is down", ifc.Name, to)
		case ifc.Bridge == 0 || ifc.Bridge != p.bvi.Bridge:
			return m.broken(i, "tunnel %s to %s is not in the BVI's bridge domain", ifc.Name, to)
		case ifc.SHG == 0 || ifc.SHG != m.group:
			return m.broken(i, "tunnel %s to %s is in split horizon group %d, so frames may loop", ifc.Name, to, ifc.SHG)
		}
		m.tunnels[peer] = ifc.Index
		m.members = append(m.members, ifc.Index)
	}
	if !p.whole {
		return nil
	}
	for j := range m.peers {
		if j != i && m.peers[j].whole && m.tunnels[j] == 0 {
			return m.broken(i, "no tunnel leads to %s (%s)", m.s.Nodes[j].Name, m.s.Nodes[j].Address.Addr())
		}
	}
	return nil
}

// domain: the bridge domain forwards, neither learns nor floods, and has the BVI and the tunnels as members.
func (m *mesh) domain(i int) error {
	n, p := &m.s.Nodes[i], &m.peers[i]
	if !p.hasBVI {
		return nil
	}
	b, ok := n.VPP.Bridge(p.bvi.Bridge)
	if !ok || !b.Forward || b.Learn || b.Flood || b.UUFlood {
		return m.broken(i, "bridge domain %d should forward and neither learn nor flood", p.bvi.Bridge)
	}
	for k, member := range b.Members {
		if k >= len(m.members) || member.Index != m.members[k] || member.BVI != (member.Index == p.bvi.Index) {
			return m.broken(i, "bridge domain %d has member %d, which is neither the BVI nor a tunnel", b.ID, member.Index)
		}
	}
	if len(b.Members) != len(m.members) {
		return m.broken(i, "bridge domain %d has %d members, not %d", b.ID, len(b.Members), len(m.members))
	}
	return nil
}

// macs: the L2 FIB sends each peer's BVI into the tunnel to that peer.
func (m *mesh) macs(i int) error {
	n, p := &m.s.Nodes[i], &m.peers[i]
	found := 0
	for e := range n.VPP.FIBs() {
		peer, ok := m.byMAC[e.MAC]
		switch {
		case e.Bridge == p.pods && p.pods != 0:
		case !ok && (m.hidden || m.downPeer(e.Index)):
		case !ok || !p.hasBVI || e.Bridge != p.bvi.Bridge:
			return m.broken(i, "the L2 FIB of bridge domain %d has %s, which is no peer's BVI", e.Bridge, e.MAC)
		case peer == i && e.Index == p.bvi.Index:
		case peer == i || m.tunnels[peer] == 0 || e.Index != m.tunnels[peer]:
			return m.broken(i, "the L2 FIB sends %s of %s to interface %d, not into the tunnel there", e.MAC,
				m.s.Nodes[peer].Name, e.Index)
		case m.peers[peer].whole:
			found++
		}
	}
	return m.all(i, found, "an L2 FIB entry")
}

// downPeer reports whether an interface is the tunnel to a peer whose BVI's MAC is unknown, because it is down.
func (m *mesh) downPeer(index uint32) bool {
	for j, t := range m.tunnels {
		if t == index && t != 0 {
			return !m.peers[j].hasBVI
		}
	}
	return false
}

// neighbors: the BVI knows each peer's VXLAN address by the peer's MAC.
func (m *mesh) neighbors(i int) error {
	n, p := &m.s.Nodes[i], &m.peers[i]
	if !p.hasBVI {
		return nil
	}
	found, second := 0, 0
	for nb := range n.VPP.Neighbors() {
		if nb.Index != p.bvi.Index {
			continue
		}
		peer, ok := m.byVXLAN[nb.Addr]
		if !ok && m.hidden {
			continue
		}
		if !ok || peer == i {
			return m.broken(i, "the BVI has neighbor %s, which is not a peer's VXLAN address", nb.Addr)
		}
		if m.peers[peer].hasBVI && m.peers[peer].bvi.MAC != nb.MAC {
			return m.broken(i, "the BVI has %s for %s of %s, whose BVI has %s",
				nb.MAC, nb.Addr, m.s.Nodes[peer].Name, m.peers[peer].bvi.MAC)
		}
		switch {
		case !m.peers[peer].whole:
		case nb.Addr.Is4() == n.VXLANAddress.Is4():
			found++
		default:
			second++
		}
	}
	if n.Second != nil {
		if err := m.all(i, second, "a neighbor entry of the second family"); err != nil {
			return err
		}
	}
	return m.all(i, found, "a neighbor entry")
}

// all requires that found counts every whole peer except the node itself. Entries are unique, so counting is enough.
func (m *mesh) all(i, found int, what string) error {
	if !m.peers[i].whole {
		return nil
	}
	want := -1
	for j := range m.peers {
		if m.peers[j].whole {
			want++
		}
	}
	if found == want {
		return nil
	}
	return m.broken(i, "the node has %s for %d of %d peers", what, found, want)
}
