package controllers

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// ciliumMachine is what a ciliumAgent drives: a cilium.Requester or a cilium.AddressAgent.
type ciliumMachine interface {
	Step(now time.Time, ev cilium.Event) []cilium.Effect
	// Blocks are what the node's agent should have.
	Blocks() []netip.Prefix
	Pending() string
}

// ciliumAgent drives the part of a Cilium agent that works on its node's resource, for one life of a node's agent.
type ciliumAgent struct {
	env     *Env
	node    string
	machine ciliumMachine
	// look is the state of the node's agent; behind reports whether the machine has to be notified of it.
	look   func() cilium.AgentSeen
	behind func() bool
	at     cluster.Endpoint
	api    *apiClient
	// feed follows the node's resource, self its Node object.
	feed, self *cluster.Informer
	// requests counts writes.
	requests *int64
	// looking: the machine has asked for the agent's state. scheduled: it is about to get that. wake numbers its alarms.
	dead, looking, scheduled bool
	wake                     uint64
}

func newCiliumAgent(e *Env, node string, m ciliumMachine, requests *int64) *ciliumAgent {
	a := &ciliumAgent{env: e, node: node, machine: m, requests: requests, at: e.Cluster.Net.Endpoint(node)}
	a.api = e.apiClient(node, func() bool { return a.dead })
	// Fresh, as vppwire/host/kube lists: the object of the node's former life must not be taken for its own.
	a.feed = e.Cluster.API.NewInformer(cluster.InformerConfig{Name: "cilium", At: a.at, Kind: cluster.KindResource, Node: node, Fresh: true, Handler: ciliumFeed{a.step}})
	a.self = e.Cluster.API.NewInformer(cluster.InformerConfig{Name: "cilium's node", At: a.at, Kind: cluster.KindNode, Node: node, Fresh: true, Handler: ciliumSelf{a.step}})
	return a
}

func (a *ciliumAgent) start() {
	a.self.Start()
	a.feed.Start()
}

func (a *ciliumAgent) stop() {
	a.dead = true
	a.feed.Stop()
	a.self.Stop()
}

func (a *ciliumAgent) step(ev cilium.Event) {
	if a.dead {
		return
	}
	for _, e := range a.machine.Step(a.env.now(), ev) {
		if a.dead {
			return
		}
		a.env.decidedEffect(a.node, e)
		a.perform(e)
	}
}

func (a *ciliumAgent) perform(e cilium.Effect) {
	switch e := e.(type) {
	case cilium.CreateResource:
		a.put(e.ID, resourceMake, createResource(e.Object))
	case cilium.WriteResource:
		a.put(e.ID, resourceAsk, writeResource(e.Object))
	case cilium.TellAgent:
		a.env.Tell(a.node, e.Blocks)
	case cilium.LookAtAgent:
		a.looking = true
		a.soon()
	case cilium.WakeAt:
		a.alarm(e.At)
	case cilium.Note:
		a.env.Note(a.node, e.Text)
	default:
		panic("controllers: an effect of a Cilium agent: " + string(e.AppendText(nil)))
	}
}

// put writes the node's resource.
func (a *ciliumAgent) put(id uint64, what string, act func(*cluster.API) (cluster.Object, error)) {
	*a.requests++
	call := &cluster.ResourceCall{API: a.env.Cluster.API, What: "cilium " + what + " " + a.node, Act: act,
		Then: func(o cluster.Object, err error) { a.step(wrote(id, o, err)) }}
	a.env.call(a.api, fault.Op{Node: a.node, Name: what, Key: a.node}, call, func() { call.Send(a.at) }, func() { a.env.Crash(a.node) })
}

// alarm replaces the machine's alarm; the zero time cancels it.
func (a *ciliumAgent) alarm(at time.Time) {
	a.wake++
	if n := a.wake; !at.IsZero() {
		a.env.Clock.After(max(0, at.Sub(a.env.now())), &step{a.node, "cilium wakes", func() {
			if a.wake == n {
				a.step(cilium.Woke{})
			}
		}})
	}
}

// changed shows the machine the agent, where that has to do with it.
func (a *ciliumAgent) changed() {
	if a.looking && a.behind() {
		a.soon()
	}
}

// soon shows it the agent in an event of its own: the agent is in the middle of a step.
func (a *ciliumAgent) soon() {
	if a.scheduled || a.dead {
		return
	}
	a.scheduled = true
	a.env.Clock.After(0, &step{a.node, "cilium looks", func() {
		if a.scheduled = false; !a.dead {
			a.step(a.look())
		}
	}})
}

// want are the blocks that the agent should have.
func (a *ciliumAgent) want() []netip.Prefix { return a.machine.Blocks() }

func (a *ciliumAgent) pending() string {
	if why := a.machine.Pending(); why != "" || !a.scheduled {
		return why
	}
	return "its Cilium agent is about to look"
}
