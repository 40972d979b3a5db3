package controllers

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// Env is what a System needs of the run.
type Env struct {
	Clock   cluster.Clock
	Cluster *cluster.Cluster
	// Epoch is virtual time zero.
	Epoch time.Time
	Plan  scenarios.IPAM
	// Tell gives the living agent of a node its blocks from now on.
	Tell func(node string, blocks []netip.Prefix)
	// Assigned receives the blocks that a system says a node has, whenever they may have changed.
	Assigned func(node string, blocks []netip.Prefix)
	// SetAside receives the number of addresses that a node keeps for itself beside its blocks, when it changes.
	SetAside func(node string, n int)
	// Note puts a line into the trail.
	Note func(who, text string)
	// Decided, where set, receives the controllers' decisions that no event shows, in words.
	Decided func(who, text string)
	// Routes are those of a node's host; nil: none are known.
	Routes func(node string) []cilium.Route
	// Judge says what befalls a request of a controller; nil: nothing. Crash ends a node's agent, which is started again.
	Judge func(fault.Op) fault.Verdict
	Crash func(node string)
	// Ranged, where set, is called when a range for blocks was opened or closed.
	Ranged func(r netip.Prefix, closed bool)
	// Changing, where set, is called when a life of an elected program asks for a change: the life, the change, and for
	// how long it has certainly not led any more.
	Changing func(program string, life int, what string, past time.Duration)
	// Wall gives the clocks of the machine on which a life of a controller runs; nil: all are right.
	Wall func(name string) Wall
	// Plant puts faults back; the zero Plant none.
	Plant Plant
}

// Wall is the clocks of one machine of the control plane.
type Wall interface {
	// Now is what its wall clock says, since Epoch.
	Now() time.Duration
	// UntilAfter is how long it takes until so much has passed by its own count.
	UntilAfter(d time.Duration) time.Duration
}

// decided reports a decision, where there is a listener.
func (e *Env) decided(who, format string, args ...any) {
	if e.Decided != nil {
		e.Decided(who, fmt.Sprintf(format, args...))
	}
}

// ranged reports a range that was opened or closed.
func (e *Env) ranged(r netip.Prefix, closed bool) {
	if e.Ranged != nil {
		e.Ranged(r, closed)
	}
}

// now is the true time: that of a cloud, and of daemons that compare nothing with others' times.
func (e *Env) now() time.Time { return e.Epoch.Add(e.Clock.Now()) }

// routes are those of a node's host.
func (e *Env) routes(node string) []cilium.Route {
	if e.Routes == nil {
		return nil
	}
	return e.Routes(node)
}

// pick is a free decision of the run.
func (e *Env) pick(label string, n int) int { return e.Clock.Choose(label, n) }

// Side is what a System may see of the living agent of a node.
type Side interface {
	// Blocks are those that the agent holds, draining ones among them.
	Blocks() []ipam.Block
	// Idle reports whether all that the agent has decided is journaled and acknowledged to the other nodes.
	Idle() bool
	// Now is the agent's own time.
	Now() time.Time
}

// Attempt is one ADD's search for an address: each of a pod's sandboxes is an owner of its own.
type Attempt struct {
	Pod    string // "namespace/name"
	Owner  ipam.Owner
	Placed bool
	// Wanted are the addresses that the pod asks for.
	Wanted []netip.Addr
}

// System is where nodes' blocks come from.
type System interface {
	// Allocator makes a node's allocator for one life of its agent.
	Allocator(node string) (ipam.NodeAllocator, error)
	// Start boots the system's controllers.
	Start()
	// Join and Leave report machines, before their Node object comes and when it was deleted. An error is a machine that
	// cannot be made.
	Join(node string) error
	Leave(node string)
	// AgentUp begins, AgentDown ends a life of a node's agent. Its allocator is the last one made for it.
	AgentUp(node string, side Side)
	AgentDown(node string)
	// Changed says that leases or blocks of a node may have changed, Tried that a pod there found an address or none.
	Changed(node string)
	Tried(node string, a Attempt)
	// Blocks are what the node's agent should receive as its pod CIDRs; false leaves those of the Node object.
	Blocks(node string) ([]netip.Prefix, bool)
	// AddRange and RemoveRange change what blocks are carved from.
	AddRange(r netip.Prefix) error
	RemoveRange(r netip.Prefix) error
	// LoseLeader cuts the leading controller off: its requests arrive pause later, or within its successor's takeover, one
	// in front of each of the successor's own. One that stands still asks for nothing meanwhile.
	LoseLeader(how scenarios.LoseLeader) error
	// RestartController ends the leading controller's process. Another one leads when its lease has run out.
	RestartController(a scenarios.RestartController) error
	// FreeBlock reports whether there is a block that a node without any could be given.
	FreeBlock() bool
	// Pending says what is under way, "" when nothing is.
	Pending() string
	// Requests counts writes to what the system keeps its state in: the API server, a ledger, EC2.
	Requests() int64
}

// Counter is a System whose controller counts the blocks of its ranges itself.
type Counter interface {
	// Counts are the leader's counts, beside what objects show; none while there is no leader.
	Counts() []fact.RangeCount
}

// Driver makes the System of a run.
type Driver func(Env) (System, error)

// drivers are those of the systems in scenarios' table.
var drivers = map[scenarios.System]Driver{
	scenarios.Contiv:    func(env Env) (System, error) { return &own{env: env}, nil },
	scenarios.NodeIPAM:  newRangeSystem,
	scenarios.Cilium:    newCiliumSystem,
	scenarios.Datastore: newCloudSystem,
	scenarios.Calico:    newBlockSystem,
}

// New returns the system that the plan names; further are drivers beside those that come along.
func New(env Env, further map[scenarios.System]Driver) (System, error) {
	driver := drivers[env.Plan.System]
	if d := further[env.Plan.System]; d != nil {
		driver = d
	}
	if driver == nil {
		return nil, fmt.Errorf("the simulator drives no system %q", env.Plan.System)
	}
	return driver(env)
}

// newCiliumSystem is the one of Cilium's mode.
func newCiliumSystem(env Env) (System, error) {
	if mode := env.Plan.Cilium.Mode; mode == scenarios.ENI || mode == scenarios.CRD {
		return newCRDSystem(env)
	}
	return newPoolSystem(env)
}

// ranges are the ranges that a scenario starts with.
func (e *Env) ranges() ([]netip.Prefix, error) { return blockranges.Start(e.Plan) }

// own is Contiv: a block follows from a node's ID, or stands in its Node object.
type own struct {
	Still
	env Env
}

func (s *own) Allocator(string) (ipam.NodeAllocator, error) {
	if s.env.Plan.Dual() {
		return nodeipam.NewNode(nodeipam.NodeConfig{ReuseDelay: s.env.Plan.ReuseDelay, External: s.env.Plan.UseExternalIPAM})
	}
	return contiv.New(contiv.Config{ReuseDelay: s.env.Plan.ReuseDelay, External: s.env.Plan.UseExternalIPAM})
}

// Still is a System in which nothing happens: one that embeds it says only what it does.
type Still struct{}

func (Still) Start()                                              {}
func (Still) Join(string) error                                   { return nil }
func (Still) Leave(string)                                        {}
func (Still) AgentUp(string, Side)                                {}
func (Still) AgentDown(string)                                    {}
func (Still) Changed(string)                                      {}
func (Still) Tried(string, Attempt)                               {}
func (Still) Blocks(string) ([]netip.Prefix, bool)                { return nil, false }
func (Still) AddRange(netip.Prefix) error                         { return result.ErrUnsupported }
func (Still) RemoveRange(netip.Prefix) error                      { return result.ErrUnsupported }
func (Still) RestartController(scenarios.RestartController) error { return result.ErrUnsupported }
func (Still) LoseLeader(scenarios.LoseLeader) error               { return result.ErrUnsupported }
func (Still) FreeBlock() bool                                     { return false }
func (Still) Pending() string                                     { return "" }
func (Still) Requests() int64                                     { return 0 }
