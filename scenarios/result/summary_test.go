package result_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// told makes facts of short lines.
type told struct {
	at    time.Duration
	facts []fact.Fact
}

func (t *told) fact(seconds float64, kind fact.FactKind, node, pod string, more func(*fact.Fact)) {
	t.at = time.Duration(seconds * float64(time.Second))
	f := fact.Fact{Kind: kind, At: t.at, Node: node}
	if pod != "" {
		f.Pod, f.PodUID, f.Owner = "default/"+pod, pod+"-uid", ipam.Owner{Network: "k8s", ContainerID: pod, IfName: "eth0"}
		f.Addr = netip.AddrFrom4([4]byte{10, 1, 0, pod[0]})
	}
	if more != nil {
		more(&f)
	}
	t.facts = append(t.facts, f)
}

func block(text string) []ipam.Block { return []ipam.Block{{Prefix: netip.MustParsePrefix(text)}} }

// storyOfTwoNodes has one of everything that a summary counts.
func storyOfTwoNodes() []fact.Fact {
	t := &told{}
	asked := func(f *fact.Fact) { f.Text = fact.AskedAdd }
	for i, node := range []string{"node-1", "node-2"} {
		prefix := []string{"10.1.0.0/28", "10.1.0.16/29"}[i]
		t.fact(1, fact.FactAgentUp, node, "", nil)
		t.fact(1, fact.FactAssigned, node, "", func(f *fact.Fact) { f.Blocks = block(prefix) })
		t.fact(1, fact.FactBlocks, node, "", func(f *fact.Fact) { f.Blocks = block(prefix) })
	}
	for _, pod := range []string{"a", "b"} {
		t.fact(2, fact.FactAsked, "node-1", pod, asked)
		t.fact(2, fact.FactLeased, "node-1", pod, nil)
		t.fact(2, fact.FactAnswered, "node-1", pod, nil)
	}
	told := func(node, pod string, at float64, text string) {
		t.fact(at, fact.FactPod, node, pod, func(f *fact.Fact) { f.Text = text })
	}
	told("", "c", 2.5, fact.PodCreated)
	told("node-1", "c", 2.5, fact.PodBound)
	told("", "u", 1, fact.PodCreated) // no node takes it
	told("", "n", 2, fact.PodCreated) // its node's agent says nothing
	told("node-2", "n", 2, fact.PodBound)
	told("node-2", "n", 9.5, fact.PodDeleted)
	told("", "a", 1.5, fact.PodCreated)
	full := func(f *fact.Fact) { f.Exhausted = true }
	t.fact(3, fact.FactRefused, "node-1", "c", full)
	t.fact(4, fact.FactRefused, "node-1", "c", full)
	t.fact(4, fact.FactRefused, "node-1", "d", full) // waits until the end
	t.fact(4, fact.FactRefused, "node-2", "e", full) // its node leaves
	t.fact(4, fact.FactRefused, "node-2", "f", nil)  // refused, not for want of an address
	t.fact(5, fact.FactReleased, "node-1", "a", nil)
	t.fact(5, fact.FactDeleted, "node-1", "a", nil)
	t.fact(5, fact.FactSandboxGone, "node-1", "a", nil)
	take := func(f *fact.Fact) { f.Addr = netip.AddrFrom4([4]byte{10, 1, 0, 'a'}) }
	t.fact(5.5, fact.FactAsked, "node-1", "c", asked)
	t.fact(5.5, fact.FactLeased, "node-1", "c", take)
	t.fact(6, fact.FactAnswered, "node-1", "c", take)
	t.fact(7, fact.FactLeased, "node-1", "g", nil) // nobody asked: a leak
	t.fact(8, fact.FactNodeGone, "node-2", "", func(f *fact.Fact) { f.Text = fact.NodeLeft })
	counts := func(f *fact.Fact) {
		f.Counts = &fact.Counts{VPPCalls: 5, LinuxCalls: 4, StoreOps: 3, JournalBytes: 20, APIWrites: 2, Faults: 1}
	}
	t.fact(8, fact.FactCounted, "", "", counts)
	t.fact(9, fact.FactCounted, "node-1", "", counts)
	return t.facts
}

func summaryOf(t *testing.T, facts []fact.Fact) result.Summary {
	t.Helper()
	return result.Run(t.Context(), &script{facts: facts}, parse(t, "name: x\nduration: 10s"), nil, result.Options{}).Summary
}

// Goal: a run's summary follows from its facts alone. Method: one story with one of everything, and the figures worked out by
// hand: until 11 s, when the world is quiet, node-1 has 16 addresses from 1 s on and node-2 8 until 8 s.
func TestSummary(t *testing.T) {
	want := result.Summary{
		Adds: 3, Dels: 1, VPPCalls: 10, LinuxCalls: 8, StoreOps: 6, JournalBytes: 40, APIWrites: 4, Faults: 2, PeakPods: 2,
		PodsCreated: 4, PodsWaited: 3, LongestWaitSeconds: 7, TotalWaitSeconds: 3 + 7 + 7, StartP50Seconds: 3.5, StartP99Seconds: 10,
		PodsNeverPlaced: 5, PodsUnscheduled: 1, PodsWaiting: 2, PodsRefused: 1, PodsNeverAnswered: 1,
		Exhausted: []result.RanOut{{Node: "node-1", AtSeconds: 3, PodsWaited: 2, WaitSeconds: 3 + 7}},
		Reused:    1, ShortestReuseSeconds: 0.5, ShortestReuseLeases: 1,
		LeakedAddresses: 1 + 8,
		// Leases: 2 from 2 s, 1 from 5 s, 2 from 5.5 s, 3 from 7 s.
		WastedAddresses: (16*10 + 8*7 - (2*3 + 1*0.5 + 2*1.5 + 3*4)) / 11.0,
	}
	if diff := cmp.Diff(want, summaryOf(t, storyOfTwoNodes()), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
}

// Goal: a lab tells what agents of different nodes did in the order in which it heard of it; the summary is the same.
// Method: the story with the facts of its nodes interleaved at random, each node's own in order.
func TestSummaryInAnyOrder(t *testing.T) {
	story := storyOfTwoNodes()
	want := summaryOf(t, story)
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 8))
		left := map[string][]fact.Fact{}
		for _, f := range story {
			left[f.Node] = append(left[f.Node], f)
		}
		var facts []fact.Fact
		for len(left) > 0 {
			names := []string{"", "node-1", "node-2"}
			name := names[rng.IntN(len(names))]
			if len(left[name]) == 0 {
				delete(left, name)
				continue
			}
			facts = append(facts, left[name][0])
			left[name] = left[name][1:]
		}
		if diff := cmp.Diff(want, summaryOf(t, facts), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}
