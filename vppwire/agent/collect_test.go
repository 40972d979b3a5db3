package agent

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// Goal: policies that come while rules are written are decided about together, when nothing is written any more or they have waited long
// enough, and at once otherwise. Method: facts, with and without a call under way.
func TestPoliciesAreCollected(t *testing.T) {
	a := &Agent{policies: policy.New()}
	a.now = time.Unix(1000, 0)
	take := func() bool {
		a.take(PolicySeen{Policy: policy.Policy{Name: policy.Name{Namespace: "default", Name: "p"}}})
		opened := a.todo&todoPolicies != 0
		a.todo = 0
		return opened
	}
	if !take() || a.takePolicies() {
		t.Error("nothing is written: it is decided at once, and once")
	}
	a.calling = true
	if first, second := take(), take(); first || second || a.takePolicies() {
		t.Error("a call is under way: nothing is decided")
	}
	a.now = a.now.Add(collectPolicies)
	if !a.takePolicies() || a.todo&todoPolicies == 0 || a.takePolicies() {
		t.Error("it has waited long enough: it is decided, and once")
	}
	a.todo = 0
	if take() || a.takePolicies() {
		t.Error("it waits again")
	}
	if a.calling = false; !a.takePolicies() {
		t.Error("nothing is written any more: it is decided")
	}
}
