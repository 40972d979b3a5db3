package lab

import (
	"context"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/selected"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// policies are the API server's network policies, and what they select by: whoever drives the lab looks often, and writes
// what is different.
type policies struct {
	// mu guards what follows: snapshots look too.
	mu sync.Mutex
	// wanted are the policies that there are to be, labels those of pods beside their application's, both by name, and
	// namespace those of namespace default.
	wanted    map[string]scenarios.Policy
	labels    map[string][]scenarios.Label
	namespace []scenarios.Label
	// addrs are the pods' addresses, by UID, as kubelets told the API server last.
	addrs map[string][]netip.Addr
	// told is what the API server has, state the same in the words of laws, lines as agents tell it.
	told  objects
	state scenarios.PolicyState
	lines nodeagent.Selectables
	// looked is when it was looked at last.
	looked time.Time
}

// objects are policies, pods and namespaces, by policy.Kind and name.
type objects [3]map[policy.Name]any

// policiesEvery is how often it is looked at.
const policiesEvery = 20 * time.Millisecond

func (p *policies) init() {
	p.wanted, p.labels, p.addrs = map[string]scenarios.Policy{}, map[string][]scenarios.Label{}, map[string][]netip.Addr{}
	for k := range p.told {
		p.told[k] = map[policy.Name]any{}
	}
}

// enforcing reports whether agents enforce network policies.
func (w *World) enforcing() bool {
	return w.scenario().Config.Wiring.Policies == scenarios.EnforcedByVPP
}

// change is what a stage does to policies.
func (p *policies) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	p.looked = time.Time{}
}

// SetPolicy implements timeline.ControlPlane.
func (st stage) SetPolicy(x scenarios.Policy) {
	st.policies.change(func() { st.policies.wanted[x.Name] = x })
}

// RemovePolicy implements timeline.ControlPlane.
func (st stage) RemovePolicy(name string) {
	st.policies.change(func() { delete(st.policies.wanted, name) })
}

// LabelPods implements timeline.ControlPlane.
func (st stage) LabelPods(pods []string, labels []scenarios.Label) {
	st.policies.change(func() {
		for _, name := range pods {
			st.policies.labels[name] = labels
		}
	})
}

// LabelNamespace implements timeline.ControlPlane.
func (st stage) LabelNamespace(labels []scenarios.Label) {
	st.policies.change(func() { st.policies.namespace = labels })
}

// podAddrs are the addresses of pods that run, by UID.
func (k *kubelet) podAddrs() map[string][]netip.Addr {
	k.Lock()
	defer k.Unlock()
	out := map[string][]netip.Addr{}
	for _, w := range k.InOrder() {
		if s, runs := w.Current(); runs && s.exists && s.addr.IsValid() {
			out[w.pod.uid] = []netip.Addr{s.addr}
			if s.second.IsValid() {
				out[w.pod.uid] = append(out[w.pod.uid], s.second)
			}
		}
	}
	return out
}

// selectables are what the API server should have. A pod keeps its addresses while its kubelet cannot say others.
// policies.mu is held.
func (w *World) selectables() (want objects, state scenarios.PolicyState) {
	p := &w.policies
	heard := map[string]map[string][]netip.Addr{}
	for _, n := range w.inOrder() {
		if n.isUp() && n.relays.api.hears() {
			heard[n.name] = n.kubelet.podAddrs()
		}
	}
	w.mu.Lock()
	pods := w.pods.inOrder(func(*pod) bool { return true })
	addrs := make(map[string][]netip.Addr, len(pods))
	for _, x := range pods {
		if now, heard := heard[x.node]; heard {
			addrs[x.uid] = now[x.uid]
		} else {
			addrs[x.uid] = p.addrs[x.uid]
		}
	}
	w.mu.Unlock()
	p.addrs = addrs
	state = scenarios.PolicyState{Labels: map[string][]scenarios.Label{}, Namespace: p.namespace}
	for k := range want {
		want[k] = map[policy.Name]any{}
	}
	for _, name := range slices.Sorted(maps.Keys(p.wanted)) {
		state.Policies = append(state.Policies, p.wanted[name])
		want[policy.Policies][selected.Name(name)] = selected.Policy(p.wanted[name])
	}
	for _, x := range pods {
		state.Labels[x.key()] = append([]scenarios.Label{scenarios.Label("app=" + x.app)}, p.labels[x.name]...)
		want[policy.Pods][selected.Name(x.name)] = selected.Pod(x.name, x.app, p.labels[x.name], addrs[x.uid]...)
	}
	n := selected.Namespace(p.namespace)
	want[policy.Namespaces][policy.Name{Name: n.Name}] = n
	return want, state
}

// policiesTold reports whether the API server has every policy, pod and label as they are.
func (w *World) policiesTold() bool {
	if !w.enforcing() {
		return true
	}
	w.policies.mu.Lock()
	defer w.policies.mu.Unlock()
	want, _ := w.selectables()
	return reflect.DeepEqual(want, w.policies.told)
}

// publishPolicies writes what is different, as long as the API server answers.
func (w *World) publishPolicies(now time.Time) {
	if !w.enforcing() {
		return
	}
	p := &w.policies
	p.mu.Lock()
	defer p.mu.Unlock()
	w.mu.Lock()
	answers := w.apiUp()
	w.mu.Unlock()
	if !answers || now.Sub(p.looked) < policiesEvery {
		return
	}
	p.looked = now
	want, state := w.selectables()
	if err := p.write(context.Background(), w.control.objects, want); err != nil {
		w.Fail(err)
		return
	}
	p.state = state
}

// write has the API server say what is wanted: first the pods and the namespace, then the policies that select them.
func (p *policies) write(ctx context.Context, c *etcd.Client, want objects) error {
	for _, k := range [...]policy.Kind{policy.Pods, policy.Namespaces, policy.Policies} {
		for _, n := range slices.SortedFunc(maps.Keys(p.told[k]), policy.Name.Compare) {
			if _, stays := want[k][n]; stays {
				continue
			}
			if err := c.DeleteSelectable(ctx, k, n); err != nil {
				return err
			}
			delete(p.told[k], n)
			p.lines.Gone(k, n)
		}
		for _, n := range slices.SortedFunc(maps.Keys(want[k]), policy.Name.Compare) {
			now := want[k][n]
			if reflect.DeepEqual(p.told[k][n], now) {
				continue
			}
			if err := putSelectable(ctx, c, now); err != nil {
				return err
			}
			p.told[k][n] = now
			p.lines.Seen(k, n, now)
		}
	}
	return nil
}

func putSelectable(ctx context.Context, c *etcd.Client, value any) error {
	switch x := value.(type) {
	case policy.Policy:
		return c.PutPolicy(ctx, x)
	case policy.Pod:
		return c.PutPeer(ctx, x)
	}
	return c.PutNamespace(ctx, value.(policy.Namespace))
}

// heard is what an agent that has heard of everything tells of policies and of what they select.
func (p *policies) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines.Lines()
}

// policyState is what laws judge by: what the API server has. There is nothing to judge while it cannot tell a node that
// runs: the policies that hold there are other ones.
func (w *World) policyState() scenarios.PolicyState {
	if !w.enforcing() {
		return scenarios.PolicyState{}
	}
	for _, n := range w.inOrder() {
		if n.isUp() && !n.relays.api.hears() {
			return scenarios.PolicyState{}
		}
	}
	w.policies.mu.Lock()
	defer w.policies.mu.Unlock()
	return w.policies.state
}
