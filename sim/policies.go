package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/selected"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// policies is what people want the API server to have of network policies and of what they select.
type policies struct {
	wanted    map[string]scenarios.Policy
	labels    map[string][]scenarios.Label // of pods, by name
	namespace []scenarios.Label
	// due: it is about to be written.
	due bool
}

// enforcing reports whether agents enforce network policies.
func (w *World) enforcing() bool { return w.s.Config.Wiring.Policies == scenarios.EnforcedByVPP }

// SetPolicy implements timeline.ControlPlane.
func (st stage) SetPolicy(p scenarios.Policy) {
	st.policies.wanted[p.Name] = p
	st.policiesDue(0)
}

// RemovePolicy implements timeline.ControlPlane.
func (st stage) RemovePolicy(name string) {
	delete(st.policies.wanted, name)
	st.policiesDue(0)
}

// LabelPods implements timeline.ControlPlane.
func (st stage) LabelPods(pods []string, labels []scenarios.Label) {
	for _, name := range pods {
		st.policies.labels[name] = labels
	}
	st.policiesDue(0)
}

// LabelNamespace implements timeline.ControlPlane.
func (st stage) LabelNamespace(labels []scenarios.Label) {
	st.policies.namespace = labels
	st.policiesDue(0)
}

// watchPolicies has a pod that comes again under its name get its labels.
func (w *World) watchPolicies() {
	w.policies.wanted, w.policies.labels = map[string]scenarios.Policy{}, map[string][]scenarios.Label{}
	if !w.enforcing() {
		return
	}
	w.policiesDue(0)
	w.api.Observe(func(old, now cluster.Object) {
		if p, is := now.(*cluster.Pod); is && old == nil && p != nil && len(w.policies.labels[p.Name]) > 0 {
			w.policiesDue(0)
		}
	})
}

func (w *World) policiesDue(after time.Duration) {
	if w.policies.due || !w.enforcing() {
		return
	}
	w.policies.due = true
	w.eng.After(after, &happening{nil, "policies", func() {
		w.policies.due = false
		if !w.publishPolicies() {
			w.policiesDue(slicesRetry)
		}
	}})
}

// publishPolicies makes the API server's policies, namespace and labels what they should be; false where it does not
// answer.
func (w *World) publishPolicies() bool {
	if !w.api.Available() {
		return false
	}
	w.retract(cluster.KindPolicy, func(o cluster.Object) bool { _, stays := w.policies.wanted[o.Common().Name]; return stays })
	for _, name := range slices.Sorted(maps.Keys(w.policies.wanted)) {
		value := selected.Policy(w.policies.wanted[name])
		w.publish(&cluster.Policy{Meta: cluster.Meta{Namespace: value.Name.Namespace, Name: name}, Value: value},
			func(o cluster.Object) any { return o.(*cluster.Policy).Value })
	}
	value := selected.Namespace(w.policies.namespace)
	w.publish(&cluster.Namespace{Meta: cluster.Meta{Name: value.Name}, Value: value}, func(o cluster.Object) any { return o.(*cluster.Namespace).Value })
	pods, _ := w.api.List(cluster.KindPod, "")
	for _, o := range slices.Clone(pods) {
		p := *o.(*cluster.Pod)
		var labels []string
		for _, l := range w.policies.labels[p.Name] {
			labels = append(labels, string(l))
		}
		if !slices.Equal(p.Labels, labels) {
			p.Labels = labels
			must(w.api.Update(&p))
		}
	}
	return true
}

// peer is what policies look at of a pod.
func peer(p *cluster.Pod) policy.Pod {
	var labels []scenarios.Label
	for _, l := range p.Labels {
		labels = append(labels, scenarios.Label(l))
	}
	return selected.Pod(p.Name, p.App, labels, p.IP, p.Second)
}

// kindOf is what an event without an object is about.
func kindOf(ev agent.Event) policy.Kind {
	if e, is := ev.(agent.SelectableGone); is {
		return e.Kind
	}
	return ev.(agent.SelectablesListed).Kind
}

// policyState is what laws judge by.
func (w *World) policyState() (s scenarios.PolicyState) {
	if !w.enforcing() {
		return s
	}
	for _, name := range slices.Sorted(maps.Keys(w.policies.wanted)) {
		s.Policies = append(s.Policies, w.policies.wanted[name])
	}
	s.Labels, s.Namespace = map[string][]scenarios.Label{}, w.policies.namespace
	pods, _ := w.api.List(cluster.KindPod, "")
	for _, o := range pods {
		p := o.(*cluster.Pod)
		s.Labels[p.Key().String()] = append([]scenarios.Label{scenarios.Label("app=" + p.App)}, w.policies.labels[p.Name]...)
	}
	return s
}
