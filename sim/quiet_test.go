package sim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

func parsed(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("quiet.yaml", []byte("# A test.\nname: quiet\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Goal: what a runtime asks in the last item of a timeline is asked and answered before the run ends. Method: requests
// that facts tell of, counted.
func TestLastItemIsDone(t *testing.T) {
	for _, c := range []struct {
		do, kind string
		want     int
	}{{"gc, node: all", "GC", 2}, {"check-pods, node: all", "Check", 6}, {"repeat-del, node: node-1, count: 4", "Del", 4}} {
		s := parsed(t, "topology: {nodes: 2, podsPerNode: 3}\ntimeline: [{when: settled, do: "+c.do+"}]\n")
		w, err := sim.New(s, sim.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		w.Watch(func(f fact.Fact) error {
			if x, ok := f.What.(fact.Asked); ok && x.Command == c.kind {
				asked++
			}
			return nil
		})
		r := result.Run(context.Background(), w, s, check.All(), result.Options{})
		if r.Verdict != result.Pass || asked != c.want {
			t.Errorf("%s: %s, %d requests, want %d: %s", c.do, r.Verdict, asked, c.want, r.Error)
		}
	}
}

// Goal: a cluster that never comes to rest is told with its pods, nodes and requests, the cause first, and the cause
// has no names. Method: a table of what is missing and what must be said.
func TestSettlesSaysWhy(t *testing.T) {
	for _, c := range []struct {
		timeline, node, cause string
		says                  []string
	}{
		{"{at: 9s, do: kill-vpp, node: node-1}, {do: delete-pods, pod: default/node-1-pod-0}, {when: settled, do: settle}",
			"node-1", "VPP is down and stays so until somebody starts it",
			[]string{"DEL of pod default/node-1-pod-0, sandbox ", "is open since 9"}},
		{"{at: 9s, do: kill-agent, node: node-2}, {do: replace-sandbox, pod: default/node-2-pod-0}, {after: 10s, do: settle}",
			"node-2", "the agent is down and stays so until somebody starts it", []string{"kubelet node-2 default/node-2-pod-0: del"}},
		{"{at: 9s, do: inject, fault: (Request ip_neighbor_add_del (Refuse -7))}, {do: create-pods, node: node-1}, {at: 10s, do: settle}",
			"node-1", "ADD is open: sandbox of pod is being wired: VPPApiError: Invalid value", []string{"ADD of pod default/pod-1, sandbox "}},
	} {
		s := parsed(t, "topology: {nodes: 2, podsPerNode: 1}\nlimits: {settle: 3s}\ntimeline: ["+c.timeline+"]\n")
		r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: check.All()})
		if err != nil {
			t.Fatal(err)
		}
		f := r.Failure
		if f == nil || f.Law != "settles" {
			t.Fatalf("%s: %s %s", c.timeline, r.Verdict, r.Error)
		}
		if f.Node != c.node || f.Cause != c.cause {
			t.Errorf("%s: node %q, cause %q; want %q, %q", c.timeline, f.Node, f.Cause, c.node, c.cause)
		}
		for _, text := range c.says {
			if !strings.Contains(f.What, text) {
				t.Errorf("%s: %q is not in %q", c.timeline, text, f.What)
			}
		}
		if !strings.HasPrefix(f.Follows, "kill-") && !strings.HasPrefix(f.Follows, "inject ") {
			t.Errorf("%s: follows %q", c.timeline, f.Follows)
		}
	}
}
