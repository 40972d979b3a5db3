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
type told struct{ facts []fact.Fact }

func (t *told) fact(seconds float64, node string, what fact.What) {
	t.facts = append(t.facts, fact.Fact{At: time.Duration(seconds * float64(time.Second)), Node: node, What: what})
}

func (t *told) asked(seconds float64, node, pod string) {
	t.fact(seconds, node, fact.Asked{Command: fact.AskedAdd, Owner: owner(pod), Pod: "default/" + pod, PodUID: pod + "-uid"})
}

func (t *told) leased(seconds float64, node, pod string, addr netip.Addr) {
	t.fact(seconds, node, fact.Leased{Owner: owner(pod), Addr: addr})
}

func (t *told) answered(seconds float64, node, pod string, addr netip.Addr) {
	t.fact(seconds, node, fact.Answered{Owner: owner(pod), Addr: addr, Pod: "default/" + pod, PodUID: pod + "-uid"})
}

func (t *told) refused(seconds float64, node, pod string, exhausted bool) {
	t.fact(seconds, node, fact.Refused{Owner: owner(pod), Pod: "default/" + pod, PodUID: pod + "-uid", Exhausted: exhausted})
}

func (t *told) pod(seconds float64, node, pod, change string) {
	t.fact(seconds, node, fact.PodChanged{Pod: "default/" + pod, PodUID: pod + "-uid", Change: change})
}

func owner(container string) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: container, IfName: "eth0"}
}

// addr is the address of a pod with a name of one letter.
func addr(pod string) netip.Addr { return netip.AddrFrom4([4]byte{10, 1, 0, pod[0]}) }

func block(text string) []ipam.Block { return []ipam.Block{{Prefix: netip.MustParsePrefix(text)}} }

// storyOfTwoNodes has one of everything that a summary counts.
func storyOfTwoNodes() []fact.Fact {
	t := &told{}
	for i, node := range []string{"node-1", "node-2"} {
		blocks := block([]string{"10.1.0.0/28", "10.1.0.16/29"}[i])
		t.fact(1, node, fact.AgentUp{})
		t.fact(1, node, fact.Assigned{Blocks: blocks})
		t.fact(1, node, fact.NodeBlocks{Blocks: blocks})
	}
	for _, pod := range []string{"a", "b"} {
		t.asked(2, "node-1", pod)
		t.leased(2, "node-1", pod, addr(pod))
		t.answered(2, "node-1", pod, addr(pod))
	}
	t.pod(2.5, "", "c", fact.PodCreated)
	t.pod(2.5, "node-1", "c", fact.PodBound)
	t.pod(1, "", "u", fact.PodCreated) // no node takes it
	t.pod(2, "", "n", fact.PodCreated) // its node's agent says nothing
	t.pod(2, "node-2", "n", fact.PodBound)
	t.pod(9.5, "node-2", "n", fact.PodDeleted)
	t.pod(1.5, "", "a", fact.PodCreated)
	t.refused(3, "node-1", "c", true)
	t.refused(4, "node-1", "c", true)
	t.refused(4, "node-1", "d", true)  // waits until the end
	t.refused(4, "node-2", "e", true)  // its node leaves
	t.refused(4, "node-2", "f", false) // refused, not for want of an address
	t.fact(5, "node-1", fact.Released{Owner: owner("a"), Addr: addr("a")})
	t.fact(5, "node-1", fact.Deleted{Owner: owner("a"), Pod: "default/a"})
	t.fact(5, "node-1", fact.SandboxGone{Owner: owner("a"), Pod: "default/a"})
	t.asked(5.5, "node-1", "c")
	t.leased(5.5, "node-1", "c", addr("a"))
	t.answered(6, "node-1", "c", addr("a"))
	t.leased(7, "node-1", "g", addr("g")) // nobody asked: a leak
	t.fact(8, "node-2", fact.NodeGone{Left: true})
	counts := fact.Counted{Counts: fact.Counts{VPPCalls: 5, LinuxCalls: 4, StoreOps: 3, JournalBytes: 20, APIWrites: 2, Faults: 1}}
	t.fact(8, "", counts)
	t.fact(9, "node-1", counts)
	return t.facts
}

func summaryOf(t *testing.T, facts []fact.Fact) result.Summary {
	t.Helper()
	return result.Run(t.Context(), &script{facts: facts}, parse(t, "name: x\nduration: 10s"), nil, result.Options{}).Summary
}

// Goal: a run's summary follows from its facts alone. Method: one story with one of everything, and the figures worked
// out by hand: until 11 s, when the world is quiet, node-1 has 16 addresses from 1 s on and node-2 8 until 8 s.
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
