package check

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: a DEL that is answered without the hook before it is seen, and no other is. Method: short histories of one pod.
func TestHooksRun(t *testing.T) {
	config := scenarios.Default().Config
	config.Agent.HookTime = time.Second
	web := ipam.Owner{ContainerID: "web"}
	newFact := func(kind fact.FactKind, text string) fact.Fact {
		return fact.Fact{Kind: kind, Node: "node-1", Owner: web, Pod: "default/web", Text: text}
	}
	begin := fact.Fact{Kind: fact.FactConfigured, Config: &config}
	answered, deleted := newFact(fact.FactAnswered, ""), newFact(fact.FactDeleted, "")
	before, after := newFact(fact.FactHooked, fact.HookedBefore), newFact(fact.FactHooked, fact.HookedAfter)
	for _, tc := range []watched{
		{"both hooks", hooksRun(), []fact.Fact{begin, after, answered, before, deleted}, ""},
		{"none before the removal", hooksRun(), []fact.Fact{begin, after, answered, deleted}, "the hook before its removal has not run"},
		{"forgotten by a restart", hooksRun(), []fact.Fact{begin, after, answered, newFact(fact.FactAgentDown, ""), newFact(fact.FactAgentUp, ""), deleted}, "has not run"},
		{"never attached", hooksRun(), []fact.Fact{begin, deleted}, ""},
		{"repeated", hooksRun(), []fact.Fact{begin, answered, before, deleted, deleted}, ""},
		{"gone with its machine", hooksRun(), []fact.Fact{begin, answered, newFact(fact.FactNodeGone, ""), deleted}, ""},
		{"no hooks", hooksRun(), []fact.Fact{answered, deleted}, ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}
