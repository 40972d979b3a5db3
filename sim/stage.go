package sim

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// stage is the World as the interpreter of timelines drives it. What it does on machines and their programs is here,
// the control plane in stage_control.go.
type stage struct{ *World }

// Do implements result.World.
func (w *World) Do(ctx context.Context, a scenarios.Action) (err error) {
	if w.fallen {
		return w.eng.Err()
	}
	defer w.outlive(&err)
	w.trail("action " + a.String())
	return w.play.Do(ctx, a)
}

// Heal implements result.World.
func (w *World) Heal(ctx context.Context) (err error) {
	if w.fallen {
		return w.eng.Err()
	}
	defer w.outlive(&err)
	if err := w.awaitChecks(ctx); err != nil {
		return err
	}
	w.trail("heal")
	w.faults.Clear()
	return w.play.Heal()
}

// awaitChecks lets agents that run answer the CHECKs and STATUSes that the last action has sent, before healing starts programs and links
// that answers could be about: no law judges an answer from a node that changes meanwhile. Where nothing is to be healed, nobody waits.
func (w *World) awaitChecks(ctx context.Context) error {
	const look = 10 * time.Millisecond
	asked := func(m *machine) bool {
		return slices.ContainsFunc(m.plugins, func(x *plugin) bool { return x.command == "Check" || x.command == "Status" })
	}
	if !w.play.Pending() && !slices.ContainsFunc(w.order, func(m *machine) bool { return m.held() != "" }) {
		return nil
	}
	for end := w.eng.Now() + callLate; w.eng.Now() < end && slices.ContainsFunc(w.order, asked); {
		if err := w.Advance(ctx, min(end, w.eng.Now()+look)); err != nil {
			return err
		}
	}
	return nil
}

// trail puts a line into the trail.
func (w *World) trail(line string) { w.soon(nil, line, func() {}) }

// After implements timeline.World.
func (st stage) After(d time.Duration, what string, do func()) {
	st.eng.After(d, &happening{nil, what, do})
}

// Tell implements timeline.World.
func (st stage) Tell(f fact.Fact) { st.emit(f) }

// Fail implements timeline.World.
func (st stage) Fail(err error) { st.eng.Fail(err) }

// Lacks implements timeline.World: everything but plugins is modelled; not every system of addresses has controllers, or a
// leading one, nor every network a DHCP server.
func (st stage) Lacks() []timeline.Need {
	lacks := []timeline.Need{timeline.PluginPrograms}
	t := st.s.Config.IPAM.Traits()
	if t.ByID {
		lacks = append(lacks, timeline.CIDRControllers)
	}
	if !t.Leader {
		lacks = append(lacks, timeline.LeadingController, timeline.PausedControllers)
	}
	if st.unwired() {
		lacks = append(lacks, timeline.Dataplane)
	}
	if st.dhcp == nil {
		lacks = append(lacks, timeline.DHCPServer)
	}
	return lacks
}

// Restore implements timeline.World.
func (st stage) Restore() error {
	st.net.MendAll()
	for _, m := range st.order {
		// what nothing has met yet meets nothing
		st.watchFault(m.name, func(f *cluster.StreamFaults) { *f = cluster.StreamFaults{} })
		// what refuses its journal is replaced by what has written it
		if m.newest != "" {
			m.version = m.newest
		}
	}
	return nil
}

// Machines implements timeline.Machines.
func (st stage) Machines() []timeline.Machine {
	list := make([]timeline.Machine, len(st.order))
	for i, m := range st.order {
		list[i] = timeline.Machine{Name: m.name, On: m.up}
	}
	return list
}

// Join implements timeline.Machines: the machine boots at once.
func (st stage) Join(_ context.Context, name string, podCIDRs []netip.Prefix) error {
	if err := st.system.Join(name); err != nil {
		return err
	}
	m, err := st.newMachine(name)
	if err != nil {
		return err
	}
	m.startVPP()
	m.startAgent()
	if st.s.Config.IPAM.UseExternalIPAM {
		var blocks []ipam.Block
		for _, p := range podCIDRs {
			blocks = append(blocks, ipam.Block{Prefix: p})
		}
		st.assign(name, blocks)
	}
	return st.cluster.AddNode(cluster.Node{Meta: cluster.Meta{Name: name}, Addresses: m.management, PodCIDRs: podCIDRs, Network: st.network(), Zone: st.s.Topology.Zones.Of(name)})
}

// network is the condition NetworkUnavailable that nodes register with.
func (st stage) network() cluster.NetworkCondition {
	if routed, ok := st.system.(controllers.Routed); ok {
		return routed.Network()
	}
	return cluster.NetworkUnsaid
}

// PowerOn implements timeline.Machines.
func (st stage) PowerOn(_ context.Context, names ...string) error {
	for _, name := range names {
		if m := st.machines[name]; !m.up && !m.gone {
			m.powerOn()
			st.cluster.Kubelet(name).PowerOn()
		}
	}
	return nil
}

// PowerOff implements timeline.Machines.
func (st stage) PowerOff(_ context.Context, name string) error {
	m := st.machines[name]
	m.powerOff()
	st.cluster.Kubelet(name).PowerOff()
	m.fact(fact.Fact{What: fact.NodeGone{Left: false, Rest: 0}})
	return nil
}

// SyncDisk implements timeline.Machines.
func (st stage) SyncDisk(name string) error {
	st.machines[name].disk.Sync()
	return nil
}

// Cordon implements timeline.Machines.
func (st stage) Cordon(_ context.Context, name string, cordoned bool) error {
	st.cluster.Lifecycle.Cordon(name, cordoned)
	return nil
}

// DeleteNode implements timeline.Finalizers.
func (st stage) DeleteNode(name string) {
	st.api.WhenAvailable(func() {
		_ = st.api.SetNode(name, "", func(n *cluster.Node) { n.Deleting = true }) // ErrNotFound: it has left
	})
}

// Unregister implements timeline.Registrations.
func (st stage) Unregister(_ context.Context, name string) error {
	st.cluster.Lifecycle.Remove(name)
	return nil
}

// Register implements timeline.Registrations.
func (st stage) Register(_ context.Context, name string, podCIDRs []netip.Prefix) error {
	m := st.machines[name]
	m.hitAt = st.eng.Now()
	for _, p := range podCIDRs {
		st.reassign(name, p)
	}
	st.cluster.Lifecycle.Join(cluster.Node{Meta: cluster.Meta{Name: name}, Addresses: m.management, PodCIDRs: podCIDRs, Network: st.network(), Zone: st.s.Topology.Zones.Of(name)})
	return nil
}

// JoinAs implements timeline.Renames.
func (st stage) JoinAs(ctx context.Context, name, former string, podCIDRs []netip.Prefix) error {
	if err := st.Join(ctx, name, podCIDRs); err != nil {
		return err
	}
	m, was := st.machines[name], st.machines[former]
	m.disk, was.disk = was.disk, m.disk
	m.version, m.newest = was.version, was.newest
	return nil
}

// Remove implements timeline.Machines.
func (st stage) Remove(_ context.Context, name string) error {
	m := st.machines[name]
	m.powerOff()
	m.gone = true
	is := func(x *machine) bool { return x == m }
	st.order, st.regiven = slices.DeleteFunc(st.order, is), slices.DeleteFunc(st.regiven, is)
	if err := st.cluster.RemoveNode(name); err != nil {
		return err
	}
	st.system.Leave(name)
	if st.s.Config.IPAM.UseExternalIPAM {
		st.assign(name, nil)
	}
	st.external.Forget(m.number)
	m.returnID()
	m.fact(fact.Fact{What: fact.NodeGone{Left: true, Rest: st.restOfIDs()}})
	return nil
}

// Kill implements timeline.Processes.
func (st stage) Kill(node string, p timeline.Program, how timeline.Kill) {
	m := st.machines[node]
	if p == timeline.VPP {
		m.killVPP(how.Hold)
		return
	}
	m.plantStop()
	if how.ReturnNIC {
		m.returnNIC(how.Hold, how.Reason)
		return
	}
	m.killAgent(how.Hold, how.Reason)
}

// Start implements timeline.Processes.
func (st stage) Start(node string, p timeline.Program) {
	if m := st.machines[node]; p == timeline.VPP {
		m.startVPP()
	} else {
		m.startAgent()
	}
}

// SetVersion implements timeline.Processes.
func (st stage) SetVersion(node string, v scenarios.AgentVersion) {
	m := st.machines[node]
	m.version = v
	if v == scenarios.Breaking {
		m.newest = v
	}
}

// Release implements timeline.Processes.
func (st stage) Release(node string) {
	m := st.machines[node]
	m.agentHeld, m.vppHeld = false, false
	m.startVPP()
	m.startAgent()
}

// Quiet implements timeline.Processes. A planted fault that asks for something when an agent stops makes no stop a
// clean one.
func (st stage) Quiet(_ context.Context, node string) bool {
	m := st.machines[node]
	return m.proc != nil && !m.lacksVPP() && !m.proc.paused && !m.vppPaused && m.proc.agent.Idle() && st.unchanging() == "" && !st.faulty() &&
		// an agent without a lease says so, and one that gets a lease looks, in its time
		(!st.s.Config.Leases(node) || m.leased().IsValid() && m.knowsLease()) &&
		(st.plant == nil || st.plant.Stopping == nil)
}

// SetAddress implements timeline.ControlPlane: an operator gives a node another interconnect address, or has the DHCP
// server do it when the lease is renewed.
func (st stage) SetAddress(_ context.Context, node string, a netip.Prefix) error {
	m := st.machines[node]
	if st.s.Config.Leases(node) {
		st.dhcp.reserved[m] = a
		return nil
	}
	m.own = a
	if m.proc != nil {
		m.proc.step(agent.OwnAddress{Addr: a})
	}
	return nil
}

// SetManagement implements timeline.ControlPlane: the node's Linux side and its Node object get other addresses. Its
// kubelet reports them to the API server as soon as there is one.
func (st stage) SetManagement(_ context.Context, node string, addrs []netip.Addr) error {
	m := st.machines[node]
	if !slices.Contains(st.regiven, m) {
		st.regiven = append(st.regiven, m)
	}
	m.setManagement(slices.Clone(addrs))
	m.seen.Addresses()
	if m.proc != nil {
		m.proc.step(agent.HostAddresses{Addrs: m.management})
	}
	var err error
	st.api.WhenAvailable(func() {
		if m := st.machines[node]; m != nil {
			err = st.api.SetNode(node, "", func(n *cluster.Node) { n.Addresses = slices.Clone(m.management) })
		}
	})
	return err
}

var (
	_ timeline.World         = stage{}
	_ timeline.Finalizers    = stage{}
	_ timeline.Registrations = stage{}
	_ timeline.Renames       = stage{}
)
