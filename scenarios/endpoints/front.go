package endpoints

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
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
func Fronts(svc *scenarios.ServiceState, node string, nodes []scenarios.NodeState) []Front {
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

// Expected are the endpoints that a front serves.
func (f *Front) Expected(svc *scenarios.ServiceState) []scenarios.EndpointState {
	return slices.DeleteFunc(slices.Clone(svc.Endpoints), func(e scenarios.EndpointState) bool { return f.local && e.Node != f.at })
}
