package agent

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Groups of the Session.
const (
	groupNode = "node"
	// groupNICs is what the node has beside its main interface. Pods do not wait for it.
	groupNICs  = "nics"
	groupPeers = "peer/"
	groupPods  = "pod/"
	// groupServices is followed by a service's namespace and name.
	groupServices = "service/"
	// groupOuter is for the outer addresses of all services.
	groupOuter = "outer-addresses"
)

func peerGroup(id uint32) string {
	b := append(make([]byte, 0, len(groupPeers)+10), groupPeers...)
	return string(strconv.AppendUint(b, uint64(id), 10))
}

// peers is how the other nodes are wired.
type peers struct {
	*core
	ranges *ranges
	// wired are the IDs whose groups want something; known: the records have been listed once.
	wired map[uint32]bool
	known bool
	// reached are the IDs that tunnels to addresses were made for last: see holder. An address is in its long form, which
	// has no pointer.
	reached map[[16]byte]uint32
	// contested are the IDs with networks, or an address, that another node's record has too, and had before or has by
	// right.
	contested map[uint32]bool
}

// recordChanged follows a record that is new, different or gone.
func (a *Agent) recordChanged(id uint32) {
	if id == a.ids.Claim().ID || a.ranges.waiting != "" {
		a.todo |= todoBlocks
	}
	if len(a.ranges.history) > 1 && a.ids.Irregular() == 0 {
		a.todo |= todoNode // the older ranges are empty
	}
	a.peers.wireOne(id)
}

// wireAll wires every other node again, in ID order.
func (r *peers) wireAll() {
	for id := range r.ids.IDs() {
		r.wireOne(id)
	}
}

// wireOne makes the node's group what it should be: empty for nodes that are gone, that are ourselves, or that have no
// address yet.
func (r *peers) wireOne(id uint32) {
	r.set(id)
	r.settleContests(id)
}

// settleContests looks anew at nodes that have something in common with another one, but for one that was just looked
// at.
func (r *peers) settleContests(but uint32) {
	if len(r.contested) == 0 {
		return
	}
	for _, other := range slices.Sorted(maps.Keys(r.contested)) {
		if other != but {
			r.set(other)
		}
	}
}

func (r *peers) set(id uint32) {
	at, objects := r.objects(id)
	if objects = r.uncontested(id, objects); len(objects) > 0 && r.displaced(id, at) {
		r.contested[id] = true
		objects = nil
	}
	if len(objects) == 0 {
		if !r.wired[id] {
			return
		}
		delete(r.wired, id)
	} else {
		if r.wiring.Overlay() && r.holder(at, id) == 0 {
			r.reached[at.As16()] = id
		}
		r.wired[id] = true
	}
	r.wire.SetAlike(peerGroup(id), objects)
}

// displaced reports whether the address of a node is another one's by right: a machine's that came back under another
// ID. VPP has one tunnel to an address. The other way round the other one loses it.
func (r *peers) displaced(id uint32, at netip.Addr) bool {
	other := r.holder(at, id)
	switch {
	case other == 0:
		return false
	case r.ids.Supersedes(other, id):
		return true
	case !r.ids.Supersedes(id, other):
		r.contested[id] = true // the Node objects may tell yet
		return false
	}
	delete(r.wired, other)
	r.contested[other] = true
	r.wire.Set(peerGroup(other), nil)
	return false
}

// holder is the other ID that an address leads to now, 0 for none.
func (r *peers) holder(at netip.Addr, but uint32) uint32 {
	id := r.reached[at.As16()]
	if id == but || !r.wired[id] {
		return 0
	}
	if n, _, ok := r.ids.Peer(id); !ok || n.Address.Addr() != at {
		return 0 // it has moved since
	}
	return id
}

// uncontested leaves out routes to networks that lead to another node already. Two nodes publish one block at the same
// time where both have been told that it is theirs: whoever was first may use it, and the other steps back or waits.
func (r *peers) uncontested(id uint32, objects []vppwire.Object) []vppwire.Object {
	before := len(objects)
	if n, regular, ok := r.ids.Peer(id); ok && !regular && before > 0 {
		own := peerGroup(id)
		objects = slices.DeleteFunc(objects, func(o vppwire.Object) bool {
			route, is := o.(vppwire.Route)
			if !is || !slices.Contains(n.PodNetworks, route.Prefix) {
				return false
			}
			other := r.wire.Wanting(route.Key())
			return other != own && strings.HasPrefix(other, groupPeers)
		})
	}
	if len(objects) == before {
		delete(r.contested, id)
	} else {
		r.contested[id] = true
	}
	return objects
}

// objects are what leads to a node, and the address that it is reached at.
func (r *peers) objects(id uint32) (netip.Addr, []vppwire.Object) {
	if r.node.ID == 0 || !r.known {
		return netip.Addr{}, nil
	}
	n, regular, ok := r.ids.Peer(id)
	if !ok || !n.Address.IsValid() {
		return netip.Addr{}, nil
	}
	p := mode.Peer{
		ID: id, Address: n.Address.Addr(), VXLAN: n.VXLAN, PodNetworks: n.PodNetworks, HostSubnet: n.HostNetwork,
		Management: n.Management,
	}
	if !r.complete(&p) {
		return netip.Addr{}, nil
	}
	if !regular || len(p.PodNetworks) > 1 {
		p.PodNetworks = r.foreign(p.PodNetworks, n.Name)
	}
	networks, management := p.PodNetworks, r.notOurs(p.Management)
	p.PodNetworks, p.Management = prefixesOf(networks, r.node.Address.Addr()), ofFamily(management, r.node.Address.Addr())
	if second := r.node.Second; second != nil {
		like := second.Address.Addr()
		p.Second = &mode.Peer{
			ID: id, Address: n.SecondAddress.Addr(), VXLAN: n.SecondVXLAN, PodNetworks: prefixesOf(networks, like), HostSubnet: n.SecondHostNetwork,
			Management: ofFamily(management, like),
		}
		if !p.Second.Address.IsValid() || !p.Second.VXLAN.IsValid() && r.wiring.Overlay() {
			p.Second = nil // a record of upstream's form, or of a node that has not heard yet
		}
	}
	return p.Address, r.wiring.PeerObjects(r.node, p)
}

// prefixesOf keeps the prefixes of the same family as like.
func prefixesOf(list []netip.Prefix, like netip.Addr) []netip.Prefix {
	other := func(p netip.Prefix) bool { return p.Addr().Is4() != like.Is4() }
	if !slices.ContainsFunc(list, other) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), other)
}

// complete derives from the ID what records of upstream's form do not say: they have neither the tunnel address nor the
// host network, and no pod networks. A record of ours says all it means, also that the node has no pods. False where
// something cannot be known.
func (r *peers) complete(p *mode.Peer) bool {
	if p.VXLAN.IsValid() || p.HostSubnet.IsValid() {
		return p.VXLAN.IsValid() || !r.wiring.Overlay()
	}
	theirs, err := r.ranges.nodePlan(p.ID, p.PodNetworks)
	if err != nil {
		return false
	}
	p.VXLAN, p.HostSubnet = theirs.VXLANIP.Addr(), theirs.VPPHostSubnet
	if len(p.PodNetworks) == 0 && !r.ranges.external() {
		p.PodNetworks = []netip.Prefix{theirs.PodSubnet}
	}
	return true
}

// foreign leaves out networks that are named twice or that we hold: a peer cannot take our pods' traffic away.
func (r *peers) foreign(networks []netip.Prefix, name string) []netip.Prefix {
	held := r.alloc.Blocks()
	var kept []netip.Prefix
next:
	for _, p := range networks {
		if slices.Contains(kept, p) {
			continue
		}
		for _, b := range held {
			if b.Prefix.Overlaps(p) {
				r.log(levelWarn, "node %s claims %s, which overlaps our block %s: not routed there", name, p, b.Prefix)
				continue next
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// notOurs leaves out addresses that are our own host's: a copied address must not cut us off.
func (r *peers) notOurs(addrs []netip.Addr) []netip.Addr {
	ours := func(addr netip.Addr) bool { return slices.Contains(r.mgmt, addr) || slices.Contains(r.hosts, addr) }
	if !slices.ContainsFunc(addrs, ours) {
		return addrs
	}
	return slices.DeleteFunc(slices.Clone(addrs), ours)
}
