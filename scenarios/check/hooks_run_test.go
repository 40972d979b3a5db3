package check

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: an ADD or DEL that is answered without its hook is seen, and no other is. Method: short histories of one pod.
func TestHooksRun(t *testing.T) {
	config := scenarios.Default().Config
	config.Agent.HookTime = time.Second
	web := ipam.Owner{ContainerID: "web"}
	begin := fact.Fact{What: fact.Configured{Config: &config}}
	tell := func(w fact.What) fact.Fact { return fact.Fact{Node: "node-1", What: w} }
	answered := tell(fact.Answered{Owner: web, Pod: "default/web"})
	deleted := tell(fact.Deleted{Owner: web, Pod: "default/web"})
	before := tell(fact.Hooked{Pod: "default/web", Phase: fact.HookedBefore})
	after := tell(fact.Hooked{Pod: "default/web", Phase: fact.HookedAfter})
	for _, tc := range []watched{
		{"both hooks", hooksRun(), []fact.Fact{begin, after, answered, before, deleted}, ""},
		{"none before the removal", hooksRun(), []fact.Fact{begin, after, answered, deleted}, "its pre-removal hook has not run"},
		{"none after the addition", hooksRun(), []fact.Fact{begin, answered}, "the hook after its addition has not run"},
		{"one before a removal alone", hooksRun(), []fact.Fact{begin, before, answered}, "after its addition has not run"},
		{"that of an older sandbox", hooksRun(), []fact.Fact{begin, after, answered, before, tell(fact.Answered{Owner: ipam.Owner{ContainerID: "new"}, Pod: "default/web"})}, "after its addition has not run"},
		{"answered again", hooksRun(), []fact.Fact{begin, after, answered, answered, before, deleted}, ""},
		{"forgotten by a restart", hooksRun(), []fact.Fact{begin, after, answered, tell(fact.AgentDown{}), tell(fact.AgentUp{}), deleted}, "has not run"},
		{"never attached", hooksRun(), []fact.Fact{begin, deleted}, ""},
		{"repeated", hooksRun(), []fact.Fact{begin, after, answered, before, deleted, deleted}, ""},
		{"gone with its machine", hooksRun(), []fact.Fact{begin, after, answered, tell(fact.NodeGone{}), deleted}, ""},
		{"no hooks", hooksRun(), []fact.Fact{answered, deleted}, ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}
