package cluster

import (
	"slices"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// AgentProgram is what informers of agents are called.
const AgentProgram = "agent"

// AgentFeed reports nodes, its own pods and the pools to one life of an agent: what vppwire/host learns from a real API
// server. It never lists from the server's cache, where a recreated node would find its former Node object, and with it
// its former ID.
type AgentFeed struct {
	// Nodes, Pods and Configs are the feed's informers, for fault hooks.
	Nodes, Pods, Configs *Informer
	// Services and Endpoints are nil for an agent that does not serve services.
	Services, Endpoints *Informer
	// Policies, Peers and Namespaces are nil for an agent that enforces no network policies.
	Policies, Peers, Namespaces *Informer

	sink func(agent.Event)
}

// NewAgentFeed returns a feed for the agent of a node that runs at an endpoint. Sink receives NodeSeen, NodeGone,
// NodesListed, PodsListed and PoolsChanged (of configurations whose value is agent.Pools) inside the event loop, after
// Start and until Stop.
func (a *API) NewAgentFeed(node string, at Endpoint, sink func(agent.Event)) *AgentFeed {
	f := &AgentFeed{sink: sink}
	f.Nodes = a.NewInformer(InformerConfig{Name: AgentProgram, At: at, Kind: KindNode, Fresh: true, Handler: (*feedNodes)(f)})
	f.Pods = a.NewInformer(InformerConfig{Name: AgentProgram, At: at, Kind: KindPod, Node: node, Fresh: true, Handler: (*feedPods)(f)})
	f.Configs = a.NewInformer(InformerConfig{Name: AgentProgram, At: at, Kind: KindConfigMap, Fresh: true, Handler: (*feedConfigs)(f)})
	return f
}

// WithServices adds services and endpoints to the feed, with ServicesListed and EndpointsListed. It is called before
// Start.
func (f *AgentFeed) WithServices() {
	api, at := f.Nodes.api, f.Nodes.cfg.At
	f.Services = api.NewInformer(InformerConfig{Name: AgentProgram, At: at, Kind: KindService, Fresh: true, Handler: (*feedServices)(f)})
	f.Endpoints = api.NewInformer(InformerConfig{Name: AgentProgram, At: at, Kind: KindEndpoints, Fresh: true, Handler: (*feedEndpoints)(f)})
}

// OfOwnNode has the feed bring the agent's own Node object alone. It is called before Start.
func (f *AgentFeed) OfOwnNode() { f.Nodes.cfg.Node = f.Pods.cfg.Node }

// All are the feed's informers.
func (f *AgentFeed) All() []*Informer {
	all := []*Informer{f.Nodes, f.Pods, f.Configs}
	if f.Services != nil {
		all = append(all, f.Services, f.Endpoints)
	}
	if f.Policies != nil {
		all = append(all, f.Policies, f.Peers, f.Namespaces)
	}
	return all
}

// Start begins the feed, with every existing object.
func (f *AgentFeed) Start() {
	for _, i := range f.All() {
		i.Start()
	}
}

// Stop ends the feed: the agent died.
func (f *AgentFeed) Stop() {
	for _, i := range f.All() {
		i.Stop()
	}
}

// Synced reports that all lists were delivered and watches are live.
func (f *AgentFeed) Synced() bool {
	return !slices.ContainsFunc(f.All(), func(i *Informer) bool { return !i.Synced() })
}

type feedNodes AgentFeed

func (f *feedNodes) seen(n *Node) {
	if n.seen == nil {
		n.seen = agent.NodeSeen{Name: n.Name, UID: n.UID, PodCIDRs: n.PodCIDRs, Addresses: n.Addresses, Zone: n.Zone}
	}
	f.sink(n.seen)
}

// tellList delivers a list object by object, then its end. A list that a relist interrupts has no end: its undelivered
// objects would count as gone.
func tellList(i *Informer, objects []Object, seen func(Object), end func()) {
	attempt := i.attempt
	for _, o := range objects {
		seen(o)
		if i.attempt != attempt {
			return
		}
	}
	end()
}

// Listed is called by the informer.
func (f *feedNodes) Listed(objects []Object, _ int64) {
	tellList(f.Nodes, objects, func(o Object) { f.seen(o.(*Node)) }, func() { f.sink(agent.NodesListed{Age: f.Nodes.listAge(), UIDs: uidsOf(objects)}) })
}

// Changed is called by the informer.
func (f *feedNodes) Changed(c Change) {
	n := c.Object.(*Node)
	if c.Type == Deleted {
		f.sink(agent.NodeGone{Name: n.Name, UID: n.UID})
	} else {
		f.seen(n)
	}
}

type feedPods AgentFeed

// Listed is called by the informer.
func (f *feedPods) Listed(objects []Object, _ int64) {
	f.sink(agent.PodsListed{UIDs: uidsOf(objects)})
}

func uidsOf(objects []Object) []string {
	uids := make([]string, len(objects))
	for i, o := range objects {
		uids[i] = o.Common().UID
	}
	return uids
}

// Changed is called by the informer. The agent learns of single pods from the CNI plugin.
func (f *feedPods) Changed(Change) {}

type feedConfigs AgentFeed

// Listed is called by the informer.
func (f *feedConfigs) Listed(objects []Object, _ int64) {
	for _, o := range objects {
		f.config(o.(*ConfigMap))
	}
}

// Changed is called by the informer.
func (f *feedConfigs) Changed(c Change) {
	if c.Type != Deleted {
		f.config(c.Object.(*ConfigMap))
	}
}

func (f *feedConfigs) config(c *ConfigMap) {
	if pools, ok := c.Value.(agent.Pools); ok {
		pools.Generation = c.Generation
		f.sink(agent.PoolsChanged{Pools: pools})
	}
}

type feedServices AgentFeed

// serviceNames are the names of services or slices.
func serviceNames(objects []Object) []service.Name {
	names := make([]service.Name, len(objects))
	for i, o := range objects {
		names[i] = service.Name{Namespace: o.Common().Namespace, Name: o.Common().Name}
	}
	return names
}

func (f *feedServices) seen(o Object) { f.sink(agent.ServiceSeen{Service: o.(*Service).Value}) }

// Listed is called by the informer.
func (f *feedServices) Listed(objects []Object, _ int64) {
	tellList(f.Services, objects, f.seen, func() { f.sink(agent.ServicesListed{Names: serviceNames(objects)}) })
}

// Changed is called by the informer.
func (f *feedServices) Changed(c Change) {
	if c.Type == Deleted {
		f.sink(agent.ServiceGone{Name: c.Object.(*Service).Value.Name})
	} else {
		f.seen(c.Object)
	}
}

type feedEndpoints AgentFeed

func (f *feedEndpoints) seen(o Object) { f.sink(agent.EndpointsSeen{Slice: o.(*Endpoints).Value}) }

// Listed is called by the informer.
func (f *feedEndpoints) Listed(objects []Object, _ int64) {
	tellList(f.Endpoints, objects, f.seen, func() { f.sink(agent.EndpointsListed{Names: serviceNames(objects)}) })
}

// Changed is called by the informer.
func (f *feedEndpoints) Changed(c Change) {
	if c.Type == Deleted {
		f.sink(agent.EndpointsGone{Name: c.Object.(*Endpoints).Value.Name})
	} else {
		f.seen(c.Object)
	}
}
