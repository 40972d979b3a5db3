package breakage

import (
	"context"
	"errors"
	"fmt"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// ErrNothing: what should be broken is not there.
var ErrNothing = errors.New("there is nothing of it to break")

// Node is what a pod's wiring is broken on.
type Node struct {
	// State is the node as it is now; its VPP and Linux must be there.
	State *fact.NodeState
	// VPP is a connection of our own, Linux the machine's.
	VPP   api.Connection
	Linux vppwire.Linux
	// Netns is the pod's namespace as Linux knows it; State's Linux knows it by the pod's own path.
	Netns string
	// Remove takes the pod's namespace away with all that is in it.
	Remove func() error
}

// Break breaks a pod's wiring.
func (n Node) Break(ctx context.Context, p fact.PodState, what scenarios.Breakage) error {
	switch what {
	case scenarios.BreakNamespace:
		return n.Remove()
	case scenarios.BreakVPPInterface, scenarios.BreakVPPRoute:
		return n.breakVPP(ctx, p, what)
	case scenarios.BreakTrunk:
		return n.breakTrunk(p)
	}
	for l := range n.State.Linux.Links(p.Netns) {
		if l.Name != p.Owner.IfName {
			continue
		}
		if l.Type == "memif" { // a program's own stack, which no hand of Linux reaches
			return fmt.Errorf("%s of %s: %w", what, p.Pod, ErrNothing)
		}
		if what == scenarios.BreakLink {
			return n.Linux.Apply(vppwire.LinkSet{Netns: n.Netns, Name: l.Name})
		}
		for _, a := range l.Addrs {
			if what == scenarios.BreakAddress && a.Addr() == p.Addr {
				return n.Linux.Apply(vppwire.AddrDel{Netns: n.Netns, Link: l.Name, Addr: a})
			}
		}
	}
	for r := range n.State.Linux.Routes(p.Netns) {
		if what == scenarios.BreakRoute && r.Dst.Bits() == 0 {
			r.Netns = n.Netns
			return n.Linux.Apply(vppwire.RouteDel{Route: r})
		}
	}
	return fmt.Errorf("%s of %s: %w", what, p.Pod, ErrNothing)
}

// breakTrunk deletes the parent of a pod's macvlan.
func (n Node) breakTrunk(p fact.PodState) error {
	shares := false
	for l := range n.State.Linux.Links(p.Netns) {
		shares = shares || l.Name == p.Owner.IfName && l.Parent == vppwire.TrunkLinuxDevice
	}
	if !shares {
		return fmt.Errorf("%s of %s: %w", scenarios.BreakTrunk, p.Pod, ErrNothing)
	}
	return n.Linux.Apply(vppwire.LinkDel{Name: vppwire.TrunkLinuxDevice})
}

// breakVPP breaks VPP's side: the interface by which the pod's address is reached, or the route to it.
func (n Node) breakVPP(ctx context.Context, p fact.PodState, what scenarios.Breakage) error {
	r, found := n.State.VPP.Route(n.State.PodTable, p.Addr)
	if !found || r.Action != fact.ActionForward || r.Prefix.Bits() != p.Addr.BitLen() {
		return fmt.Errorf("%s of %s: %w", what, p.Pod, ErrNothing)
	}
	var retval int32
	if what == scenarios.BreakVPPInterface {
		reply, err := interfaces.NewServiceClient(n.VPP).SwInterfaceSetFlags(ctx, &interfaces.SwInterfaceSetFlags{SwIfIndex: interface_types.InterfaceIndex(r.Index)})
		if err != nil {
			return fmt.Errorf("%s of %s: %w", what, p.Pod, err)
		}
		retval = reply.Retval
	} else {
		to, err := ip_types.ParsePrefix(r.Prefix.String())
		if err != nil {
			return err
		}
		reply, err := ip.NewServiceClient(n.VPP).IPRouteAddDelV2(ctx, &ip.IPRouteAddDelV2{Route: ip.IPRouteV2{TableID: n.State.PodTable, Prefix: to}})
		if err != nil {
			return fmt.Errorf("%s of %s: %w", what, p.Pod, err)
		}
		retval = reply.Retval
	}
	if retval != 0 {
		return fmt.Errorf("%s of %s: %w", what, p.Pod, api.RetvalToVPPApiError(retval))
	}
	return nil
}
