package check_test

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: a CHECK or STATUS that contradicts what packets say is told with pod and reason, one that agrees is not. Method: each
// combination.
func TestCheckTells(t *testing.T) {
	law, _ := check.ByName("check-tells")
	for _, c := range []struct {
		fact fact.Fact
		says string
	}{
		{fact.Fact{Kind: fact.FactChecked, Pod: "default/web-0"}, ""},
		{fact.Fact{Kind: fact.FactChecked, Pod: "default/web-0", Number: 101, Text: "no route", Broken: "packets do not arrive"}, ""},
		{fact.Fact{Kind: fact.FactChecked, Pod: "default/web-0", Broken: "packets do not arrive"}, "CHECK of pod default/web-0 succeeded although packets do not arrive"},
		{fact.Fact{Kind: fact.FactChecked, Pod: "default/web-0", Number: 101, Text: "no route"}, "failed with code 101 (no route) although its wiring is whole"},
		{fact.Fact{Kind: fact.FactStatus}, ""},
		{fact.Fact{Kind: fact.FactStatus, Broken: "VPP is down"}, "STATUS succeeded although VPP is down"},
		{fact.Fact{Kind: fact.FactStatus, Number: 50, Text: "away"}, "STATUS failed with code 50 (away)"},
		{fact.Fact{Kind: fact.FactAnswered, Number: 1}, ""},
	} {
		err := law.Watch().Observe(&c.fact)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.fact, err, c.says)
		}
	}
}
