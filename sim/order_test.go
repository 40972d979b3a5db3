package sim_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/normalized"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

var nodeName = regexp.MustCompile(`\bnode-\d+\b`)

// reversed is a scenario in which the nodes that it begins with have each other's names, the first the last's: what
// happens to one that joined early happens to one that joined late, with another ID, another place in every list and
// news in another order.
func reversed(t *testing.T, s *scenarios.Scenario) (*scenarios.Scenario, func(name string) string) {
	other := func(name string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "node-"))
		if err != nil || n < 1 || n > s.Topology.Nodes {
			return name // of one that joins later
		}
		return fmt.Sprintf("node-%d", s.Topology.Nodes+1-n)
	}
	text := nodeName.ReplaceAllStringFunc(string(s.Marshal()), other)
	r, err := scenarios.Parse(s.Name+".yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r, other
}

// settledAs is the cluster that a scenario ends in, with nodes called so; pods are called by their place among those of
// their application on their node: which number each has is chance.
func settledAs(t *testing.T, s *scenarios.Scenario, called func(node string) string) []string {
	var lines []string
	pods := map[string]string{}
	r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: check.All(), AtEnd: func(end fact.Snapshot) {
		lines = normalized.Of(end)
		for _, n := range end.Nodes {
			sorted, places := slices.Clone(n.Pods), map[string]int{}
			slices.SortFunc(sorted, func(a, b fact.PodState) int { return cmp.Or(len(a.Pod)-len(b.Pod), strings.Compare(a.Pod, b.Pod)) })
			for _, p := range sorted {
				app := nodeName.ReplaceAllStringFunc(p.Pod[:strings.LastIndexByte(p.Pod, '-')], called)
				places[app]++
				pods[p.Pod] = fmt.Sprintf("%s-%d-of-%s", app, places[app], called(n.Name))
			}
		}
	}})
	if err != nil || r.Verdict != result.Pass {
		t.Errorf("%s: %v %s %v", s.Name, err, r.Error, r.Failure)
	}
	for i, line := range lines {
		lines[i] = named.ReplaceAllStringFunc(line, func(name string) string {
			if pod, is := pods[name]; is {
				return pod
			}
			return called(name)
		})
		lines[i] = chance.ReplaceAllString(lines[i], "$1$2$3")
	}
	slices.Sort(lines)
	return lines
}

// named is what may be a pod's name or a node's.
var named = regexp.MustCompile(`[a-z0-9-]+/[a-z0-9-]+|\bnode-\d+\b`)

// chance is which of a node's blocks an address is from, an address that is of no node and no pod, and whose a gateway
// is called that all nodes have.
var chance = regexp.MustCompile(`\([a-z0-9-]+('s pod gateway\))|('s pods) \(block \d+\)|\b\d+\.\d+\.\d+\.\d+(/\d+)`)

// Goal: where a cluster settles does not follow from the order of its nodes, and one restart more of all agents, of all
// VPPs or of the leading controller leaves it there. Method: scenarios of the catalogue, some of each system, run
// unchanged, with their nodes' names reversed, and with one step more; the ends are the same text, up to the names and
// without what chance decides.
func TestOrderAndRestart(t *testing.T) {
	names := []string{"node-leaves", "nodeipam-ranges", "calico-strict", "cilium-crd", "datastore-shrinks-in-turn", // one of each
		"node-joins", "nodes-join-and-leave-at-once", "pod-range-moves", "nodeipam-churn", "nodeipam-leader", "calico-churn", "calico-nodes-come-for-blocks",
		"cilium-pools", "cilium-cluster-pool", "cilium-eni-restarts", "datastore-churn", "datastore-ranges", "datastore-single-addresses"}
	if testing.Short() {
		names = names[:5]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s, err := catalog.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			same := func(node string) string { return node }
			s = withStep(t, s, "settle")
			want := settledAs(t, s, same)
			compare := func(how string, got []string) {
				here, there := normalized.Differences(want, got)
				if len(here) == 1 && len(there) == 1 && podsOnly(here[0]) == podsOnly(there[0]) && podsOnly(here[0]) != "" {
					return // as many, where the scheduler put them
				}
				if len(here)+len(there) > 0 {
					t.Errorf("as it is\n%s\n%s\n%s", strings.Join(here, "\n"), how, strings.Join(there, "\n"))
				}
			}
			r, other := reversed(t, s)
			compare("with its nodes reversed", settledAs(t, r, other))
			more := []string{"restart-agent, node: all", "restart-vpp, node: all"}
			if s.Config.IPAM.Traits().Leader {
				more = append(more, "lose-leader, pause: 30s")
			}
			for _, step := range more {
				compare("with one more "+step, settledAs(t, withStep(t, s, step), same))
			}
		})
	}
}

// podsOnly is how many pods a line of Differences says that only one end has; empty for another line.
func podsOnly(line string) string {
	n, _, _ := strings.Cut(line, " pods: ")
	if _, err := strconv.Atoi(n); err != nil {
		return ""
	}
	return n
}

// withStep is a scenario with one step behind all others, and time for all that cools down.
func withStep(t *testing.T, s *scenarios.Scenario, step string) *scenarios.Scenario {
	one, err := scenarios.Parse("step.yaml", []byte("name: step\nconfig: {ipam: {system: "+string(s.Config.IPAM.System)+"}}\ntimeline: [{when: settled, do: "+step+"}, {after: 20m, do: settle}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	more := *s
	more.Timeline = append(slices.Clone(s.Timeline), one.Timeline...)
	if err := more.Validate(); err != nil {
		t.Fatal(err)
	}
	return &more
}
