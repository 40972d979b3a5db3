package endpoints

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Front is an address and port of a service as a client of one node asks it.
type Front struct {
	Addr netip.AddrPort
	// at is the node that decides who serves; local: only its own endpoints do.
	at    string
	local bool
	// Pods: only they are asked: what a host sends to its own addresses, or to outer ones, does not come by VPP.
	Pods bool
}

// Fronts are those that clients of a node may ask: the cluster's address, the outer one, and every living node's port. A host asks
// its own machine's addresses of itself.
func Fronts(svc *scenarios.ServiceState, node string, nodes []fact.NodeState) []Front {
	var out []Front
	if svc.ClusterIP.IsValid() {
		out = append(out, Front{netip.AddrPortFrom(svc.ClusterIP, uint16(svc.Port)), node, svc.InternalPolicy == scenarios.NodeLocal, false})
	}
	if svc.External.IsValid() {
		out = append(out, Front{netip.AddrPortFrom(svc.External, uint16(svc.Port)), node, svc.ExternalPolicy == scenarios.NodeLocal, true})
	}
	if svc.NodePort == 0 {
		return out
	}
	for i := range nodes {
		at := &nodes[i]
		if at.MachineUp && at.VPP != nil && at.Address.IsValid() {
			out = append(out, Front{netip.AddrPortFrom(at.Address.Addr(), uint16(svc.NodePort)), at.Name, svc.ExternalPolicy == scenarios.NodeLocal, true})
		}
	}
	return out
}

// OuterFronts are those that clients on the wire ask of a node, which alone they are sent to: its port and the outer address. It keeps
// who asks where only its own endpoints serve.
func OuterFronts(svc *scenarios.ServiceState, n *fact.NodeState) []Front {
	var out []Front
	local := svc.ExternalPolicy == scenarios.NodeLocal
	if svc.External.IsValid() {
		out = append(out, Front{netip.AddrPortFrom(svc.External, uint16(svc.Port)), n.Name, local, false})
	}
	if svc.NodePort != 0 && n.Address.IsValid() {
		out = append(out, Front{netip.AddrPortFrom(n.Address.Addr(), uint16(svc.NodePort)), n.Name, local, false})
	}
	return out
}

// Outsider is an address on a node's wire that is no node's: the highest, the broadcast's aside. Invalid where the range has none, and in IPv6.
func Outsider(n *fact.NodeState, nodes []fact.NodeState) netip.Addr {
	wire := n.Address.Masked()
	if !wire.IsValid() || !wire.Addr().Is4() || wire.Bits() > 30 {
		return netip.Addr{}
	}
	b := wire.Addr().As4()
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])|^uint32(0)>>wire.Bits())
	addr := netip.AddrFrom4(b).Prev()
	for slices.ContainsFunc(nodes, func(o fact.NodeState) bool { return o.Address.IsValid() && o.Address.Addr() == addr }) {
		addr = addr.Prev()
	}
	if !wire.Contains(addr) {
		return netip.Addr{}
	}
	return addr
}

// KeepsClients reports whether endpoints get to see who asks. A host among them would answer by its own way to a client outside.
func (f *Front) KeepsClients(serve []scenarios.EndpointState) bool {
	return f.local && !slices.ContainsFunc(serve, func(e scenarios.EndpointState) bool { return e.Netns == "" })
}

// Expected are the endpoints that a front serves.
func (f *Front) Expected(svc *scenarios.ServiceState) []scenarios.EndpointState {
	those := func(keep func(node string) bool) []scenarios.EndpointState {
		return slices.DeleteFunc(slices.Clone(svc.Endpoints), func(e scenarios.EndpointState) bool { return !keep(e.Node) })
	}
	here := func(node string) bool { return node == f.at }
	if f.local {
		return those(here)
	}
	if near := those(here); svc.Distribution == scenarios.SameNode && len(near) > 0 {
		return near
	}
	zone := svc.Zones.Of(f.at)
	if near := those(func(node string) bool { return svc.Zones.Of(node) == zone }); svc.Distribution != "" && zone != "" && len(near) > 0 {
		return near
	}
	return svc.Endpoints
}
