package suite_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/suite"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// Goal: each matcher matches what it should and nothing else, and a person who reads its message knows what is wrong.
// Method: golden verdicts over a hand-written cluster of two nodes with two pods each, whole and with faults, over
// results and over a scripted World. "not" turns an expectation round.
func TestMatchers(t *testing.T) {
	var c *clustertest.Cluster
	var w *stage
	datadriven.RunTest(t, "testdata/matchers.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "cluster":
			c = clustertest.New(clustertest.Config{Nodes: 2, PodsPerNode: 2})
			for _, arg := range d.CmdArgs {
				damage(t, c, arg.Key)
			}
			for _, n := range c.Nodes {
				n.VPP.Freeze()
			}
			return ""
		case "world":
			w = &stage{name: "stage", pending: errors.New("node-2: 3 calls to do")}
			w.quietAt = duration(t, d, "quiet")
			return ""
		case "reach-each-other":
			return expect(d, c.Snapshot(), suite.ReachEachOther())
		case "reach":
			var from, dst string
			d.ScanArgs(t, "from", &from)
			d.ScanArgs(t, "dst", &dst)
			return expect(d, pointOf(c, from), suite.Reach(netip.MustParseAddr(dst)).In(c.Snapshot()))
		case "hold-laws":
			return expect(d, c.Snapshot(), suite.HoldLaws(lawsOf(t, d)...))
		case "run-holds-laws":
			return expect(d, resultOf(t, d), suite.HoldLaws(lawsOf(t, d)...))
		case "be-quiet":
			return expect(d, w, suite.BeQuiet(duration(t, d, "within")))
		}
		d.Fatalf(t, "unknown command")
		return ""
	})
}

// expect is "match", or what the fail handler of a test was told.
func expect(d *datadriven.TestData, actual any, matcher types.GomegaMatcher) string {
	message := "match"
	g := gomega.NewGomega(func(m string, _ ...int) { message = m })
	if d.HasArg("not") {
		g.Expect(actual).NotTo(matcher)
	} else {
		g.Expect(actual).To(matcher)
	}
	return message
}

func duration(t *testing.T, d *datadriven.TestData, key string) time.Duration {
	var text string
	d.ScanArgs(t, key, &text)
	value, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return value
}

// damage does one thing to a cluster.
func damage(t *testing.T, c *clustertest.Cluster, what string) {
	a, b := c.Nodes[0], c.Nodes[1]
	switch what {
	case "busy":
		c.Settled = false
	case "vpp-down":
		b.VPPUp = false
	case "machine-down":
		b.MachineUp = false
	case "no-bvi-neighbor":
		a.VPP.Neighs = a.VPP.Neighs[1:]
	case "pod-route-gone":
		b.VPP.API = b.VPP.API[:len(b.VPP.API)-1]
	case "host-route-gone":
		a.Linux.Spaces[""].Routes = nil
	case "pod-unanswered":
		b.Pods[1].Addr = netip.Addr{}
	case "pods-unanswered":
		for _, n := range c.Nodes {
			for p := range n.Pods {
				n.Pods[p].Addr = netip.Addr{}
			}
		}
		a.Pods[0].Addr = netip.MustParseAddr("10.0.1.2")
	case "same-address": // the second node's last pod says and has the first one's address
		b.Pods[1].Addr = a.Pods[0].Addr
	case "wrong-pod": // both ends of the route to the last pod lead to its neighbor, which has the address as well
		pods := b.Linux.Spaces[b.Pods[0].Netns]
		pods.Links[0].Addrs = append(pods.Links[0].Addrs, netip.PrefixFrom(b.Pods[1].Addr, 32))
		last := &b.VPP.API[len(b.VPP.API)-1]
		last.Via, last.Index = b.Pods[0].Addr, last.Index-1
	default:
		t.Fatalf("unknown damage %q", what)
	}
}

// pointOf reads "node-1/0" (a pod) and "node-1" (the host).
func pointOf(c *clustertest.Cluster, text string) any {
	node, pod, ok := strings.Cut(text, "/")
	switch {
	case node == "snapshot":
		return c.Snapshot()
	case !ok:
		return walk.FromHost(node)
	}
	n, _ := c.Snapshot().Node(node)
	return walk.FromPod(node, n.Pods[pod[0]-'0'].Netns)
}

// lawsOf are the laws named by the input, one a line.
func lawsOf(t *testing.T, d *datadriven.TestData) (laws []fact.Law) {
	for name := range strings.FieldsSeq(d.Input) {
		law, ok := check.ByName(name)
		if name == "nodes-stay" {
			law, ok = nodesStay(), true
		}
		if !ok {
			d.Fatalf(t, "unknown law %q", name)
		}
		laws = append(laws, law)
	}
	return laws
}

// resultOf runs a file of testdata/rehearsals.
func resultOf(t *testing.T, d *datadriven.TestData) any {
	var file string
	d.ScanArgs(t, "file", &file)
	s, err := scenarios.Load("testdata/rehearsals/" + file)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	w, err := newStage(t.Context(), s, 1)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	r := result.Run(t.Context(), w, s, []fact.Law{nodesStay()}, result.Options{Seed: 1})
	if d.HasArg("value") {
		return r
	}
	return &r
}

// Goal: large clusters, for which the law "reachable" is asked first, get the verdicts and messages that walking every
// pair gives. Method: both ways over each damage, alone.
func TestReachEachOtherAsksLaw(t *testing.T) {
	for _, what := range []string{"", "busy", "vpp-down", "machine-down", "no-bvi-neighbor", "pod-route-gone", "host-route-gone",
		"pod-unanswered", "same-address", "wrong-pod"} {
		c := clustertest.New(clustertest.Config{Nodes: 2, PodsPerNode: 2})
		if what != "" {
			damage(t, c, what)
		}
		for _, n := range c.Nodes {
			n.VPP.Freeze()
		}
		s := c.Snapshot()
		walked, asked := suite.ReachEachOther(), suite.ReachEachOtherWalking(0)
		a, errA := walked.Match(s)
		b, errB := asked.Match(s)
		if a != b || errA != nil || errB != nil || walked.FailureMessage(s) != asked.FailureMessage(s) {
			t.Errorf("%q: %v, %v walked; %v, %v asked", what, a, errA, b, errB)
		}
	}
}

// Goal: matchers serve plain tests, and refuse what they cannot judge. Method: NewWithT, and values of wrong types.
func TestWithT(t *testing.T) {
	g := gomega.NewWithT(t)
	s := clustertest.New(clustertest.Config{Nodes: 2, PodsPerNode: 2}).Snapshot()
	g.Expect(s).To(suite.ReachEachOther())
	g.Expect(&s).To(suite.HoldLaws())
	g.Expect(&stage{name: "stage"}).To(suite.BeQuiet(time.Hour))
	g.Expect(walk.FromPod("node-1", s.Nodes[0].Pods[0].Netns)).To(suite.Reach(s.Nodes[1].Pods[0].Addr).In(s))
	for _, test := range []struct {
		matcher types.GomegaMatcher
		actual  any
		want    string
	}{
		{suite.ReachEachOther(), 5, "ReachEachOther wants a fact.Snapshot, not int"},
		{suite.ReachEachOther(), (*fact.Snapshot)(nil), "ReachEachOther wants a fact.Snapshot, not *fact.Snapshot"},
		{suite.HoldLaws(), "x", "HoldLaws wants a fact.Snapshot, not string; nor a result.Result"},
		{suite.HoldLaws(), (*result.Result)(nil), "HoldLaws got no result"},
		{suite.HoldLaws(), result.Result{Scenario: "x", Seed: 3, Verdict: result.Pass}, "no law judged the run of x with seed 3"},
		{suite.BeQuiet(time.Second), nil, "BeQuiet wants a result.World, not <nil>"},
		{suite.BeQuiet(-time.Second), &stage{}, "BeQuiet within -1s: time does not go back"},
		{suite.Reach(netip.Addr{}).In(s), walk.FromHost("node-1"), "Reach wants a valid address"},
		{suite.Reach(netip.MustParseAddr("10.0.1.2")).In(s), s, "Reach wants a walk.Point, not fact.Snapshot"},
	} {
		if ok, err := test.matcher.Match(test.actual); ok || err == nil || err.Error() != test.want {
			t.Errorf("%v, %v, want error %q", ok, err, test.want)
		}
	}
}

// Goal: a World that is not quiet lets no poller wait by the wall clock. Method: Eventually with an hour to go gives up
// after the first look.
func TestEventuallyGivesUp(t *testing.T) {
	message := ""
	w := &stage{name: "stage", quietAt: time.Hour, pending: errors.New("work to do")}
	gomega.NewGomega(func(m string, _ ...int) { message = m }).Eventually(w, "1h").Should(suite.BeQuiet(time.Second))
	if w.now != time.Second || !strings.Contains(message, "work to do") {
		t.Errorf("gave up at %s: %s", w.now, message)
	}
}

// Goal: a law that breaks while a World settles is an error, whatever was expected of the World.
func TestBeQuietBreaksLaw(t *testing.T) {
	w := &stage{name: "stage", quietAt: time.Hour, pending: &fact.Violation{Law: "nodes-stay", What: "node-2 left"}}
	if ok, err := suite.BeQuiet(time.Second).Match(w); ok || !errors.As(err, new(*fact.Violation)) {
		t.Errorf("%v, %v", ok, err)
	}
}
