package nodeagent

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/selected"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// Goal: a lab and an agent that has read the same from a store have the same lines, in whatever order it came, and others where anything
// differs. Method: objects as a lab writes them, through JSON, in another order, with one that came and went.
func TestSelectables(t *testing.T) {
	var lab, agent Selectables
	if lab.Lines() != nil {
		t.Errorf("of nothing: %q", lab.Lines())
	}
	p := selected.Policy(scenarios.Policy{Name: "p", Pods: []scenarios.Label{"app=web"}, Peers: []scenarios.PolicyPeer{"app=a", "10.1.0.0/16-10.1.1.0/24"}, Ports: []scenarios.PolicyPort{"tcp:80"}})
	x := selected.Pod("web", "web", nil)
	n := selected.Namespace(nil)
	lab.Seen(policy.Policies, p.Name, p)
	lab.Seen(policy.Pods, x.Name, x)
	lab.Seen(policy.Namespaces, policy.Name{Name: n.Name}, n)
	var n2 policy.Namespace
	var x2 policy.Pod
	var p2 policy.Policy
	for value, into := range map[any]any{&n: &n2, &x: &x2, &p: &p2} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	agent.Seen(policy.Pods, policy.Name{Namespace: "default", Name: "gone"}, x)
	agent.Seen(policy.Namespaces, policy.Name{Name: n2.Name}, n2)
	agent.Seen(policy.Pods, x2.Name, x)
	agent.Seen(policy.Pods, x2.Name, x2)
	agent.Seen(policy.Policies, p2.Name, p2)
	if slices.Equal(lab.Lines(), agent.Lines()) {
		t.Errorf("one pod more: %q", agent.Lines())
	}
	agent.Listed(policy.Pods, []policy.Name{x2.Name})
	if !slices.Equal(lab.Lines(), agent.Lines()) {
		t.Errorf("%q and %q", lab.Lines(), agent.Lines())
	}
	x2.Labels = map[string]string{"app": "shop"}
	agent.Seen(policy.Pods, x2.Name, x2)
	if slices.Equal(lab.Lines(), agent.Lines()) {
		t.Errorf("another label: %q", agent.Lines())
	}
}
