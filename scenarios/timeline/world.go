package timeline

import (
	"context"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// World is what a Player needs of the place where a scenario happens. A node is always named; a name that is not there any
// more is no error, because what an action has planned may come after the node has left.
type World interface {
	Machines
	Processes
	Pods
	Network
	ControlPlane
	Plugins

	// Now is the time since the start.
	Now() time.Duration
	// After does something d from now, on the goroutine that drives the run. What names it for people.
	After(d time.Duration, what string, do func())
	// Snapshot is the cluster as it is.
	Snapshot(ctx context.Context) (fact.Snapshot, error)
	// Tell tells the laws a fact.
	Tell(f fact.Fact)
	// Fail ends the run: something that an action began before has gone wrong.
	Fail(err error)
	// Restore ends what Heal has to end and no action has told the end of: every link is as usual, every server answers.
	Restore() error
	// Lacks are the needs that this world cannot meet.
	Lacks() []Need
}

// Machine is one node of the cluster.
type Machine struct {
	Name string
	// On: it has power.
	On bool
}

// Machines are the cluster's nodes as hardware.
type Machines interface {
	// Machines are the nodes that have joined and have not left, in any order.
	Machines() []Machine
	// Join makes a machine of a new name and its Node object. It may still be off.
	Join(ctx context.Context, name string, podCIDRs []netip.Prefix) error
	// PowerOn boots those of the named machines that are off. PowerOff takes one's power: whatever runs on it ends at once.
	PowerOn(ctx context.Context, names ...string) error
	PowerOff(ctx context.Context, name string) error
	// SyncDisk has everything that a machine's programs have written reach its disk, as an orderly reboot does.
	SyncDisk(name string) error
	// Cordon makes a node unschedulable, or schedulable again. A Node object of the same name that comes later is schedulable.
	Cordon(ctx context.Context, name string, cordoned bool) error
	// Remove takes a machine and its Node object away for good.
	Remove(ctx context.Context, name string) error
}

// Finalizers is what worlds without the lack NodeFinalizers have beside the others.
type Finalizers interface {
	// DeleteNode gives a Node object a deletionTimestamp; a finalizer keeps it until Remove.
	DeleteNode(name string)
}

// Registrations is what worlds without the lack NodeObjects have beside the others.
type Registrations interface {
	// Unregister deletes the Node object of a machine that goes on.
	Unregister(ctx context.Context, name string) error
	// Register has the machine's kubelet make a Node object of its name with a new UID. Pod CIDRs are those that it is given,
	// none where a controller assigns them.
	Register(ctx context.Context, name string, podCIDRs []netip.Prefix) error
}

// Renames is what worlds without the lack NodeNames have beside the others.
type Renames interface {
	// JoinAs is Join for a machine that has been known as former, is off and will never be on again under that name: what
	// is on its disk is on the new one's.
	JoinAs(ctx context.Context, name, former string, podCIDRs []netip.Prefix) error
}

// Claimants is what worlds without the lack Strangers have beside the others.
type Claimants interface {
	// Claim has a stranger on the wire ask each other node, by ARP, from a node's address and a MAC of its own. A node that has
	// left has none. EndClaim says that it will not do so again.
	Claim(node string) error
	EndClaim(node string) error
}

// Program is one of those on a node.
type Program uint8

// Programs. A Kubelet is never killed or started by itself, and a Runtime only in worlds of PluginPrograms.
const (
	Agent Program = iota
	VPP
	Kubelet
	// Runtime is kubelet and container runtime together.
	Runtime
)

// Kill is how a program is ended.
type Kill struct {
	// Hold: it stays down until Release, whoever would start it again.
	Hold bool
	// Reason is the Text of the fact that an agent has ended.
	Reason string
	// ReturnNIC: it is an agent that is asked to end, gives its host the NIC back first, and ends all the same where it cannot.
	ReturnNIC bool
}

// Processes are the programs on machines.
type Processes interface {
	// Kill ends a program at once; Start starts one that is down.
	Kill(node string, p Program, how Kill)
	Start(node string, p Program)
	// Pause stops a program that runs where it is, or lets it go on; one that is down stays so.
	Pause(node string, p Program, pause bool) error
	// SetClock moves a machine's wall clock.
	SetClock(node string, by time.Duration)
	// SetVersion says which version of the agent starts next on a node.
	SetVersion(node string, v scenarios.AgentVersion)
	// Release starts whatever is down on a machine that has power, held or not.
	Release(node string)
	// Quiet reports that nothing is under way that could change what the node should look like; CHECK and STATUS do not.
	Quiet(ctx context.Context, node string) bool
}

// Pod is a Pod object of namespace "default". A pod without a Node waits for the scheduler.
type Pod struct {
	Name, App, Node string
	// MaxPerNode bounds pods of the App on one node; 0 is no bound.
	MaxPerNode int
	// Pinned pods are not evicted. Deleting pods are about to go; new ones are not. Static pods' sandboxes have another UID.
	Pinned, Deleting, Static bool
	// Pool is what the pod's annotation names; empty without one.
	Pool string
	// Addresses are those that it asks for, one of a family.
	Addresses []netip.Addr
	// Interface is how it asks to be connected, a word of mode.Memif; empty: as its node's wiring has it.
	Interface string
}

// Request is one that a container runtime sends to a node's agent beside ADD and DEL of its pods.
type Request struct {
	// Command is Del, Check, GC or Status.
	Command string
	Owner   ipam.Owner
	Netns   string
	Addr    netip.Addr
	// Valid are GC's attachments.
	Valid []ipam.Owner
	// Reached, where set, is called when the agent takes the request on, before it does anything about it, where agent and VPP are those that
	// ran when it was sent: one that has begun anew looks at everything by itself. Worlds that do not see that instant never call it.
	Reached func()
}

// Response is what a plugin printed; without Known nobody can say, because the agent is down or a fault is active.
type Response struct {
	Known bool
	// Mending: the agent has changed something a moment ago, so that a refusal may tell of before.
	Mending bool
	Code    uint32
	Message string
}

// Pods are the Pod objects, and what container runtimes hold of them.
type Pods interface {
	// Pods lists a node's, or all for "", in name order.
	Pods(node string) []Pod
	// CreatePod creates one unless there is one of that name. DeletePod asks for one's graceful end, or takes
	// its object away at once.
	CreatePod(p Pod)
	DeletePod(name string, force bool)
	// EvictPod asks for a graceful end that a disruption budget may put off.
	EvictPod(name string)
	// ReplaceSandbox gives a pod a new sandbox; false when it has none with an address.
	ReplaceSandbox(pod string) bool
	// LoseSandbox takes a pod's sandbox away without a DEL for it, as the action says; false when it has none with an address, or a plugin is
	// busy with it.
	LoseSandbox(pod string, how scenarios.LoseSandboxes) bool
	// Sandboxes are those that exist on a node, in owner order; Past the owners of those that do not any more.
	Sandboxes(node string) []fact.PodState
	Past(node string) []ipam.Owner
	// Ask sends a request; done is called at most once, at once or later. A nil done waits for nothing.
	Ask(ctx context.Context, node string, r Request, done func(Response))
	// Break breaks a sandbox's wiring, without anybody else's noticing.
	Break(ctx context.Context, node string, s fact.PodState, what scenarios.Breakage) error
}

// Link is how a slow link differs from the usual one; the zero Link is as usual.
type Link struct {
	// Delay is added at most; Loss and Duplicate are probabilities.
	Delay           time.Duration
	Loss, Duplicate float64
}

// Network joins nodes with each other and with the control plane. Ends are names of nodes, scenarios.APIServer or
// scenarios.Store.
type Network interface {
	// Cut lets nothing through from one end to the other, nor back unless oneWay. Mend ends both.
	Cut(from, to scenarios.Endpoint, oneWay bool) error
	Mend(a, b scenarios.Endpoint) error
	// Slow makes both directions slow, or as usual again.
	Slow(a, b scenarios.Endpoint, l Link) error
}

// ControlPlane is the API server, the store, and what agents hear of them.
type ControlPlane interface {
	// StopStore and StopAPI switch a server off and on; WipeStore empties the store.
	StopStore(stop bool)
	StopAPI(stop bool)
	WipeStore() error
	// StopDHCP switches the DHCP server off and on, where there is one.
	StopDHCP(stop bool)
	// CompactStore makes the store forget its history.
	CompactStore(ctx context.Context) error
	// SetPools makes a plan the cluster's; pools are its ranges.
	SetPools(ctx context.Context, plan scenarios.IPAM, pools agent.Pools) error
	// AddRange, RemoveRange, LoseLeader and RestartController are for the controllers of nodes' pod ranges.
	AddRange(r netip.Prefix) error
	RemoveRange(r netip.Prefix) error
	LoseLeader(how scenarios.LoseLeader) error
	RestartController(a scenarios.RestartController) error
	// SetPodCIDR, SetAddress and SetManagement change one node.
	SetPodCIDR(ctx context.Context, node string, p netip.Prefix) error
	SetAddress(ctx context.Context, node string, a netip.Prefix) error
	SetManagement(ctx context.Context, node string, addrs []netip.Addr) error
	// LagWatches makes a node's watches late, 0 not any more; GapWatches makes them lose their place; RepeatWatches
	// delivers the last changes again.
	LagWatches(node string, lag time.Duration)
	GapWatches(ctx context.Context, node string) error
	RepeatWatches(node string, count int)
	// SetService makes a service what it says; RemoveService deletes one that is there; SetReady has pods pass or fail their readiness
	// probes. Endpoints follow.
	SetService(s scenarios.Service)
	RemoveService(name string)
	SetReady(pods []string, ready bool)
	// SetPolicy makes a network policy what it says; RemovePolicy deletes one that is there; LabelPods gives pods all their labels beside
	// app, LabelNamespace the namespace that they are in its own.
	SetPolicy(p scenarios.Policy)
	RemovePolicy(name string)
	LabelPods(pods []string, labels []scenarios.Label)
	LabelNamespace(labels []scenarios.Label)
	// Inject adds a fault, on one node or everywhere for "", until end is called.
	Inject(fault, node string) (end func(), err error)
}

// Plugins are CNI plugins that are programs of their own, with their state on a disk.
type Plugins interface {
	// KillPlugin has the plugins of a node's next command killed as the action says.
	KillPlugin(node string, how scenarios.KillPlugin)
	// FillDisk leaves no byte on the disk of a node's plugins, or gives all back. LoseState removes what is on it.
	FillDisk(node string, full bool) error
	LoseState(node string, what scenarios.PluginState) error
}

// NoPlugins are a world's that lacks PluginPrograms: nobody asks them for anything.
type NoPlugins struct{}

// KillPlugin implements Plugins.
func (NoPlugins) KillPlugin(string, scenarios.KillPlugin) {}

// FillDisk implements Plugins.
func (NoPlugins) FillDisk(string, bool) error { return result.ErrUnsupported }

// LoseState implements Plugins.
func (NoPlugins) LoseState(string, scenarios.PluginState) error { return result.ErrUnsupported }

// Inspector is a World that finds out by itself, without VPP's tables, what is wrong with a pod's wiring and with a node.
type Inspector interface {
	// Broken says what of a sandbox's wiring does not work at this instant, "" for nothing.
	Broken(ctx context.Context, node string, owner ipam.Owner) (wrong string, known bool)
	// CannotAdd says why a node could take no ADD, "" where it could.
	CannotAdd(node string) (why string, known bool)
}
