package controllers

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// fabric is a cloud's network between the nodes, as Kubernetes' controllers see it: it carries packets to pod addresses
// by its routes. A destination has one route; that of a machine that was deleted stays, and leads nowhere.
type fabric struct {
	cluster  string
	pods     []netip.Prefix
	machines map[string]bool
	routes   map[string]nodeipam.Route
	// others are the routes that are not the cluster's.
	others []scenarios.OtherRoute
}

// newFabric is nil where the network is no cloud's.
func newFabric(plan scenarios.IPAM) (*fabric, error) {
	c := plan.NodeIPAM
	if !c.ConfigureCloudRoutes {
		return nil, nil
	}
	p, err := plan.Plan()
	if err != nil {
		return nil, err
	}
	f := &fabric{cluster: c.ClusterName, machines: map[string]bool{}, routes: map[string]nodeipam.Route{}, others: c.OtherRoutes}
	for _, of := range p.Families() {
		f.pods = append(f.pods, of.PodSubnet)
	}
	for _, r := range c.OtherRoutes {
		f.routes[r.Name] = nodeipam.Route{Name: r.Name, Destination: r.Destination.String()}
	}
	return f, nil
}

func (f *fabric) list() []nodeipam.Route {
	var list []nodeipam.Route
	for _, name := range slices.Sorted(maps.Keys(f.routes)) {
		r := f.routes[name]
		r.Blackhole = r.Node != "" && !f.machines[r.Node]
		list = append(list, r)
	}
	return list
}

// taken finds the route that has a destination.
func (f *fabric) taken(destination string) (nodeipam.Route, bool) {
	for _, r := range f.routes { // in any order: a destination has one route
		if r.Destination == destination {
			return r, true
		}
	}
	return nodeipam.Route{}, false
}

// create makes a route; one that is there already is done.
func (f *fabric) create(r nodeipam.Route) error {
	switch have, ok := f.taken(r.Destination); {
	case !f.machines[r.Node]:
		return cluster.ErrNotFound
	case ok && have == r:
		return nil
	case ok:
		return fmt.Errorf("route %s has %s", have.Name, r.Destination)
	}
	f.routes[r.Name] = r
	return nil
}

func (f *fabric) delete(r nodeipam.Route) error {
	delete(f.routes, r.Name)
	return nil
}

// pending says what the route controller has to do that the cloud lets it: "" for nothing.
func (f *fabric) pending(nodes []cluster.Object) string {
	wanted := map[string]bool{}
	for _, o := range nodes {
		n := o.(*cluster.Node)
		routed := len(n.PodCIDRs) > 0
		for _, p := range n.PodCIDRs {
			r := nodeipam.Route{Name: nodeipam.RouteName(f.cluster, n.UID, p), Destination: p.String(), Node: n.Name}
			wanted[r.Name] = true
			if have, ok := f.taken(r.Destination); ok && have != r || !f.machines[n.Name] {
				routed = false
			} else if !ok {
				return n.Name + " has no route to " + r.Destination
			}
		}
		if routed != (n.Network == cluster.NetworkAvailable) {
			return n.Name + ": its condition NetworkUnavailable is wrong"
		}
	}
	for _, r := range f.list() {
		if nodeipam.OwnRoute(f.cluster, r.Name) && (!wanted[r.Name] || r.Blackhole) {
			return "route " + r.Name + " is of no node"
		}
	}
	return ""
}

// Fabric implements Routed.
func (s *rangeSystem) Fabric() *fact.Fabric {
	if s.fabric == nil {
		return nil
	}
	out := &fact.Fabric{Pods: s.fabric.pods, Unavailable: map[string]bool{}}
	for _, r := range s.fabric.list() {
		to, err := space.ParsePrefix(r.Destination)
		Accept("fabric", err)
		node := r.Node
		if r.Blackhole {
			node = ""
		}
		out.Routes = append(out.Routes, fact.FabricRoute{Name: r.Name, Destination: to, Node: node})
	}
	for _, r := range s.fabric.others {
		out.Others = append(out.Others, fact.FabricRoute{Name: r.Name, Destination: r.Destination})
	}
	for _, o := range s.nodes() {
		n := o.(*cluster.Node)
		out.Unavailable[n.Name] = n.Network == cluster.NetworkUnavailable
	}
	return out
}

// Network implements Routed: a cloud's machines register without a route.
func (s *rangeSystem) Network() cluster.NetworkCondition {
	if s.fabric == nil {
		return cluster.NetworkUnsaid
	}
	return cluster.NetworkUnavailable
}

// Routed is a System whose machines may be in a cloud's network.
type Routed interface {
	// Fabric is that network, nil where there is none.
	Fabric() *fact.Fabric
	// Network is the condition that a node registers with.
	Network() cluster.NetworkCondition
}

// listRoutes asks the cloud for the routes of its network. No node waits for that: it is asked in every pass.
func (c *controller) listRoutes(e nodeipam.ListRoutes) {
	var list []nodeipam.Route
	c.outside(fault.Op{Node: c.kind, Name: routeList, Key: e.Cluster}, aliasTime, func() error {
		list = c.system.fabric.list()
		return nil
	}, func(err error) {
		c.step(nodeipam.Routes{ID: e.ID, Outcome: outcome(err), Why: because(err), Routes: list})
	}, c.crash)
}

// changeRoute has the cloud create or delete a route.
func (c *controller) changeRoute(e nodeipam.Effect, id uint64, what string, r nodeipam.Route, act func(nodeipam.Route) error) {
	c.system.requests++
	c.asked++
	c.env.decided(c.name, "%s", e.AppendText(nil))
	c.outside(fault.Op{Node: c.kind, Name: what, Key: r.Name}, changeTime, func() error { return act(r) }, func(err error) {
		c.asked--
		c.step(nodeipam.Answered{ID: id, Outcome: outcome(err), Why: because(err)})
	}, c.crash)
}
