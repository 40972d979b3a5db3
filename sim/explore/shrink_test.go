package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
)

// broken makes an unreasonable law that tests want to see broken. Its check remembers, so each run needs a law of its
// own.
func broken(check func(fact.Snapshot) string) fact.Law {
	return fact.Law{Name: "unreasonable", Why: "A test wants to see it broken.", When: fact.Always,
		Check: func(s fact.Snapshot) (int64, error) {
			if what := check(s); what != "" {
				return 1, &fact.Violation{Law: "unreasonable", At: s.At, What: what}
			}
			return 1, nil
		}}
}

// watcher is an unreasonable law that is judged fact by fact.
type watcher func(fact.Fact) string

func (w watcher) Checks() int64 { return 1 }

func (w watcher) Observe(f *fact.Fact) error {
	if what := w(*f); what != "" {
		return &fact.Violation{Law: "unreasonable", At: f.At, Node: f.Node, What: what}
	}
	return nil
}

func watched(make func() watcher) fact.Law {
	law := broken(nil)
	law.Check, law.Watch = nil, func() fact.Watcher { return make() }
	return law
}

// under runs in the simulator with one law beside the real ones.
func under(law func() fact.Law) explore.Run {
	return func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
		o.Laws = append(check.All(), law())
		return sim.Run(ctx, s, o)
	}
}

// failing finds the first seed from 10 on with which s breaks the unreasonable law.
func failing(tb testing.TB, run explore.Run, s *scenarios.Scenario) result.Result {
	tb.Helper()
	for seed := range uint64(200) {
		r, err := run(context.Background(), s, sim.Options{Seed: 10 + seed})
		if err != nil {
			tb.Fatal(err)
		}
		if r.Failure != nil && r.Failure.Law == "unreasonable" {
			return r
		}
	}
	tb.Fatal("no seed breaks the law")
	return result.Result{}
}

// shrunk makes a capsule of the first failure of s, replays it, and makes it again.
func shrunk(t *testing.T, law func() fact.Law, s *scenarios.Scenario) *explore.Capsule {
	t.Helper()
	run, runs := under(law), 0
	x := explore.Explorer{Version: "test"}
	x.Run = func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
		runs++
		return run(ctx, s, o)
	}
	failure := failing(t, run, s)
	text, err := x.Shrink(context.Background(), s, nil, failure, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events, %d runs\n%s", failure.Events, runs, text)
	if runs > 301 {
		t.Errorf("%d runs; 300 and the capsule's were allowed", runs)
	}
	c, err := explore.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := x.Replay(context.Background(), text, 0, sim.Options{})
	if err != nil || again.Failure.Law != "unreasonable" || again.Failure.Event != c.Failure.Event {
		t.Errorf("replay: %v, %+v", err, again.Failure)
	}
	second, err := x.Shrink(context.Background(), s, nil, failure, nil)
	if err != nil || string(second) != string(text) {
		t.Errorf("shrinking again gives another capsule: %v\n%s", err, second)
	}
	return c
}

// file is a capsule's scenario without its opening comment.
func file(c *explore.Capsule) string {
	text := string(c.Scenario.Marshal())
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// Goal: a failure of a busy cluster comes out as a person would have written it. Method: a law that breaks when VPP of
// node-4 goes down a second time while the node has pods; two of the many things that happen do that.
func TestShrinkTimeline(t *testing.T) {
	s := parse(t, `
name: busy
labels: [slow]
topology: {nodes: 5, podsPerNode: 6, maxPodsPerNode: 40}
config:
  ipam: {podSubnetCIDR: 10.4.0.0/16}
  wiring: {pod: tap, node: l2, mtu: 1400}
timeline:
  - {at: 20s, do: restart-vpp, node: node-2}
  - {at: 30s, do: kill-agent, node: all, for: 7s}
  - {at: 40s, do: restart-vpp, node: node-4}
  - {at: 50s, do: add-node, count: 2}
  - {at: 60s, do: change-cidr, podSubnetCIDR: 10.2.0.0/16}
  - {at: 70s, do: kill-vpp, node: node-4, for: 20s, optional: true}
  - {at: 80s, do: remove-node, node: node-1}
  - {at: 90s, do: delete-pods, all: true}
churn: {every: 3s, lifetime: 20s}
faults: {dropReply: 0.01, storeUnavailable: 0.02, loseWatch: 0.01, nodes: [node-1, node-4]}
duration: 5m
`)
	c := shrunk(t, func() fact.Law {
		up, downs := true, 0
		return broken(func(s fact.Snapshot) string {
			n, ok := s.Node("node-4")
			if !ok || len(n.Pods) == 0 {
				return ""
			}
			if up && !n.VPPUp {
				downs++
			}
			if up = n.VPPUp; downs == 2 {
				return "VPP of a node with pods is down again"
			}
			return ""
		})
	}, s)
	want := `name: busy
topology:
  nodes: 4
  podsPerNode: 1
timeline:
  - {when: settled, do: restart-vpp, node: node-4}
  - {when: settled, do: kill-vpp, node: node-4, for: 1s}
`
	if diff := cmp.Diff(want, file(c)); diff != "" {
		t.Error(diff)
	}
	if c.Seed != 1 || c.Listed {
		t.Errorf("seed %d, listed %v", c.Seed, c.Listed)
	}
}

// Goal: nodes with higher numbers move up, and "any" becomes a name. Method: a law that any node's second restart
// breaks.
func TestShrinkNodes(t *testing.T) {
	s := parse(t, `
name: many
topology: {nodes: 9}
config:
  nodes: [{name: node-3, ip: 192.168.16.203/24}, {name: node-5, ip: 192.168.16.205/24}]
timeline:
  - {at: 20s, do: restart-agent, node: node-5}
  - {at: 30s, do: restart-agent, node: any}
  - {at: 40s, do: restart-both, node: node-8}
  - {at: 50s, do: restart-agent, node: node-8}
`)
	c := shrunk(t, func() fact.Law {
		return watched(func() watcher {
			downs := map[string]int{}
			return func(f fact.Fact) string {
				if _, ok := f.What.(fact.AgentDown); ok {
					if downs[f.Node]++; downs[f.Node] == 2 {
						return "an agent is down again"
					}
				}
				return ""
			}
		})
	}, s)
	want := `name: many
topology:
  nodes: 1
timeline:
  - {when: settled, do: restart-agent, node: node-1}
  - {when: settled, do: restart-agent, node: node-1}
`
	if diff := cmp.Diff(want, file(c)); diff != "" {
		t.Error(diff)
	}
}

// Goal: faults by chance come out as the few injected ones that mattered. Method: a law that breaks when an agent that
// has pods crashes a second time; only chance makes agents crash.
func TestShrinkFaults(t *testing.T) {
	s := parse(t, `
name: chancy
topology: {nodes: 3, podsPerNode: 3}
timeline:
  - {when: settled, do: restart-agent, node: any}
  - {at: 30s, do: add-node}
  - {at: 100s, do: restart-both, node: any}
churn: {every: 2s, lifetime: 15s}
faults:
  dropRequest: 0.01
  dropReply: 0.01
  delayReply: {p: 0.02, by: 2s}
  crashAfterEffect: 0.002
  crashBeforeEffect: 0.001
  crashVPP: 0.002
  loseWatch: 0.02
  storeUnavailable: 0.02
duration: 3m
`)
	c := shrunk(t, func() fact.Law {
		return watched(func() watcher {
			answers, crashes := map[string]int{}, map[string]int{}
			return func(f fact.Fact) string {
				switch x := f.What.(type) {
				case fact.Answered:
					answers[f.Node]++
				case fact.AgentDown:
					if x.Why != "crash" || answers[f.Node] == 0 {
						break
					}
					if crashes[f.Node]++; crashes[f.Node] == 2 {
						return "an agent crashed again"
					}
				}
				return ""
			}
		})
	}, s)
	f := c.Scenario.Faults
	if len(f.Inject) == 0 || len(f.Inject) > 2 {
		t.Errorf("%d injected faults, want 1 or 2", len(f.Inject))
	}
	for _, text := range f.Inject {
		if !strings.HasPrefix(text, "(Nth ") || !strings.Contains(text, " Crash") {
			t.Errorf("injected %s", text)
		}
	}
	f.Inject = nil
	// Pods may go on coming: a fault that counts calls counts on theirs.
	if f.Any() || c.Scenario.Churn.Lifetime > 0 || c.Scenario.Topology.Nodes > 2 {
		t.Errorf("something is left by chance:\n%s", c.Scenario.Marshal())
	}
}

// Goal: one pod of a long trace is left when it is the one that matters. Method: a law against a pod's name.
func TestShrinkRows(t *testing.T) {
	text := "name: trace\nworkload:\n  format: pods/1\n  rows: |\n"
	for i := range 60 {
		text += fmt.Sprintf("    pod-%d app-%d %d %d -\n", i, i%3, i, i+40)
	}
	c := shrunk(t, func() fact.Law {
		return watched(func() watcher {
			return func(f fact.Fact) string {
				if x, ok := f.What.(fact.Deleted); ok && x.Pod == "default/pod-37" {
					return "pod-37 was deleted"
				}
				return ""
			}
		})
	}, parse(t, text))
	if rows := c.Scenario.Workload.Rows; len(rows) != 1 || rows[0].Name != "pod-37" {
		t.Errorf("%d rows are left", len(rows))
	}
}

// Goal: where luck is needed that no small seed has, the capsule lists the decisions that matter, and replays by them.
// Method: a law against the deletion of one pod of twelve, of which chance deletes one.
func TestShrinkChoices(t *testing.T) {
	s := parse(t, `
name: lottery
topology: {nodes: 3, podsPerNode: 4}
timeline:
  - {when: settled, do: delete-pods, count: 1}
  - {when: settled, do: restart-agent, node: any}
`)
	c := shrunk(t, func() fact.Law {
		return watched(func() watcher {
			return func(f fact.Fact) string {
				if x, ok := f.What.(fact.Deleted); ok && x.Pod == "default/node-3-pod-1" {
					return "the wrong pod was deleted"
				}
				return ""
			}
		})
	}, s)
	if !c.Listed || len(c.Picks) != 1 || c.Picks[0].Label != "timeline delete-pods 1 pod" {
		t.Errorf("listed %v: %+v", c.Listed, c.Picks)
	}
	if len(c.Scenario.Timeline) != 1 {
		t.Errorf("timeline %v", c.Scenario.Timeline)
	}
}

// restarts breaks a law whenever an agent goes down.
func restarts() fact.Law {
	return watched(func() watcher {
		return func(f fact.Fact) string {
			if _, ok := f.What.(fact.AgentDown); ok {
				return "an agent is down"
			}
			return ""
		}
	})
}

const restarting = `
name: restarting
topology: {nodes: 4, podsPerNode: 2}
timeline:
  - {at: 20s, do: restart-vpp, node: node-2}
  - {at: 30s, do: restart-agent, node: any}
  - {at: 40s, do: restart-agent, node: any}
`

// Goal: shrinking keeps its bounds and says why it cannot start. Method: one case each.
func TestShrinkEnds(t *testing.T) {
	s, ctx := parse(t, restarting), context.Background()
	x := explore.Explorer{Run: under(restarts)}
	failure := failing(t, x.Run, s)

	for _, budget := range []int{1, 2, 10} {
		runs := 0
		y := x
		y.Budget = budget
		y.Run = func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
			runs++
			return x.Run(ctx, s, o)
		}
		c, err := y.Smallest(ctx, s, failure, nil)
		if err != nil || c.Failure.Law != "unreasonable" || runs > budget+1 {
			t.Errorf("budget %d: %d runs, %v", budget, runs, err)
		}
	}
	if _, err := x.Smallest(ctx, s, result.Result{Verdict: result.Fail, Error: "expected 3 pods"}, nil); !errors.Is(err, explore.ErrNoLaw) {
		t.Errorf("no law: %v", err)
	}
	other := failure
	other.Failure = &result.Failure{Law: "one-owner"}
	if _, err := x.Smallest(ctx, s, other, nil); !errors.Is(err, explore.ErrNotAgain) {
		t.Errorf("another law: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	x.Run = func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
		r, err := sim.Run(ctx, s, sim.Options{Seed: o.Seed, Laws: append(check.All(), restarts())})
		cancel()
		return r, err
	}
	if _, err := x.Smallest(cancelled, s, failure, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Goal: a smaller scenario may run longer, but not without end. Method: a run that reports far more events than the
// first.
func TestShrinkBoundsEvents(t *testing.T) {
	s := parse(t, restarting)
	var most int64
	x := explore.Explorer{Run: func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
		most = max(most, s.Limits.Events)
		return under(restarts)(ctx, s, o)
	}}
	failure := failing(t, under(restarts), s)
	c, err := x.Smallest(context.Background(), s, failure, nil)
	if err != nil || most == 0 || c.Scenario.Limits.Events != 0 {
		t.Errorf("bound %d, capsule's %d, %v", most, c.Scenario.Limits.Events, err)
	}
}

// Runs per second of shrinking a small scenario.
func BenchmarkShrink(b *testing.B) {
	yardstick.Beside(b)
	s, runs := parse(b, restarting), 0
	failure := failing(b, under(restarts), s)
	x := explore.Explorer{Run: func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
		runs++
		return under(restarts)(ctx, s, o)
	}}
	start := time.Now()
	for b.Loop() {
		if _, err := x.Shrink(context.Background(), s, nil, failure, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(runs)/time.Since(start).Seconds(), "runs/s")
}

// Goal: a cluster that does not come to rest is not made smaller to one that does not for another reason. Method: an
// API server that is stopped and a VPP that is down; either alone breaks the law, and the failure is the VPP's.
func TestShrinkKeepsCause(t *testing.T) {
	s := parse(t, `
name: two-causes
topology: {nodes: 2, podsPerNode: 3}
limits: {settle: 3s}
timeline:
  - {at: 29s, do: stop-api}
  - {at: 29s, do: delete-pods, node: node-1, count: 1}
  - {at: 30s, do: kill-vpp, node: node-1}
  - {at: 30s, do: replace-sandbox, node: node-1}
  - {at: 31s, do: settle}
`)
	laws := check.All()
	x := explore.Explorer{}
	failure, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: laws})
	if err != nil || failure.Failure == nil {
		t.Fatal(failure.Verdict, err)
	}
	c, err := x.Smallest(context.Background(), s, failure, laws)
	if err != nil || c.Failure.Cause != failure.Failure.Cause || !strings.Contains(c.Failure.What, "VPP is down") {
		t.Errorf("%v: %+v became %+v", err, failure.Failure, c.Failure)
	}
	for _, step := range c.Scenario.Timeline {
		if step.Action.Verb() == "stop-api" {
			t.Errorf("what is not the cause is still there:\n%s", c.Scenario.Marshal())
		}
	}
}

// Goal: settings of a system's own section are kept where they matter, and those beside it go back to their defaults.
// Method: a law against one setting of Calico's.
func TestShrinkSections(t *testing.T) {
	s := parse(t, "name: strict\ntopology: {nodes: 2, podsPerNode: 2}\n"+
		"config: {ipam: {system: calico, podSubnetOneNodePrefixLen: 28, calico: {strictAffinity: true}}}\n")
	c := shrunk(t, func() fact.Law {
		return watched(func() watcher {
			return func(f fact.Fact) string {
				if x, ok := f.What.(fact.Configured); ok && scenarios.SectionOf[scenarios.CalicoIPAM](x.Config.IPAM).StrictAffinity {
					return "affinity is strict"
				}
				return ""
			}
		})
	}, s)
	ipam := c.Scenario.Config.IPAM
	if !scenarios.SectionOf[scenarios.CalicoIPAM](ipam).StrictAffinity || ipam.System != scenarios.Calico || ipam.PodSubnetOneNodePrefixLen != 0 {
		t.Errorf("%s", c.Scenario.Marshal())
	}
}
