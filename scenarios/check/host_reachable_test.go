package check

import (
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: the law lets a host be out of reach after its VPP has ended, for so long and only while an agent runs, and not for an instant
// otherwise. Method: lives of one host as facts tell them, and the words of the violation, empty for none.
func TestHostReachable(t *testing.T) {
	const s = time.Second
	reach := func(at time.Duration, reached, lived, agent bool) fact.Fact {
		return fact.Fact{At: at, Node: "node-1", What: fact.HostReach{Reached: reached, VPPLived: lived, AgentUp: agent, Why: "dropped", Way: nil}}
	}
	other := func(at time.Duration) fact.Fact {
		return fact.Fact{At: at, Node: "node-2", What: fact.Disturbed{By: fact.VPPUp}}
	}
	for _, c := range []struct {
		name  string
		facts []fact.Fact
		want  string
	}{
		{"always reached", []fact.Fact{reach(s, true, true, true), other(time.Hour)}, ""},
		{"lost while VPP lives", []fact.Fact{reach(s, true, true, true), reach(2*s, false, true, true)}, "while its VPP lives: dropped"},
		{"lost with the agent, while VPP lives", []fact.Fact{reach(s, true, true, true), reach(2*s, false, true, false)}, "while its VPP lives"},
		{"VPP ends and comes", []fact.Fact{reach(s, false, false, true), other(21 * s), reach(21*s, true, true, true), other(40 * s)}, ""},
		{"VPP ends, and nobody gives the NIC back", []fact.Fact{reach(s, false, false, true), other(22 * s)}, "more than 20s under a running agent"},
		{"another state of it does not begin the time again", []fact.Fact{reach(s, false, false, true), reach(10*s, false, false, true), other(22 * s)}, "more than 20s"},
		{"VPP and agent end", []fact.Fact{reach(s, false, false, false), other(60 * s), reach(60*s, false, false, true), other(80 * s)}, ""},
		{"the next agent does nothing", []fact.Fact{reach(s, false, false, false), reach(60*s, false, false, true), other(81 * s)}, "more than 20s"},
		{"the machine ends", []fact.Fact{reach(s, false, false, true), {At: 2 * s, Node: "node-1", What: fact.NodeGone{Left: true, Rest: 0}}, other(60 * s)}, ""},
	} {
		w, got := hostReachable().Watch(), ""
		for i := range c.facts {
			if err := w.Observe(&c.facts[i]); err != nil && got == "" {
				got = err.Error()
			}
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if w.Checks() == 0 {
			t.Errorf("%s: nothing was judged", c.name)
		}
	}
}
