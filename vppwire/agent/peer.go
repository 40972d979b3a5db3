package agent

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Groups of the Session.
const (
	groupNode  = "node"
	groupPeers = "peer/"
	groupPods  = "pod/"
)

func peerGroup(id uint32) string {
	b := append(make([]byte, 0, len(groupPeers)+10), groupPeers...)
	return string(strconv.AppendUint(b, uint64(id), 10))
}

// peers is how the other nodes are wired.
type peers struct {
	// wired are the IDs whose groups want something; known: the records have been listed once.
	wired map[uint32]bool
	known bool
}

// recordChanged follows a record that is new, different or gone.
func (a *Agent) recordChanged(id uint32) {
	if id == a.ids.Claim().ID || a.ranges.waiting != "" {
		a.todo |= todoBlocks
	}
	if len(a.ranges.history) > 1 && a.ids.Irregular() == 0 {
		a.todo |= todoNode // the older ranges are empty
	}
	a.wirePeer(id)
}

// wirePeers wires every other node again, in ID order.
func (a *Agent) wirePeers() {
	for id := range a.ids.IDs() {
		a.wirePeer(id)
	}
}

// wirePeer makes the node's group what it should be: empty for nodes that are gone, that are ourselves, or that have no
// address yet.
func (a *Agent) wirePeer(id uint32) {
	objects := a.peerObjects(id)
	if len(objects) == 0 {
		if !a.peers.wired[id] {
			return
		}
		delete(a.peers.wired, id)
	} else {
		a.peers.wired[id] = true
	}
	a.wire.Set(peerGroup(id), objects)
}

func (a *Agent) peerObjects(id uint32) []vppwire.Object {
	if a.node.ID == 0 || !a.peers.known {
		return nil
	}
	n, regular, ok := a.ids.Peer(id)
	if !ok || !n.Address.IsValid() {
		return nil
	}
	p := mode.Peer{
		ID: id, Address: n.Address.Addr(), VXLAN: n.VXLAN, PodNetworks: n.PodNetworks, HostSubnet: n.HostNetwork,
		Management: n.Management,
	}
	if !a.complete(&p) {
		return nil
	}
	if !regular || len(p.PodNetworks) > 1 {
		p.PodNetworks = a.foreign(p.PodNetworks, n.Name)
	}
	p.Management = a.notOurs(p.Management)
	return a.wiring.PeerObjects(a.node, p)
}

// complete derives from the ID what records of upstream's form do not say: they have neither the tunnel address nor the host
// network, and no pod networks. A record of ours says all it means, also that the node has no pods. False where something
// cannot be known.
func (a *Agent) complete(p *mode.Peer) bool {
	if p.VXLAN.IsValid() || p.HostSubnet.IsValid() {
		return p.VXLAN.IsValid() || !a.wiring.Overlay()
	}
	theirs, err := a.ranges.nodePlan(p.ID, p.PodNetworks)
	if err != nil {
		return false
	}
	p.VXLAN, p.HostSubnet = theirs.VXLANIP.Addr(), theirs.VPPHostSubnet
	if len(p.PodNetworks) == 0 && !a.ranges.external() {
		p.PodNetworks = []netip.Prefix{theirs.PodSubnet}
	}
	return true
}

// foreign leaves out networks that are named twice or that we hold: a peer cannot take our pods' traffic away.
func (a *Agent) foreign(networks []netip.Prefix, name string) []netip.Prefix {
	held := a.alloc.Blocks()
	var kept []netip.Prefix
next:
	for _, p := range networks {
		if slices.Contains(kept, p) {
			continue
		}
		for _, b := range held {
			if b.Prefix.Overlaps(p) {
				a.log(levelWarn, "node %s claims %s, which overlaps our block %s: not routed there", name, p, b.Prefix)
				continue next
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// notOurs leaves out addresses that are our own host's: a copied address must not cut us off.
func (a *Agent) notOurs(addrs []netip.Addr) []netip.Addr {
	ours := func(addr netip.Addr) bool { return slices.Contains(a.mgmt, addr) || slices.Contains(a.hosts, addr) }
	if !slices.ContainsFunc(addrs, ours) {
		return addrs
	}
	return slices.DeleteFunc(slices.Clone(addrs), ours)
}
