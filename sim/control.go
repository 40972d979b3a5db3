package sim

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/hostlocal"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// poolsName is the configuration object that holds the address ranges.
const poolsName = "pools"

// build makes the control plane and the machines at the start.
func (w *World) build(pools agent.Pools) (err error) {
	defer w.outlive(&err)
	w.wiring = w.agentConfig.Mode()
	w.cluster = cluster.New(cluster.Config{
		Clock: w.eng, Machine: runtime{w}, Hooks: w.hooks(),
		Scheduler: cluster.SchedulerConfig{MaxPods: w.s.Topology.MaxPodsPerNode},
		Kubelet:   kubelets(w.s.Config.Runtime),
		Clocks:    func(node string) cluster.MachineClocks { return kubeletClocks{w.machines[node]} },
	})
	w.net, w.api, w.store = w.cluster.Net, w.cluster.API, w.cluster.Store
	w.store.Store.Committed = w.recordChanged
	w.api.OnDelivery(w.delivery)
	w.api.OnList(w.listing)
	w.watchEndpoints()
	w.watchPolicies()
	if err := w.makeSystem(); err != nil {
		return err
	}
	w.pools = pools
	if err := w.api.SetConfigMap(poolsName, pools); err != nil {
		return err
	}
	w.system.Start()
	return w.play.Start(context.Background())
}

// kubelets behave as a scenario says.
func kubelets(r scenarios.Runtime) cluster.KubeletConfig {
	return cluster.KubeletConfig{Timeout: r.Timeout, Orphans: r.Orphans, TwiceDel: r.TwiceDel, NoNetns: r.NoNetns, NewestByClock: r.NewestByClock,
		Config: podworker.Config{RepeatAdd: r.RepeatAdd, RepeatDel: r.RepeatDel, AddBeforeDel: r.AddBeforeDel}}
}

// runtime is the machines as kubelets see them.
type runtime struct{ w *World }

// CreateNetns implements cluster.Machine.
func (r runtime) CreateNetns(node, path string) {
	if m := r.w.machines[node]; m != nil && m.up {
		if err := m.host.CreateNamespace(path); err != nil {
			panic("sim: a kubelet makes a namespace twice: " + err.Error())
		}
	}
}

// RemoveNetns implements cluster.Machine.
func (r runtime) RemoveNetns(node, path string) {
	if m := r.w.machines[node]; m != nil && m.up {
		m.host.RemoveNamespace(path)
	}
}

// Add implements cluster.Machine: the CNI plugin asks the agent.
func (r runtime) Add(node string, req cluster.CNIAdd, done func(cluster.CNIResult)) {
	m := r.w.machines[node]
	sandbox := agent.Sandbox{Owner: req.Owner, Netns: req.Netns, PodNamespace: req.PodNamespace, PodName: req.PodName, PodUID: req.PodUID}
	sandbox.Memif, _ = mode.MemifOf(req.Interface) // the zero one for none
	r.w.ask(&plugin{m: m, command: "Add", owner: req.Owner, pod: req.PodNamespace + "/" + req.PodName, podUID: req.PodUID, netns: sandbox.Netns, done: func(res cluster.CNIResult) {
		if res.Code != 0 && !unknown(res) { // what the agent may hold stays until DEL
			r.w.externalRelease(m, req.Owner)
		}
		done(res)
	}, event: func(n uint64) agent.Event {
		ev := agent.PodAdd{Request: n, Sandbox: sandbox, Wanted: req.Wanted}
		if r.w.s.Config.IPAM.UseExternalIPAM {
			ev.External, ev.ExternalSecond = r.w.externalAddresses(m, req.Owner)
		}
		return ev
	}})
}

// Del implements cluster.Machine.
func (r runtime) Del(node string, req cluster.CNIDel, done func(cluster.CNIResult)) {
	m := r.w.machines[node]
	r.w.ask(&plugin{m: m, command: "Del", owner: req.Owner, pod: req.Pod.String(), done: func(res cluster.CNIResult) {
		if res.Code == 0 {
			r.w.externalRelease(m, req.Owner)
		}
		done(res)
	}, event: func(n uint64) agent.Event {
		return agent.PodDel{Request: n, Owner: req.Owner}
	}})
}

// externalAddresses asks the plugin beside the agent for an address of the node's present pod CIDR, or of each of its
// two.
func (w *World) externalAddresses(m *machine, owner ipam.Owner) (first, second netip.Addr) {
	var cidrs []netip.Prefix
	if node, ok := w.api.Node(m.name); ok {
		cidrs = node.PodCIDRs
	}
	return w.external.Pick(m.number, cidrs, owner)
}

// externalRelease reports to the external plugin that the address is free.
func (w *World) externalRelease(m *machine, owner ipam.Owner) {
	if m != nil {
		w.external.Release(m.number, owner)
	}
}

// hooks turn what container runtimes do into facts.
func (w *World) hooks() cluster.Hooks {
	each := func(node string, s *cluster.Sandbox, what func(ipam.Owner, netip.Addr) fact.What) {
		w.emit(fact.Fact{Node: node, What: what(s.Owner, s.Addr.Addr())})
		if s.Second.IsValid() {
			w.emit(fact.Fact{Node: node, What: what(s.Owner.Second(), s.Second.Addr())})
		}
	}
	return cluster.Hooks{
		Answered: func(node string, s *cluster.Sandbox) {
			w.answered(node, s)
			each(node, s, func(o ipam.Owner, a netip.Addr) fact.What {
				return fact.Answered{Owner: o, Addr: a, Pod: s.Pod.String(), PodUID: s.UID, Netns: s.Netns}
			})
		},
		Deleted: func(node string, s *cluster.Sandbox) {
			each(node, s, func(o ipam.Owner, _ netip.Addr) fact.What { return fact.Deleted{Owner: o, Pod: s.Pod.String()} })
		},
		Gone: func(node string, s *cluster.Sandbox) {
			if m := w.machines[node]; m != nil && !s.StartsAgain() {
				m.past = append(m.past, s.Owner)
			}
			each(node, s, func(o ipam.Owner, _ netip.Addr) fact.What { return fact.SandboxGone{Owner: o, Pod: s.Pod.String()} })
		},
		Refused: func(node string, s *cluster.Sandbox, r cluster.CNIResult) {
			w.emit(fact.Fact{Node: node, What: fact.Refused{Owner: s.Owner, Pod: s.Pod.String(), PodUID: s.UID, Why: r.Message,
				Code: r.Code, Exhausted: r.Exhausted, Wait: w.patience(node, r)}})
		},
	}
}

// sandboxes are the ones that exist on a machine.
func (w *World) sandboxes(m *machine) []fact.PodState {
	k := w.cluster.Kubelet(m.name)
	if k == nil {
		return nil
	}
	var out []fact.PodState
	for s := range k.Sandboxes() {
		out = append(out, fact.PodState{Owner: s.Owner, Pod: s.Pod.String(), UID: s.UID, Netns: s.Netns,
			Addr: s.Addr.Addr(), Gateway: s.Gateway})
		if s.Second.IsValid() {
			out = append(out, fact.PodState{Owner: s.Owner.Second(), Pod: s.Pod.String(), UID: s.UID, Netns: s.Netns,
				Addr: s.Second.Addr(), Gateway: s.SecondGateway})
		}
	}
	return out
}

// controlPending says what the control plane still has to do.
func (w *World) controlPending() string {
	if why := w.starvedDespiteFree(); why != "" {
		return why
	}
	if !w.cluster.Load().Quiet() {
		return strings.Join(w.cluster.Pending(3), "; ")
	}
	return w.system.Pending()
}

// starvedDespiteFree names a node whose pods wait although an address is free and VPP has room for it, or "".
func (w *World) starvedDespiteFree() string {
	if w.cluster.Load().Starved == 0 {
		return ""
	}
	for _, m := range w.order {
		if k := w.cluster.Kubelet(m.name); k != nil && k.Starved() > 0 && m.proc != nil {
			if m.freeForStarved(k) && !m.crowded() && !m.misfit() {
				return m.name + ": pods wait for an address and there is one"
			}
		}
	}
	return ""
}

// freeForStarved reports whether there is a free address for a pod that waits: one of its pool where there are several,
// the one that it asks for where it does.
func (m *machine) freeForStarved(k *cluster.Kubelet) bool {
	now, waiting := m.proc.ownNow(), k.StarvedPods()
	if wishes := waitingFor(k); len(wishes) > 0 {
		if n := m.state(); slices.ContainsFunc(wishes, n.Grants) {
			return true
		}
		waiting = slices.DeleteFunc(waiting, func(p *cluster.Pod) bool { return len(p.Wanted) > 0 })
	}
	if len(waiting) == 0 {
		return false
	}
	if pooled, ok := m.alloc.(controllers.PooledAllocator); ok {
		return slices.ContainsFunc(waiting, func(p *cluster.Pod) bool { return pooled.FreeFor(now, p.Pool) > 0 })
	}
	if both, ok := m.alloc.(ipam.DualStack); ok && m.w.s.Config.IPAM.Dual() {
		return both.FreeIn(now, ipam.PoolIPv4) > 0 && both.FreeIn(now, ipam.PoolIPv6) > 0 // a pod gets one of each
	}
	_, free := m.alloc.Capacity(now)
	return free > 0
}

// control is the part of a World around the machines.
type control struct {
	cluster *cluster.Cluster
	// pools are the address ranges as the API server has them.
	pools  agent.Pools
	wiring mode.Config
	// external is the IPAM plugin beside the agents.
	external hostlocal.Plugin
	// system is where nodes' blocks come from.
	system controllers.System
	// assigned is what the system, or an administrator, says each node has.
	assigned map[string][]ipam.Block
}
