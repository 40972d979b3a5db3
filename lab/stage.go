package lab

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// stage is the lab as the interpreter of timelines drives it. What it does on machines and their programs is here, the
// control plane in stage_control.go.
type stage struct{ *World }

var _ timeline.World = stage{}

// lacks is what no lab has: a hand in what controllers ask, and in single directions of the fabric.
var lacks = []timeline.Need{timeline.ControllerCalls, timeline.PlantedFaults, timeline.PodHooks, timeline.MemifPrograms, timeline.UnwiredPods, timeline.OneWayFabric,
	timeline.SlowFabric, timeline.ServerLink, timeline.CloudRanges, timeline.CloudRoutes, timeline.OtherVersions, timeline.OwnClocks,
	timeline.PausedControllers, timeline.PluginPrograms, timeline.NodeFinalizers, timeline.BranchInterfaces}

// lacksOf is what a lab for a scenario lacks. The daemons that it has on its nodes are ipamds, and those that ask, or take what they need, at the API server.
func lacksOf(s *scenarios.Scenario) []timeline.Need {
	list := slices.Clone(lacks)
	c := s.Config.IPAM
	if c.System != scenarios.Datastore && !controllers.Asked(c) {
		list = append(list, timeline.NodeDaemons)
	}
	if c.System == scenarios.Cilium && !controllers.Addressed(c) {
		list = append(list, timeline.RetiredRanges, timeline.PodAnnotations)
	}
	return list
}

// Heal implements result.World.
func (w *World) Heal(ctx context.Context) error {
	if w.desk != nil {
		w.desk.Clear()
	}
	err := w.Drive.Heal(ctx)
	w.schedule()
	return errors.Join(err, w.Deliver())
}

// Now implements timeline.World.
func (st stage) Now() time.Duration { return st.Agenda.Now(st.World.Now()) }

// After implements timeline.World.
func (st stage) After(d time.Duration, _ string, do func()) { st.Agenda.Add(st.Now()+d, do) }

// Tell implements timeline.World.
func (st stage) Tell(f fact.Fact) { st.Record.Tell(f, "") }

// Lacks implements timeline.World.
func (st stage) Lacks() []timeline.Need {
	list := lacksOf(st.scenario())
	if _, containers := st.o.Backend.(Supplier); containers {
		list = append(list, timeline.PausedPrograms)
	}
	if st.dhcp == nil {
		list = append(list, timeline.DHCPServer)
	}
	if _, wired := st.fabric.(Wired); !wired || st.o.TimeScale != 1 { // VPP's neighbors age by the clock on the wall
		list = append(list, timeline.Strangers)
	}
	if st.desk == nil { // the agents ask nobody what befalls their operations
		list = append(list, timeline.AgentCalls, timeline.WatchDelivery, timeline.UnsyncedWrites)
	}
	if st.source == nil {
		list = append(list, timeline.LeadingController)
	}
	if st.source == nil && st.cloud == nil {
		list = append(list, timeline.CIDRControllers)
	}
	return list
}

// SetVersion implements timeline.Processes; it is never asked for, as the lab lacks its need.
func (st stage) SetVersion(string, scenarios.AgentVersion) {}

// SetClock implements timeline.Processes; nobody asks it: see lacks.
func (st stage) SetClock(string, time.Duration) {}

// Machines implements timeline.Machines.
func (st stage) Machines() []timeline.Machine {
	var list []timeline.Machine
	for _, n := range st.inOrder() {
		list = append(list, timeline.Machine{Name: n.name, On: n.isUp()})
	}
	return list
}

// node is a node of the cluster by name, nil when it has left.
func (w *World) node(name string) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[name]
}

// Join implements timeline.Machines: the machine is off.
func (st stage) Join(ctx context.Context, name string, podCIDRs []netip.Prefix) error {
	n, err := st.newNode(name)
	if err != nil {
		return err
	}
	if st.cloud != nil {
		if err := st.launch(n); err != nil {
			n.remove()
			return err
		}
	}
	n.podCIDRs = podCIDRs
	st.mu.Lock()
	st.nodes[name] = n
	st.mu.Unlock()
	if st.source != nil {
		st.source.join(n)
	}
	return st.publishNode(ctx, n)
}

// PowerOn implements timeline.Machines: all boot at the same time.
func (st stage) PowerOn(_ context.Context, names ...string) error {
	var nodes []*node
	for _, name := range names {
		if n := st.node(name); n != nil {
			nodes = append(nodes, n)
		}
	}
	errs := make([]error, len(nodes))
	each(nodes, func(n *node) { errs[slices.Index(nodes, n)] = n.powerOn() })
	st.schedule()
	return errors.Join(errs...)
}

// SyncDisk implements timeline.Machines.
func (st stage) SyncDisk(name string) error {
	n := st.node(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.synced = true
	return nil
}

// PowerOff implements timeline.Machines.
func (st stage) PowerOff(_ context.Context, name string) error { return st.node(name).losePower() }

// Cordon implements timeline.Machines: the lab's own scheduler heeds it.
func (st stage) Cordon(_ context.Context, name string, cordoned bool) error {
	n := st.node(name)
	st.mu.Lock()
	n.cordoned = cordoned
	st.mu.Unlock()
	st.schedule()
	return nil
}

// Remove implements timeline.Machines.
func (st stage) Remove(ctx context.Context, name string) error {
	n := st.node(name)
	st.mu.Lock()
	delete(st.nodes, name)
	st.mu.Unlock()
	n.remove()
	if st.cloud != nil {
		st.Fail(st.cloud.Terminate(name))
	}
	n.mu.Lock()
	st.assigned(n, nil)
	n.mu.Unlock()
	st.held.Left(n.uid())
	st.left(name)
	st.orphans(name)
	st.external.forget(n.number)
	st.cuts = slices.DeleteFunc(st.cuts, func(c [2]string) bool { return slices.Contains(c[:], name) })
	if st.source != nil {
		st.source.leave(n)
	}
	return st.control.deleteNode(ctx, name)
}

// recordTime is how long after a clean stop writes are told as facts.
const recordTime = time.Minute

// Kill implements timeline.Processes.
func (st stage) Kill(name string, p timeline.Program, how timeline.Kill) {
	n := st.node(name)
	if how.Reason == fact.CleanStop {
		n.mu.Lock()
		n.recordUntil = time.Now().Add(recordTime)
		n.mu.Unlock()
	}
	if how.ReturnNIC {
		n.returnNIC()
	}
	d, _ := n.program(p)
	n.kill(d, how.Hold, how.Reason)
}

// Start implements timeline.Processes.
func (st stage) Start(name string, p timeline.Program) {
	n := st.node(name)
	d, launch := n.program(p)
	n.start(d, launch)
}

// program is one of the two of a node, and how it is launched.
func (n *node) program(p timeline.Program) (*daemon, func(context.Context, int) (Process, error)) {
	if p == timeline.VPP {
		return &n.vpp, n.launchVPP
	}
	return &n.agent, n.launchAgent
}

// Release implements timeline.Processes.
func (st stage) Release(name string) {
	if n := st.node(name); n != nil {
		n.release()
	}
}

// Pause implements timeline.Processes.
func (st stage) Pause(name string, p timeline.Program, pause bool) error {
	n := st.node(name)
	if n == nil {
		return nil
	}
	if p == timeline.Kubelet {
		n.kubelet.Pause(pause)
		return nil
	}
	d, _ := n.program(p)
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := d.proc.(Pauser); ok {
		d.paused = pause
		return s.Pause(pause)
	}
	return nil
}

// Quiet implements timeline.Processes. While a fault has still to end, nobody can say what a real node should look
// like.
func (st stage) Quiet(ctx context.Context, name string) bool {
	vpp, agent := st.node(name).running()
	return vpp != nil && agent != nil && !st.Play.Pending() && !st.desk.Any() && st.quiet(ctx) == ""
}

// SetAddress implements timeline.ControlPlane.
func (st stage) SetAddress(ctx context.Context, name string, a netip.Prefix) error {
	n := st.node(name)
	if st.scenario().Config.Leases(name) {
		return st.dhcp.Reserve(n.number, a.Addr())
	}
	return n.setOwn(ctx, a)
}

// SetManagement implements timeline.ControlPlane.
func (st stage) SetManagement(ctx context.Context, name string, addrs []netip.Addr) error {
	n := st.node(name)
	n.mu.Lock()
	n.management = slices.Clone(addrs)
	err := n.machine.SetManagement(n.management)
	n.mu.Unlock()
	return errors.Join(err, st.publishNode(ctx, n))
}
