package kindworld

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// stage is the cluster as the interpreter of timelines drives it.
type stage struct{ *World }

var _ timeline.World = stage{}

// lacks is what no cluster of real machines has.
var lacks = []timeline.Need{timeline.AgentCalls, timeline.WatchDelivery, timeline.ControllerCalls, timeline.PlantedFaults, timeline.PodHooks, timeline.MemifPrograms, timeline.UnwiredPods, timeline.OnlyNICs, timeline.UnsyncedWrites, timeline.OneWayFabric, timeline.SlowFabric,
	timeline.ServerLink, timeline.PausedControllers, timeline.DHCPServer, timeline.OtherVersions,
	timeline.ForgetfulRuntimes, timeline.OwnClocks, timeline.WatchGaps, timeline.GivenAddresses, timeline.GivenPodCIDRs, timeline.SlowServers, timeline.GivenMachines, timeline.NodeZones,
	timeline.RudeRuntimes, timeline.BoundedApps, timeline.StaticPods, timeline.PodNamespaces, timeline.ExternalPlugin, timeline.OtherMaxPods,
	timeline.PluginPrograms, timeline.NodeFinalizers, timeline.NodeObjects, timeline.NodeNames, timeline.Strangers, timeline.WantedAddresses, timeline.PolicyFeed}

// Lacks implements timeline.World.
func (st stage) Lacks() []timeline.Need { return lacksOf(st.s) }

// Now implements timeline.World.
func (st stage) Now() time.Duration { return st.Agenda.Now(st.World.Now()) }

// After implements timeline.World.
func (st stage) After(d time.Duration, _ string, do func()) { st.Agenda.Add(st.Now()+d, do) }

// Tell implements timeline.World.
func (st stage) Tell(f fact.Fact) { st.Record.Tell(f, "") }

// Machines implements timeline.Machines.
func (st stage) Machines() []timeline.Machine {
	var list []timeline.Machine
	for _, n := range st.inOrder() {
		list = append(list, timeline.Machine{Name: n.name, On: n.up() != nil})
	}
	return list
}

// Join implements timeline.Machines: the Node object comes with the first boot.
func (st stage) Join(_ context.Context, name string, _ []netip.Prefix) error {
	n := &node{name: name, container: st.machines.Container(name), told: newTold(name)}
	n.told.rest = st.s.Config.IPAM.AddressRest()
	st.mu.Lock()
	st.nodes[name] = n
	st.mu.Unlock()
	return nil
}

// PowerOn implements timeline.Machines: nodes boot while time goes on.
func (st stage) PowerOn(_ context.Context, names ...string) error {
	for _, name := range names {
		n := st.node(name)
		if n == nil || n.up() != nil {
			continue
		}
		st.Record.Note(name + " boots")
		n.boot(1)
		st.booting.Go(func() {
			defer n.boot(-1)
			if err := st.boot(n); err != nil && st.node(name) == n {
				st.Fail(fmt.Errorf("boot %s: %w", name, err))
			}
		})
	}
	return nil
}

// PowerOff implements timeline.Machines. A node that boots has to have booted.
func (st stage) PowerOff(ctx context.Context, name string) error {
	st.booting.Wait()
	n := st.node(name)
	if n.up() == nil {
		return nil
	}
	st.agentDown(n, "power")
	err := st.machines.Off(ctx, n.container)
	st.Record.Tell(fact.Fact{Node: name, What: fact.NodeGone{Left: false, Rest: 0}}, name+" is off")
	n.told.gone()
	n.ended, n.vppUp, n.last = true, false, seen{}
	return errors.Join(err, n.lost())
}

// SyncDisk implements timeline.Machines: the kernel has every write already and goes on running.
func (st stage) SyncDisk(string) error { return nil }

// Cordon implements timeline.Machines.
func (st stage) Cordon(_ context.Context, name string, cordoned bool) error {
	st.node(name).cordoned = cordoned
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, cordoned)
	st.ask("cordon node "+name, func(ctx context.Context) error {
		_, err := st.client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, meta.PatchOptions{})
		return gone(err)
	})
	return nil
}

// Remove implements timeline.Machines.
func (st stage) Remove(ctx context.Context, name string) error {
	st.booting.Wait()
	n := st.node(name)
	st.agentDown(n, "power")
	st.mu.Lock()
	delete(st.nodes, name)
	st.mu.Unlock()
	err := errors.Join(n.lost(), st.machines.Remove(ctx, n.container))
	n.mu.Lock()
	st.records.held.Left(n.uid)
	n.mu.Unlock()
	st.Record.Tell(fact.Fact{Node: name, What: fact.NodeGone{Left: true, Rest: least(st.quarantine())}}, name+" has left")
	if len(n.told.assigned) > 0 { // it goes with the Node object
		st.Record.Tell(fact.Fact{Node: name, What: fact.Assigned{Blocks: nil}}, "")
	}
	st.cuts = slices.DeleteFunc(st.cuts, func(c cut) bool { return c.from == name || c.to == name })
	st.ask("delete node "+name, func(ctx context.Context) error {
		return gone(st.client.CoreV1().Nodes().Delete(ctx, name, meta.DeleteOptions{}))
	})
	for _, p := range st.Pods(name) { // nobody is there to stop them
		st.DeletePod(p.Name, true)
	}
	for pod, p := range st.pods.wanted { // in any order: each by itself
		if p.Node == name {
			delete(st.pods.wanted, pod)
		}
	}
	return err
}

// agentDown tells that a node's agent has ended, once.
func (st stage) agentDown(n *node, why string) {
	if !n.told.life.IsZero() {
		n.told.down()
		st.Record.Tell(fact.Fact{Node: n.name, What: fact.AgentDown{Why: why}}, n.name+" agent down: "+why)
	}
}

// program is where a node's program runs: its container, and what its process is called.
func (st stage) program(m *machine, p timeline.Program) (container, process string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	switch p {
	case timeline.Kubelet: // a process of the node itself
		return m.id, "kubelet", nil
	case timeline.VPP:
		container, err = m.runtime.container(ctx, "vpp", "vppdrill-vpp")
		return container, "vpp_main", err
	}
	container, err = m.runtime.container(ctx, "agent", "vppdrill-agent")
	return container, supervisor, err
}

// supervisor is what this program's own processes are called: the agent, and VPP's parent.
const supervisor = "vppdrill"

// Kill implements timeline.Processes: signal 9 to the program's process. VPP's parent starts another VPP, unless it is
// stopped where it is. An agent that is to stay down is kept off the node by a label; its pod is deleted in any case,
// so that the next one does not wait for a kubelet's back-off.
func (st stage) Kill(name string, p timeline.Program, how timeline.Kill) {
	n := st.node(name)
	m := n.up()
	if m == nil {
		return
	}
	container, process, err := st.program(m, p)
	if err != nil {
		st.Fail(fmt.Errorf("kill on %s: %w", name, err))
		return
	}
	if p == timeline.VPP {
		if how.Hold {
			n.vppHeld = signal(container, supervisor, unix.SIGSTOP) > 0 || n.vppHeld
		}
		if signal(container, process, unix.SIGKILL) > 0 {
			n.ended, n.vppUp = true, false
			st.Record.Note(name + " VPP down")
		}
		return
	}
	if n.before = nil; how.Reason == fact.CleanStop {
		st.remember(n)
	}
	signal(container, process, unix.SIGKILL)
	st.agentDown(n, how.Reason)
	n.last.agent = nil
	if how.Hold {
		n.agentHeld = true
		st.hold(name, true)
	}
	st.ask("delete the agent's pod of "+name, func(ctx context.Context) error {
		return st.client.CoreV1().Pods(kindcluster.Namespace).DeleteCollection(ctx, meta.DeleteOptions{GracePeriodSeconds: new(int64)},
			meta.ListOptions{LabelSelector: agentSelector, FieldSelector: "spec.nodeName=" + name})
	})
}

// hold keeps the agent off a node, or lets it come.
func (st stage) hold(name string, on bool) {
	value := "null"
	if on {
		value = `"true"`
	}
	patch := []byte(`{"metadata":{"labels":{"` + kindcluster.HoldLabel + `":` + value + `}}}`)
	st.ask("label node "+name, func(ctx context.Context) error {
		_, err := st.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, meta.PatchOptions{})
		return gone(err)
	})
}

// Start implements timeline.Processes. What was not held starts by itself.
func (st stage) Start(name string, p timeline.Program) {
	n := st.node(name)
	if n == nil {
		return
	}
	if p == timeline.Agent && n.agentHeld {
		n.agentHeld = false
		st.hold(name, false)
	}
	if p == timeline.VPP && n.vppHeld {
		n.vppHeld = false
		if m := n.up(); m != nil {
			if container, _, err := st.program(m, p); err == nil {
				signal(container, supervisor, unix.SIGCONT)
			}
		}
	}
}

// Release implements timeline.Processes.
func (st stage) Release(name string) {
	st.Start(name, timeline.VPP)
	st.Start(name, timeline.Agent)
}

// Pause implements timeline.Processes.
func (st stage) Pause(name string, p timeline.Program, pause bool) error {
	n := st.node(name)
	if n == nil || n.up() == nil {
		return nil
	}
	container, process, err := st.program(n.up(), p)
	if err != nil {
		return err
	}
	sig := unix.SIGCONT
	if pause {
		sig = unix.SIGSTOP
	}
	signal(container, process, sig)
	return nil
}

// SetVersion implements timeline.Processes; it is never asked for, as the world lacks its need.
func (st stage) SetVersion(string, scenarios.AgentVersion) {}

// SetClock implements timeline.Processes; nobody asks it: see lacks.
func (st stage) SetClock(string, time.Duration) {}

// Quiet implements timeline.Processes.
func (st stage) Quiet(_ context.Context, name string) bool {
	n := st.node(name)
	return n != nil && n.up() != nil && n.vppUp && n.last.agent != nil && !st.Play.Pending() && st.quiet() == ""
}

// Sandboxes implements timeline.Pods.
func (st stage) Sandboxes(name string) []fact.PodState {
	if n := st.node(name); n != nil {
		return slices.DeleteFunc(n.told.pods(), func(p fact.PodState) bool { return !strings.HasPrefix(p.Pod, podNamespace+"/") })
	}
	return nil
}

// Past implements timeline.Pods.
func (st stage) Past(name string) []ipam.Owner {
	if n := st.node(name); n != nil {
		return slices.Clone(n.told.past)
	}
	return nil
}

// ReplaceSandbox implements timeline.Pods: the runtime stops the sandbox, and the kubelet makes another.
func (st stage) ReplaceSandbox(pod string) bool {
	for _, n := range st.inOrder() {
		m := n.up()
		if m == nil || st.pods.going[pod] {
			continue
		}
		for _, p := range n.told.pods() {
			if p.Pod != podNamespace+"/"+pod {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := m.runtime.stop(ctx, p.Owner.ContainerID); err != nil {
				st.Record.Note("stop sandbox of " + pod + ": " + err.Error())
			}
			return true
		}
	}
	return false
}

// LoseSandbox implements timeline.Pods; it is never asked for, as the world lacks its need.
func (st stage) LoseSandbox(string, scenarios.LoseSandboxes) bool { return false }
