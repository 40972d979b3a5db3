package controllers

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// Handshake is what a Cilium agent's side of the release handshake says; see Plant.Handshake.
type Handshake interface {
	// Blocked reports whether an address in this state must not be given to pods.
	Blocked(s cilium.HandshakeState) bool
	// Forget reports whether the agent says that it is done with a released address.
	Forget() bool
}

// Reserver keeps a node's own routes out of what is given to pods: cilium.IPAM.
type Reserver interface {
	ReserveLocalRoutes() (cilium.RouteReport, error)
}

// handshake is the one that is right.
type handshake struct{}

// Blocked implements Handshake.
func (handshake) Blocked(s cilium.HandshakeState) bool { return s.Blocked() }

// Forget implements Handshake.
func (handshake) Forget() bool { return true }

// crdAgent is the part of a Cilium agent that tells its operator what is in use and answers it, for one life of a node's agent.
type crdAgent struct {
	*nodeWriter
	system *crdSystem
	side   Side
	alloc  *cilium.AddressNode
	store  *cilium.NodeStore
	// core gives the pool's addresses out; timers and routes are parts of it.
	core   *cilium.IPAM
	timers Expirations
	routes Reserver
	// asked are addresses that plugins have asked for and no pod has yet.
	asked map[ipam.Owner]asked
	says  Handshake
	feed  *cluster.Informer

	listed, restored    bool
	view                *cluster.Resource
	told                []netip.Prefix
	spoke               bool
	scheduled, alarming bool
	leases              int
}

func newCRDAgent(s *crdSystem, node string, side Side, alloc *cilium.AddressNode) *crdAgent {
	store, err := cilium.NewNodeStore(cilium.StoreConfig{Name: node, Pick: picker{&s.env}})
	Accept(node+"'s Cilium agent", err)
	a := &crdAgent{nodeWriter: newNodeWriter(&s.env, node, "cilium", &s.requests), system: s, side: side, alloc: alloc, store: store, says: handshake{}, asked: make(map[ipam.Owner]asked)}
	a.nodeWriter.soon = a.soon
	a.core, err = cilium.NewIPAM(cilium.Addressing{CIDR4: s.env.Plan.PodSubnetCIDR.Prefix}, cilium.Configuration{
		EnableIPv4: true, IPAM: string(s.env.Plan.Cilium.Mode), Store: store, Pick: picker{&s.env}, Now: s.env.now, BlacklistConflictingRoutes: true,
		Routes: func() ([]cilium.Route, error) { return s.env.routes(node), nil },
	}, nil)
	Accept(node+"'s Cilium agent", err)
	a.timers, a.routes = a.core, a.core
	if plant := s.env.Plant.Expirations; plant != nil {
		a.timers = plant(node, a.timers)
	}
	if plant := s.env.Plant.Routes; plant != nil {
		a.routes = plant(node, a.core, func() []cilium.Route { return s.env.routes(node) })
	}
	if plant := s.env.Plant.Side; plant != nil {
		a.side = plant(node, side)
	}
	if plant := s.env.Plant.Handshake; plant != nil {
		a.says = plant(node, s.restarts[node], a.says)
	}
	// Fresh: what was agreed to before must not look as if it was not.
	a.feed = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "cilium", At: a.at, Kind: cluster.KindResource, Node: node, Fresh: true, Handler: a})
	return a
}

// Listed implements cluster.Handler.
func (a *crdAgent) Listed(objects []cluster.Object, _ int64) {
	a.listed = true
	before := a.view
	a.view = nil
	for _, o := range objects {
		a.view = o.(*cluster.Resource)
	}
	if before != nil && a.view != nil && before.UID == a.view.UID && before.ResourceVersion > a.view.ResourceVersion {
		a.view = before
	}
	a.soon()
}

// Changed implements cluster.Handler.
func (a *crdAgent) Changed(ch cluster.Change) {
	switch o := ch.Object.(*cluster.Resource); {
	case ch.Type == cluster.Deleted:
		a.view = nil
	case a.view == nil || a.view.UID != o.UID || a.view.ResourceVersion < o.ResourceVersion:
		a.view = o
	}
	a.soon()
}

// want is what the agent should have: the pool without what is on its way back. What is marked and in use stays.
func (a *crdAgent) want() []netip.Prefix {
	if a.view == nil {
		return nil
	}
	n := a.view.Value.(*cilium.CiliumNode)
	return slices.DeleteFunc(poolUnits(n.Spec.IPAM.Pool), func(p netip.Prefix) bool {
		return a.says.Blocked(n.Status.IPAM.ReleaseIPs[p.Addr()]) && !a.used(p.Addr())
	})
}

func (a *crdAgent) used(ip netip.Addr) bool {
	for l := range a.alloc.Leases() {
		if l.Addr == ip {
			return true
		}
	}
	return false
}

// changed looks whether the agent's step concerns what is told.
func (a *crdAgent) changed() {
	if a.alloc.Len() != a.leases || a.leaves() {
		a.soon()
	}
}

// leaves reports whether an address is marked.
func (a *crdAgent) leaves() bool {
	return a.view != nil && len(a.view.Value.(*cilium.CiliumNode).Status.IPAM.ReleaseIPs) > 0
}

// soon evaluates in an event of its own: the agent is in the middle of a step.
func (a *crdAgent) soon() { a.later(0) }

func (a *crdAgent) later(d time.Duration) {
	if d == 0 && a.scheduled || d > 0 && a.alarming || a.dead {
		return
	}
	flag := &a.scheduled
	if d > 0 {
		flag = &a.alarming
	}
	*flag = true
	a.system.env.Clock.After(d, &step{a.node, "cilium status", func() {
		if *flag = false; !a.dead {
			a.evaluate()
		}
	}})
}

func (a *crdAgent) evaluate() {
	a.leases = a.alloc.Len()
	switch {
	case !a.listed || a.writing || a.retrying:
		return
	case a.view == nil:
		a.create()
		return
	}
	if err := a.store.Update(ciliumNode(a.view)); err != nil {
		a.system.env.Note(a.node, err.Error())
		return
	}
	a.account()
	if want := a.want(); !slices.Equal(want, a.told) || !a.spoke {
		a.told, a.spoke = want, true
		a.system.env.Tell(a.node, want)
		if a.dead {
			return
		}
	}
	a.account()
	if !a.agrees() {
		return // the agent still has to drop what is marked
	}
	now := a.system.env.now()
	if n, ok := a.store.Publish(now); ok {
		if !a.says.Forget() {
			for ip, s := range a.view.Value.(*cilium.CiliumNode).Status.IPAM.ReleaseIPs { //vppdrill:unordered each by itself
				if s == cilium.Released {
					if n.Status.IPAM.ReleaseIPs == nil {
						n.Status.IPAM.ReleaseIPs = make(map[netip.Addr]cilium.HandshakeState)
					}
					n.Status.IPAM.ReleaseIPs[ip] = s
				}
			}
		}
		a.put(resourceAsk, updateResource(&cluster.Resource{Meta: a.view.Meta, Owner: a.view.Owner, Value: n}))
	} else if at := a.store.NextPublish(); at.After(now) {
		a.later(at.Sub(now))
	}
}

// agrees reports whether the agent has dropped for good what its answers would give away.
func (a *crdAgent) agrees() bool {
	held := a.side.Blocks()
	answers := a.store.Answers()
	for ip := range answers { //vppdrill:unordered all of them are asked
		if answers[ip] == cilium.ReadyForRelease && (!a.side.Idle() || slices.ContainsFunc(held, func(b ipam.Block) bool { return b.Prefix == unit(ip) })) {
			return false
		}
	}
	return true
}

// create makes the node's resource, as soon as there is a Node object to own it.
func (a *crdAgent) create() {
	n := &cilium.CiliumNode{}
	n.Spec.IPAM.Watermarks = a.system.watermarks()
	a.put(resourceMake, makeResource(a.node, n))
}

// put writes the node's resource.
func (a *crdAgent) put(what string, act func(*cluster.API) (cluster.Object, error)) {
	a.write(what, a.node, act, func(o cluster.Object, err error) {
		if err == nil {
			if x, ok := o.(*cluster.Resource); ok && (a.view == nil || a.view.UID != x.UID || a.view.ResourceVersion < x.ResourceVersion) {
				a.view = x
			}
			a.soon()
			return
		}
		a.store.Refused()
		d := retryTime
		if errors.Is(err, cluster.ErrConflict) || errors.Is(err, cluster.ErrExists) {
			d = conflictTime // the watch tells what is there
		}
		a.wait(d)
	})
}

func (a *crdAgent) start() { a.feed.Start() }

func (a *crdAgent) stop() {
	a.dead = true
	a.feed.Stop()
}

func (a *crdAgent) pending() string {
	switch {
	case !a.listed || a.view == nil:
		return "its CiliumNode resource is not known"
	case a.writing || a.scheduled || a.retrying || a.alarming:
		return "its CiliumNode resource is being written"
	case a.leaves():
		return "addresses of its are on their way back"
	}
	return ""
}
