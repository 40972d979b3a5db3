package sim

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/breakage"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// podKey is the key of a pod in namespace "default".
func podKey(name string) cluster.Key { return cluster.Key{Namespace: "default", Name: name} }

// Pods implements timeline.Pods.
func (st stage) Pods(node string) []timeline.Pod {
	objects, _ := st.api.List(cluster.KindPod, node)
	pods := make([]timeline.Pod, len(objects))
	for i, o := range objects {
		p := o.(*cluster.Pod)
		pods[i] = timeline.Pod{Name: p.Name, App: p.App, Node: p.Node, MaxPerNode: p.MaxPerNode, Pinned: p.Pinned, Static: p.Static, Deleting: p.Deleting, Pool: p.Pool, Addresses: p.Wanted, Interface: p.Interface}
	}
	return pods
}

// CreatePod implements timeline.Pods.
func (st stage) CreatePod(p timeline.Pod) {
	st.cluster.Workload.Create(cluster.PodSpec{Name: p.Name, App: p.App, Node: p.Node, Pinned: p.Pinned, Static: p.Static, MaxPerNode: p.MaxPerNode, Pool: p.Pool, Wanted: p.Addresses, Interface: p.Interface})
}

// DeletePod implements timeline.Pods.
func (st stage) DeletePod(name string, force bool) {
	if force {
		st.cluster.Workload.Remove(podKey(name))
		return
	}
	st.cluster.Workload.Delete(podKey(name))
}

// EvictPod implements timeline.Pods: no disruption budget is modelled.
func (st stage) EvictPod(name string) { st.DeletePod(name, false) }

// ReplaceSandbox implements timeline.Pods.
func (st stage) ReplaceSandbox(pod string) bool {
	p, ok := st.api.Pod(podKey(pod))
	if !ok {
		return false
	}
	k := st.cluster.Kubelet(p.Node)
	return k != nil && k.ReplaceSandbox(p.Key()) == nil
}

// LoseSandbox implements timeline.Pods.
func (st stage) LoseSandbox(pod string, how scenarios.LoseSandboxes) bool {
	p, ok := st.api.Pod(podKey(pod))
	if !ok {
		return false
	}
	k := st.cluster.Kubelet(p.Node)
	if k == nil || !k.LoseSandbox(p.Key(), how.Gone, how.SameID) {
		return false
	}
	if how.Gone {
		st.cluster.Workload.Remove(p.Key())
	}
	return true
}

// Sandboxes implements timeline.Pods.
func (st stage) Sandboxes(node string) []fact.PodState { return st.sandboxes(st.machines[node]) }

// Past implements timeline.Pods.
func (st stage) Past(node string) []ipam.Owner { return st.machines[node].past }

// Ask implements timeline.Pods.
func (st stage) Ask(_ context.Context, node string, r timeline.Request, done func(timeline.Response)) {
	m := st.machines[node]
	proc, vpp := m.proc, m.vpp
	x := &plugin{m: m, command: r.Command, owner: r.Owner, event: func(n uint64) agent.Event {
		if r.Reached != nil && m.proc == proc && m.vpp == vpp && !proc.paused {
			r.Reached()
		}
		switch r.Command {
		case "Del":
			return agent.PodDel{Request: n, Owner: r.Owner}
		case "Check":
			return agent.PodCheck{Request: n, Owner: r.Owner, Addr: r.Addr}
		case "Status":
			return agent.PodStatus{Request: n}
		case "GC":
			return agent.PodGC{Request: n, Network: r.Owner.Network, Valid: r.Valid}
		}
		panic("sim: a runtime sends no " + r.Command)
	}}
	x.done = func(res cluster.CNIResult) {
		if done != nil {
			done(timeline.Response{Known: !unknown(res) && !st.faulty(), Mending: x.m.writes(), Code: res.Code, Message: res.Message})
		}
	}
	st.ask(x)
}

// Break implements timeline.Pods.
func (st stage) Break(ctx context.Context, node string, s fact.PodState, what scenarios.Breakage) error {
	m := st.machines[node]
	state := m.state()
	if state.VPP == nil || state.Linux == nil {
		return fmt.Errorf("%w: VPP of %s is down", timeline.ErrNoTarget, node)
	}
	hand := breakage.Node{State: &state, VPP: m.vpp, Linux: m.host, Netns: s.Netns, Remove: func() error { m.host.RemoveNamespace(s.Netns); return nil }}
	if err := hand.Break(ctx, s, what); !errors.Is(err, breakage.ErrNothing) {
		return err
	}
	return timeline.ErrNoTarget
}

// end is one end of a connection; the modelled network calls ends as scenarios do.
func (st stage) end(e scenarios.Endpoint) cluster.Endpoint { return st.net.Endpoint(string(e)) }

// Cut implements timeline.Network.
func (st stage) Cut(from, to scenarios.Endpoint, oneWay bool) error {
	a, b := st.end(from), st.end(to)
	st.net.Cut(a, b)
	if !oneWay {
		st.net.Cut(b, a)
	}
	return nil
}

// Mend implements timeline.Network.
func (st stage) Mend(from, to scenarios.Endpoint) error {
	a, b := st.end(from), st.end(to)
	st.net.Mend(a, b)
	st.net.Mend(b, a)
	return nil
}

// Slow implements timeline.Network.
func (st stage) Slow(from, to scenarios.Endpoint, l timeline.Link) error {
	a, b := st.end(from), st.end(to)
	is := st.net.Default()
	is.DelayMax += l.Delay
	if l != (timeline.Link{}) {
		is.Loss, is.Duplicate = l.Loss, l.Duplicate
	}
	st.net.Set(a, b, is)
	st.net.Set(b, a, is)
	return nil
}

// StopStore implements timeline.ControlPlane.
func (st stage) StopStore(stop bool) { st.store.SetAvailable(!stop) }

// StopAPI implements timeline.ControlPlane.
func (st stage) StopAPI(stop bool) { st.api.SetAvailable(!stop) }

// StopDHCP implements timeline.ControlPlane.
func (st stage) StopDHCP(stop bool) { st.dhcp.stopped = stop }

// WipeStore implements timeline.ControlPlane.
func (st stage) WipeStore() error {
	st.store.Store.Wipe()
	return nil
}

// CompactStore implements timeline.ControlPlane.
func (st stage) CompactStore(context.Context) error {
	st.store.Store.Compact(st.store.Store.Revision())
	return nil
}

// SetPools implements timeline.ControlPlane.
func (st stage) SetPools(_ context.Context, plan scenarios.IPAM, pools agent.Pools) error {
	if st.dhcp != nil {
		st.dhcp.ranges = plan.Interconnect()
	}
	if err := st.api.SetConfigMap(poolsName, pools); err != nil {
		return err
	}
	st.pools, st.rearranged = pools, true
	return nil
}

// AddRange implements timeline.ControlPlane.
func (st stage) AddRange(r netip.Prefix) error { return st.system.AddRange(r) }

// RemoveRange implements timeline.ControlPlane.
func (st stage) RemoveRange(r netip.Prefix) error { return st.system.RemoveRange(r) }

// RestartController implements timeline.ControlPlane.
func (st stage) RestartController(a scenarios.RestartController) error {
	return st.system.RestartController(a)
}

// LoseLeader implements timeline.ControlPlane.
func (st stage) LoseLeader(how scenarios.LoseLeader) error {
	return st.system.LoseLeader(how)
}

// SetPodCIDR implements timeline.ControlPlane.
func (st stage) SetPodCIDR(_ context.Context, node string, p netip.Prefix) error {
	st.reassign(node, p)
	return st.api.SetNode(node, "", func(n *cluster.Node) {
		cidrs := []netip.Prefix{p}
		for i, old := range n.PodCIDRs {
			if old.Addr().Is4() != p.Addr().Is4() { // in a cluster of two families the other one's stays, where it was
				cidrs = slices.Insert(cidrs, min(i, len(cidrs)), old)
			}
		}
		n.PodCIDRs = cidrs
	})
}

// LagWatches implements timeline.ControlPlane.
func (st stage) LagWatches(node string, lag time.Duration) {
	st.watchFault(node, func(f *cluster.StreamFaults) { f.Lag = lag })
	st.machines[node].ableAt = st.eng.Now()
}

// GapWatches implements timeline.ControlPlane.
func (st stage) GapWatches(_ context.Context, node string) error {
	st.watchFault(node, func(f *cluster.StreamFaults) { f.Drop = 1 })
	return nil
}

// RepeatWatches implements timeline.ControlPlane.
func (st stage) RepeatWatches(node string, count int) {
	st.watchFault(node, func(f *cluster.StreamFaults) { f.Duplicate = count })
}

// watchFault changes the faults of every watch of a node's agent.
func (st stage) watchFault(node string, change func(*cluster.StreamFaults)) {
	p := st.machines[node].proc
	if p == nil {
		return
	}
	change(&p.client.Faults)
	for _, i := range p.feed.All() {
		change(&i.Faults)
	}
}

// Inject implements timeline.ControlPlane.
func (st stage) Inject(text, node string) (end func(), err error) {
	return st.faults.Inject(text, node)
}

// mendingFor is the longest time that a call is made behind an answer that names its fix.
const mendingFor = 10 * time.Millisecond

// writes reports whether the agent has just changed something.
func (m *machine) writes() bool { return m.wroteAt > 0 && m.w.eng.Now()-m.wroteAt < mendingFor }
