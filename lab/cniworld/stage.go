package cniworld

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/breakage"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/linux"
)

// stage is the world as the interpreter of timelines drives it.
type stage struct{ *World }

var (
	_ timeline.World     = stage{}
	_ timeline.Inspector = stage{}
)

// lacks is what is not there: VPP, our agent, its store, and whatever acts on their behalf.
var lacks = []timeline.Need{timeline.AgentAndVPP, timeline.AgentCalls, timeline.WatchDelivery, timeline.ControllerCalls, timeline.PlantedFaults, timeline.PodHooks, timeline.MemifPrograms, timeline.UnsyncedWrites, timeline.OneWayFabric, timeline.SlowFabric,
	timeline.ServerLink, timeline.CIDRControllers, timeline.LeadingController, timeline.PausedControllers, timeline.NodeDaemons, timeline.CloudRanges, timeline.CloudRoutes,
	timeline.PausedPrograms, timeline.OtherVersions, timeline.ServiceFeed, timeline.PolicyFeed, timeline.WatchGaps, timeline.GivenAddresses, timeline.SlowServers,
	timeline.OwnClocks, timeline.CutLinks, timeline.GivenMachines, timeline.NodeZones, timeline.ExternalPlugin, timeline.VhostNet,
	timeline.NodeFinalizers, timeline.NodeObjects, timeline.NodeNames, timeline.Strangers, timeline.WantedAddresses}

// Lacks implements timeline.World.
func (st stage) Lacks() []timeline.Need {
	if st.dhcp == nil {
		return append(slices.Clone(lacks), timeline.DHCPServer)
	}
	return lacks
}

// Now implements timeline.World.
func (st stage) Now() time.Duration { return st.Agenda.Now(st.World.Now()) }

// After implements timeline.World.
func (st stage) After(d time.Duration, _ string, do func()) { st.Agenda.Add(st.Now()+d, do) }

// Tell implements timeline.World.
func (st stage) Tell(f fact.Fact) { st.Record.Tell(f, "") }

// Restore implements timeline.World.
func (st stage) Restore() error { st.StopAPI(false); return nil }

// Machines implements timeline.Machines.
func (st stage) Machines() (list []timeline.Machine) {
	for _, n := range st.inOrder() {
		list = append(list, timeline.Machine{Name: n.name, On: n.isUp()})
	}
	return list
}

// Join implements timeline.Machines.
func (st stage) Join(_ context.Context, name string, _ []netip.Prefix) error {
	n, err := st.newNode(name)
	if err != nil {
		return err
	}
	st.mu.Lock()
	st.nodes[name] = n
	st.mu.Unlock()
	return nil
}

// PowerOn implements timeline.Machines. Nodes of the start begin with pods when all of them are there.
func (st stage) PowerOn(ctx context.Context, names ...string) error {
	var nodes []*node
	for _, name := range names {
		if n := st.node(name); n != nil && !n.isUp() {
			nodes = append(nodes, n)
		}
	}
	if err := each(nodes, (*node).boot); err != nil {
		return err
	}
	if err := errors.Join(st.route(), st.warmUp(ctx, nodes)); err != nil {
		return err
	}
	for _, n := range nodes {
		n.tell(fact.AgentUp{Leases: n.leases()}, n.name+" is up")
		if st.Now() > 0 {
			n.kubelet.powerOn()
		}
	}
	st.schedule()
	return nil
}

// PowerOff implements timeline.Machines.
func (st stage) PowerOff(_ context.Context, name string) error {
	n := st.node(name)
	if !n.isUp() {
		return nil
	}
	n.tell(fact.AgentDown{Why: "power"}, "")
	err := n.powerOff()
	n.tell(fact.NodeGone{Left: false, Rest: 0}, name+" is off")
	return err
}

// SyncDisk implements timeline.Machines: the kernel has every write already and goes on running.
func (st stage) SyncDisk(string) error { return nil }

// Cordon implements timeline.Machines.
func (st stage) Cordon(_ context.Context, name string, cordoned bool) error {
	n := st.node(name)
	n.mu.Lock()
	n.cordoned = cordoned
	n.mu.Unlock()
	st.schedule()
	return nil
}

// Remove implements timeline.Machines.
func (st stage) Remove(_ context.Context, name string) error {
	n := st.node(name)
	st.mu.Lock()
	delete(st.nodes, name)
	st.mu.Unlock()
	err := n.remove()
	n.tell(fact.NodeGone{Left: true, Rest: 0}, name+" has left")
	st.orphans(name)
	return errors.Join(err, st.route())
}

// Kill implements timeline.Processes: only a Runtime is one here.
func (st stage) Kill(name string, p timeline.Program, _ timeline.Kill) {
	n := st.node(name)
	if n == nil || p != timeline.Runtime {
		return
	}
	n.kubelet.killed()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.on {
		n.kill(errRuntimeKilled)
	}
}

// Start implements timeline.Processes.
func (st stage) Start(name string, p timeline.Program) {
	n := st.node(name)
	if n == nil || p != timeline.Runtime {
		return
	}
	n.mu.Lock()
	if n.on && n.down.Err() != nil {
		n.down, n.kill = context.WithCancelCause(n.life)
	}
	n.mu.Unlock()
	n.kubelet.started()
}

// Release implements timeline.Processes.
func (st stage) Release(name string) { st.Start(name, timeline.Runtime) }

// Pause implements timeline.Processes: only a Kubelet stands still here.
func (st stage) Pause(name string, p timeline.Program, pause bool) error {
	if n := st.node(name); n != nil && p == timeline.Kubelet {
		n.kubelet.Pause(pause)
	}
	return nil
}

// SetClock implements timeline.Processes; nobody asks it: see lacks.
func (st stage) SetClock(string, time.Duration) {}

// SetVersion implements timeline.Processes; nobody asks it: see lacks.
func (st stage) SetVersion(string, scenarios.AgentVersion) {}

// Quiet implements timeline.Processes.
func (st stage) Quiet(_ context.Context, name string) bool {
	n := st.node(name)
	return n != nil && n.isUp() && !st.Play.Pending() && st.quiet() == ""
}

// ReplaceSandbox implements timeline.Pods.
func (st stage) ReplaceSandbox(name string) bool {
	p, n := st.on(name)
	return p != nil && n.kubelet.replace(p)
}

// LoseSandbox implements timeline.Pods.
func (st stage) LoseSandbox(name string, how scenarios.LoseSandboxes) bool {
	p, n := st.on(name)
	if p == nil || !n.kubelet.lose(p, how) {
		return false
	}
	if how.Gone {
		st.podStopped(p)
		st.tellPod(p, fact.PodDeleted)
	}
	return true
}

// Sandboxes implements timeline.Pods.
func (st stage) Sandboxes(name string) []fact.PodState {
	if n := st.node(name); n != nil {
		return n.kubelet.sandboxes()
	}
	return nil
}

// Past implements timeline.Pods.
func (st stage) Past(name string) []ipam.Owner {
	n := st.node(name)
	if n == nil {
		return nil
	}
	n.kubelet.Lock()
	defer n.kubelet.Unlock()
	return slices.Clone(n.kubelet.past)
}

// Ask implements timeline.Pods. Where a CHECK that the runtime sends for what was broken by hand fails, the sandbox is
// replaced: plugins put nothing right.
func (st stage) Ask(ctx context.Context, name string, r timeline.Request, done func(timeline.Response)) {
	n := st.node(name)
	if n == nil || !n.isUp() {
		return
	}
	command := map[string]string{"Del": cmdDel, "Check": cmdCheck, "GC": cmdGC, "Status": cmdStatus}[r.Command]
	a := n.kubelet.attachment(r.Owner, r.Netns)
	network := ""
	if r.Owner.Network != timeline.NetworkName {
		network = r.Owner.Network
	}
	var valid []types.GCAttachment
	for _, o := range r.Valid {
		valid = append(valid, types.GCAttachment{ContainerID: o.ContainerID, IfName: o.IfName})
	}
	n.tell(fact.Asked{Command: r.Command, Owner: r.Owner, Pod: "", PodUID: "", Netns: "", Addr: netip.Addr{}, Wanted: nil}, "")
	if r.Reached != nil {
		r.Reached()
	}
	_, err := n.call(ctx, command, network, a, valid)
	res := timeline.Response{Known: n.down.Err() == nil && !n.isFull()}
	if err != nil {
		res.Code, res.Message = 1, err.Error()
		if said := (*types.Error)(nil); errors.As(err, &said) {
			res.Code = uint32(said.Code)
		}
		n.w.Note(name + " " + command + " " + r.Owner.ContainerID + ": " + err.Error())
	}
	if done != nil {
		done(res)
	}
	if s, there := n.kubelet.find(r.Owner); err != nil && command == cmdCheck && there {
		n.kubelet.replace(s.pod)
	}
}

// isFull reports that the node's disk is full.
func (n *node) isFull() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.full > 0
}

// Break implements timeline.Pods.
func (st stage) Break(ctx context.Context, name string, s fact.PodState, what scenarios.Breakage) error {
	n := st.node(name)
	view, err := probe.Linux(n.open, []string{s.Netns}, nil)
	if err != nil {
		return err
	}
	host, err := linux.New(n.netns())
	if err != nil {
		return err
	}
	defer func() { _ = host.Close() }() // what it was for has been done
	hand := breakage.Node{State: &fact.NodeState{Name: name, Linux: view}, Linux: host, Netns: s.Netns, Remove: func() error { return n.kubelet.strip(s.Owner) }}
	if err := hand.Break(ctx, s, what); !errors.Is(err, breakage.ErrNothing) {
		return err
	}
	return timeline.ErrNoTarget
}

// open turns a namespace as the node calls it into a path that this process opens.
func (n *node) open(path string) string {
	if path == "" {
		return n.netns()
	}
	return path
}

// KillPlugin implements timeline.Plugins.
func (st stage) KillPlugin(name string, how scenarios.KillPlugin) {
	n := st.node(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.armed = &how
}

// FillDisk implements timeline.Plugins.
func (st stage) FillDisk(name string, full bool) error {
	if n := st.node(name); n != nil {
		return n.fill(full)
	}
	return nil
}

// LoseState implements timeline.Plugins.
func (st stage) LoseState(name string, what scenarios.PluginState) error {
	return st.node(name).lose(what)
}

// CannotAdd implements timeline.Inspector: while the disk is full nobody knows what plugins need of it.
func (st stage) CannotAdd(name string) (why string, known bool) {
	n := st.node(name)
	return "", n != nil && n.isUp() && !n.isFull()
}

// StopAPI implements timeline.ControlPlane: kubelets and scheduler hear of nothing new, and plugins get no answer.
func (st stage) StopAPI(stop bool) {
	st.server.stopped.Store(stop)
	st.schedule()
}

// SetPools implements timeline.ControlPlane: the configuration is written anew on every node. One that names a range of its own has none to
// change.
func (st stage) SetPools(_ context.Context, plan scenarios.IPAM, _ agent.Pools) error {
	if c := st.o.Chain; !c.routed() && st.dhcp == nil {
		return fmt.Errorf("%w: change-cidr changes nothing of %s, which has no {{.PodCIDR}}", result.ErrUnsupported, c.File)
	}
	if st.dhcp != nil {
		if err := st.serveDHCP(plan); err != nil {
			return err
		}
	}
	for _, n := range st.inOrder() {
		if err := n.configure(plan); err != nil {
			return err
		}
	}
	return st.route()
}

// SetPodCIDR implements timeline.ControlPlane.
func (st stage) SetPodCIDR(_ context.Context, name string, p netip.Prefix) error {
	n := st.node(name)
	if n == nil {
		return nil
	}
	n.mu.Lock()
	cidrs := slices.Clone(n.cidrs)
	n.mu.Unlock()
	for i, old := range cidrs {
		if old.Addr().Is4() == p.Addr().Is4() {
			cidrs[i] = p
		}
	}
	return errors.Join(n.setCIDRs(cidrs), st.route())
}

// The following are never asked for: the world lacks their needs.

func lacking(n timeline.Need) error { return fmt.Errorf("%w: %s", result.ErrUnsupported, n) }

// Cut implements timeline.Network.
func (st stage) Cut(_, _ scenarios.Endpoint, _ bool) error { return lacking(timeline.CutLinks) }

// Mend implements timeline.Network.
func (st stage) Mend(_, _ scenarios.Endpoint) error { return nil }

// Slow implements timeline.Network.
func (st stage) Slow(_, _ scenarios.Endpoint, _ timeline.Link) error {
	return lacking(timeline.SlowServers)
}

// StopStore implements timeline.ControlPlane.
func (st stage) StopStore(bool) {}

// WipeStore implements timeline.ControlPlane.
func (st stage) WipeStore() error { return lacking(timeline.AgentAndVPP) }

// StopDHCP implements timeline.ControlPlane.
func (st stage) StopDHCP(stop bool) {
	if st.dhcp != nil {
		st.Fail(st.dhcp.Stop(stop))
	}
}

// CompactStore implements timeline.ControlPlane.
func (st stage) CompactStore(context.Context) error { return lacking(timeline.AgentAndVPP) }

// AddRange implements timeline.ControlPlane.
func (st stage) AddRange(netip.Prefix) error { return lacking(timeline.CIDRControllers) }

// RemoveRange implements timeline.ControlPlane.
func (st stage) RemoveRange(netip.Prefix) error { return lacking(timeline.CIDRControllers) }

// RestartController implements timeline.ControlPlane.
func (st stage) RestartController(scenarios.RestartController) error {
	return lacking(timeline.LeadingController)
}

// LoseLeader implements timeline.ControlPlane.
func (st stage) LoseLeader(scenarios.LoseLeader) error { return lacking(timeline.LeadingController) }

// SetAddress implements timeline.ControlPlane.
func (st stage) SetAddress(context.Context, string, netip.Prefix) error {
	return lacking(timeline.GivenAddresses)
}

// SetManagement implements timeline.ControlPlane.
func (st stage) SetManagement(context.Context, string, []netip.Addr) error {
	return lacking(timeline.GivenAddresses)
}

// LagWatches implements timeline.ControlPlane.
func (st stage) LagWatches(string, time.Duration) {}

// GapWatches implements timeline.ControlPlane.
func (st stage) GapWatches(context.Context, string) error { return lacking(timeline.WatchGaps) }

// RepeatWatches implements timeline.ControlPlane.
func (st stage) RepeatWatches(string, int) {}

// SetService implements timeline.ControlPlane.
func (st stage) SetService(scenarios.Service) {}

// RemoveService implements timeline.ControlPlane.
func (st stage) RemoveService(string) {}

// SetReady implements timeline.ControlPlane.
func (st stage) SetReady([]string, bool) {}

// Inject implements timeline.ControlPlane.
func (st stage) Inject(string, string) (func(), error) { return nil, lacking(timeline.AgentCalls) }
