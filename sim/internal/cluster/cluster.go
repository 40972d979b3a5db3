package cluster

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vppdrill/vppdrill/sim/store"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Names of the endpoints beside the nodes; a node's endpoint has the node's name.
const (
	EndpointAPI       = "api"
	EndpointStore     = "store"
	EndpointScheduler = "scheduler"
)

// Config configures a Cluster. Clock and Machine must be set; zero parts have the defaults that they document.
type Config struct {
	Clock     Clock
	Machine   Machine
	Hooks     Hooks
	Network   NetworkConfig
	API       APIConfig
	Scheduler SchedulerConfig
	Lifecycle LifecycleConfig
	Kubelet   KubeletConfig
	// Clocks are a machine's; nil: the run's own.
	Clocks func(node string) MachineClocks
}

// Cluster joins the parts into one control plane with kubelets.
type Cluster struct {
	Net       *Network
	API       *API
	Store     *StoreServer
	Scheduler *Scheduler
	Lifecycle *NodeLifecycle
	Workload  *Workload

	cfg      Config
	kubelets map[string]*Kubelet
	byPlace  map[Endpoint]*Kubelet
}

// New returns a cluster without nodes. Its scheduler has started.
func New(cfg Config) *Cluster {
	net := NewNetwork(cfg.Clock, cfg.Network)
	api := NewAPI(cfg.Clock, net, net.Endpoint(EndpointAPI), cfg.API)
	c := &Cluster{
		Net: net, API: api,
		Store:     NewStoreServer(cfg.Clock, net, net.Endpoint(EndpointStore), store.New()),
		Scheduler: api.NewScheduler(net.Endpoint(EndpointScheduler), cfg.Scheduler),
		Lifecycle: api.NewNodeLifecycle(cfg.Lifecycle),
		Workload:  api.NewWorkload(),
		cfg:       cfg, kubelets: make(map[string]*Kubelet), byPlace: make(map[Endpoint]*Kubelet),
	}
	net.OnCut(c.linkChanged)
	c.Scheduler.Start()
	return c
}

// AddNode boots a machine and joins it under spec.Name as a new Node object. An error when there is one of that name.
func (c *Cluster) AddNode(spec Node) error {
	name := spec.Name
	if c.kubelets[name] != nil || name == "" {
		return fmt.Errorf("add node %q: there is one, or the name is empty", name)
	}
	at := c.Net.Endpoint(name)
	cfg := c.cfg.Kubelet
	if c.cfg.Clocks != nil {
		cfg.Clocks = c.cfg.Clocks(name)
	}
	k := c.API.NewKubelet(name, at, c.cfg.Machine, &c.cfg.Hooks, cfg)
	c.kubelets[name], c.byPlace[at] = k, k
	k.alive = func() { c.judge(k) }
	k.PowerOn()
	c.Lifecycle.Join(spec)
	return nil
}

// RemoveNode takes a machine away for good and deletes its Node object. Hooks.Gone is called for each of its sandboxes.
func (c *Cluster) RemoveNode(name string) error {
	k := c.kubelets[name]
	if k == nil {
		return fmt.Errorf("remove node %q: there is none", name)
	}
	c.Lifecycle.Remove(name)
	k.alive = nil
	k.Remove()
	delete(c.kubelets, name)
	delete(c.byPlace, k.at)
	return nil
}

// Kubelet returns a node's kubelet, nil without one. Crash and recovery of a machine are its PowerOff and PowerOn.
func (c *Cluster) Kubelet(name string) *Kubelet { return c.kubelets[name] }

// Nodes lists the machines' names in ascending order.
func (c *Cluster) Nodes() []string { return slices.Sorted(maps.Keys(c.kubelets)) }

// NewFeed returns the feed of a node's agent about the cluster; Start it with the agent, Stop it with it.
func (c *Cluster) NewFeed(node string, sink func(agent.Event)) *AgentFeed {
	return c.API.NewAgentFeed(node, c.Net.Endpoint(node), sink)
}

// NewStoreClient returns a connection of a node's agent to the store; Close it when the agent dies.
func (c *Cluster) NewStoreClient(node string, sink func(agent.Event)) *StoreClient {
	return c.Store.Connect(c.Net.Endpoint(node), sink)
}

// Heal ends cuts and outages, and boots and starts what was off or down. Link behaviour and stream faults stay.
func (c *Cluster) Heal() {
	c.Net.MendAll()
	c.API.SetAvailable(true)
	c.Store.SetAvailable(true)
	for _, name := range c.Nodes() {
		k := c.kubelets[name]
		k.PowerOn()
		k.Start()
	}
}

// linkChanged lets the node controller notice that a node is cut off, or is not any more.
func (c *Cluster) linkChanged(from, to Endpoint) {
	for _, end := range [...]Endpoint{from, to} {
		if k := c.byPlace[end]; k != nil && (from == c.API.at || to == c.API.at) {
			c.judge(k)
		}
	}
}

// judge says whether a node's leases reach the API server, which takes both directions of a connection.
func (c *Cluster) judge(k *Kubelet) {
	c.Lifecycle.SetAlive(k.node, c.reaches(k))
}

func (c *Cluster) reaches(k *Kubelet) bool {
	return k.running && !k.paused && !c.Net.IsCut(k.at, c.API.at) && !c.Net.IsCut(c.API.at, k.at)
}

// Alive reports whether what a node's kubelet writes reaches the API server, as far as the node is concerned.
func (c *Cluster) Alive(node string) bool {
	k := c.kubelets[node]
	return k != nil && c.reaches(k)
}

// Load reports the work under way in the whole cluster.
type Load struct {
	Busy
	// Pods are on their way up or down on some node; Starved of them wait for an address, between two attempts.
	Pods, Starved int
	// Scheduling: a pod is being bound. Pods that fit nowhere do not count.
	Scheduling bool
	// Due are timers of the node controller that have to fire.
	Due int
}

// Quiet reports that nothing will happen without a further action, except that starved pods try again and again.
func (l Load) Quiet() bool {
	return l.Busy.Quiet() && l.Pods == l.Starved && !l.Scheduling && l.Due == 0
}

// Load counts what is under way; it takes constant time.
func (c *Cluster) Load() Load {
	return Load{
		Busy: c.Net.busy, Pods: c.API.unsettled, Starved: c.API.starved, Scheduling: c.Scheduler.Busy(),
		Due: c.Lifecycle.due,
	}
}

// Pending describes what keeps the cluster from being quiet, at most limit lines.
func (c *Cluster) Pending(limit int) (lines []string) {
	l := c.Load()
	for _, part := range [...]struct {
		n    int
		what string
	}{
		{l.Calls, "requests without an answer"}, {l.Streamed, "changes on their way"}, {l.Unsynced, "informers without a watch"},
		{l.Due, "timers of the node controller"},
	} {
		if part.n > 0 {
			lines = append(lines, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if l.Scheduling {
		lines = append(lines, "scheduler is binding pods")
	}
	for _, name := range c.Nodes() {
		if k := c.kubelets[name]; k.unsettled > 0 && len(lines) < limit {
			lines = append(lines, k.Pending()...)
		}
	}
	return lines[:min(len(lines), limit)]
}
