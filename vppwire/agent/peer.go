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

// recordChanged follows a record that is new, different or gone.
func (a *Agent) recordChanged(r *record) {
	if a.ident.id == 0 || r.id == a.ident.id || r.name == a.cfg.NodeName {
		a.todo |= todoStore
	}
	if r.id == a.ident.id || a.ranges.waiting != "" {
		a.todo |= todoBlocks
	}
	if len(a.ranges.history) > 1 && a.store.odd == 0 {
		a.todo |= todoNode // the older ranges are empty
	}
	a.wirePeer(r)
	a.suspect(r)
}

// wirePeers wires every other node again, in ID order.
func (a *Agent) wirePeers() {
	for i := range a.store.records {
		a.wirePeer(&a.store.records[i])
	}
}

// wirePeer makes the record's group what it should be: empty for nodes that are gone, that are ourselves, or that have no
// address yet.
func (a *Agent) wirePeer(r *record) {
	objects := a.peerObjects(r)
	if len(objects) == 0 && !r.wired {
		return
	}
	r.wired = len(objects) > 0
	a.wire.Set(peerGroup(r.id), objects)
}

func (a *Agent) peerObjects(r *record) []vppwire.Object {
	if a.node.ID == 0 || !a.store.listed || !r.live() || r.malformed || r.id == a.ident.id ||
		r.name == a.cfg.NodeName || a.members.gone[r.uid] {
		return nil
	}
	n := r.info()
	if !n.Address.IsValid() {
		return nil
	}
	p := mode.Peer{
		ID: r.id, Address: n.Address.Addr(), VXLAN: n.VXLAN, PodNetworks: n.PodNetworks, HostSubnet: n.HostNetwork,
		Management: n.Management,
	}
	if !a.complete(&p) {
		return nil
	}
	p.PodNetworks = a.foreign(p.PodNetworks, r)
	p.Management = a.notOurs(p.Management)
	return a.wires.PeerObjects(a.node, p)
}

// complete derives from the ID what records of upstream's form do not say: they have neither the tunnel address nor the host
// network, and no pod networks. A record of ours says all it means, also that the node has no pods. False where something
// cannot be known.
func (a *Agent) complete(p *mode.Peer) bool {
	if p.VXLAN.IsValid() || p.HostSubnet.IsValid() {
		return p.VXLAN.IsValid() || a.wires.Node != mode.NodeVXLAN
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
func (a *Agent) foreign(networks []netip.Prefix, r *record) []netip.Prefix {
	if !r.odd && len(networks) < 2 {
		return networks
	}
	held := a.alloc.Blocks()
	var kept []netip.Prefix
next:
	for _, p := range networks {
		if slices.Contains(kept, p) {
			continue
		}
		for _, b := range held {
			if b.Prefix.Overlaps(p) {
				a.log(levelWarn, "node %s claims %s, which overlaps our block %s: not routed there", r.name, p, b.Prefix)
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
