package result

import (
	"fmt"
	"testing"
)

// Goal: runs that one mistake breaks are one kind, however their nodes, addresses and pods are called, and different
// mistakes stay apart. Method: runs of each sort, and how they are grouped.
func TestKinds(t *testing.T) {
	broken := func(law, what string) Result { return Result{Verdict: Fail, Failure: &Failure{Law: law, What: what}} }
	list := []Result{
		broken("reachable", "10.1.1.2 on node-1 does not reach node-2"),
		{Verdict: Pass, Failure: &Failure{Law: "reachable"}},
		broken("one-owner", "10.1.1.2 is held twice"),
		broken("reachable", "10.9.1.7 on node-3 does not reach node-1"),
		broken("reachable", "10.9.1.7 on node-3 has no route"),
		{Verdict: Fail, Error: "expected 3 pods, but found 2"},
		{Verdict: Error, Error: "expected 3 pods, but found 2"},
		{Verdict: Error, Error: "x", Unsupported: []string{"power-off"}},
		{Verdict: Error, Error: "y", Unsupported: []string{"power-off"}},
		{Verdict: Fail, Error: "expected 9 pods, but found 8"},
		{Verdict: Stopped},
	}
	if got, want := fmt.Sprint(Kinds(list)), "[{[0 3]} {[2]} {[4]} {[5 9]} {[6]} {[7 8]}]"; got != want {
		t.Errorf("kinds are %s, want %s", got, want)
	}
}
