package check

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: a DEL that is answered without the hook before it is seen, and no other is. Method: short histories of one pod.
func TestHooksRun(t *testing.T) {
	config := scenarios.Default().Config
	config.Agent.HookTime = time.Second
	web := ipam.Owner{ContainerID: "web"}
	newFact := func(kind scenarios.FactKind, text string) scenarios.Fact {
		return scenarios.Fact{Kind: kind, Node: "node-1", Owner: web, Pod: "default/web", Text: text}
	}
	begin := scenarios.Fact{Kind: scenarios.FactConfigured, Config: &config}
	answered, deleted := newFact(scenarios.FactAnswered, ""), newFact(scenarios.FactDeleted, "")
	before, after := newFact(scenarios.FactHooked, scenarios.HookedBefore), newFact(scenarios.FactHooked, scenarios.HookedAfter)
	for _, tc := range []watched{
		{"both hooks", hooksRun(), []scenarios.Fact{begin, after, answered, before, deleted}, ""},
		{"none before the removal", hooksRun(), []scenarios.Fact{begin, after, answered, deleted}, "the hook before its removal has not run"},
		{"forgotten by a restart", hooksRun(), []scenarios.Fact{begin, after, answered, newFact(scenarios.FactAgentDown, ""), newFact(scenarios.FactAgentUp, ""), deleted}, "has not run"},
		{"never attached", hooksRun(), []scenarios.Fact{begin, deleted}, ""},
		{"repeated", hooksRun(), []scenarios.Fact{begin, answered, before, deleted, deleted}, ""},
		{"gone with its machine", hooksRun(), []scenarios.Fact{begin, answered, newFact(scenarios.FactNodeGone, ""), deleted}, ""},
		{"no hooks", hooksRun(), []scenarios.Fact{answered, deleted}, ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}
