package check

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: what occasions allow is asked for without a word, and the same again with no occasion is a storm. Method: a
// node at rest that looks around each minute, one that attaches pods, and both that do so once more for nothing.
func TestWithinBudget(t *testing.T) {
	config := scenarios.Default().Config
	counted := func(at time.Duration, c fact.Counts) fact.Fact {
		return fact.Fact{At: at, Node: "node-1", What: fact.Counted{Counts: c}}
	}
	begin := []fact.Fact{{What: fact.Configured{Config: &config}}, {Node: "node-1", What: fact.AgentUp{}}}
	rest := func(minutes int, c fact.Counts) []fact.Fact {
		facts := begin[:len(begin):len(begin)]
		for i := range minutes {
			facts = append(facts, counted(10*time.Minute+time.Duration(i)*time.Minute, c))
		}
		return facts
	}
	pods := func(asked int, writes int64) []fact.Fact {
		facts := begin[:len(begin):len(begin)]
		for i := range asked {
			facts = append(facts, fact.Fact{At: 10 * time.Minute, Node: "node-1", What: fact.Asked{Owner: ipam.Owner{ContainerID: string(rune('a' + i))}, Command: fact.AskedAdd}})
		}
		return append(facts, counted(10*time.Minute+time.Second, fact.Counts{VPPCalls: writes, Writes: writes}))
	}
	for _, tc := range []watched{
		{"a look around each minute", withinBudget(), rest(10, fact.Counts{VPPCalls: 60}), ""},
		{"a look around each second", withinBudget(), rest(1, fact.Counts{VPPCalls: 60 * 60}), "3600 calls of VPP and Linux within 1m0s"},
		{"a cluster at rest that changes something", withinBudget(), rest(1, fact.Counts{VPPCalls: 200, Writes: 200}), "calls that change VPP or Linux"},
		{"a node that writes its record again and again", withinBudget(), rest(1, fact.Counts{StoreOps: 600, APIWrites: 600}), "requests to the store"},
		{"a journal without an end", withinBudget(), rest(1, fact.Counts{JournalBytes: 1 << 20}), "bytes of journals"},
		{"twenty pods", withinBudget(), pods(20, 20*15), ""},
		{"the wiring of twenty pods for one", withinBudget(), pods(1, 20*15), "300 calls that change VPP or Linux"},
	} {
		t.Run(tc.name, tc.judge)
	}
}
