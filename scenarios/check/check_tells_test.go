package check_test

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
)

// Goal: a CHECK or STATUS that contradicts what packets say is told with pod and reason, one that agrees is not. Method: each
// combination.
func TestCheckTells(t *testing.T) {
	law, _ := check.ByName("check-tells")
	for _, c := range []struct {
		fact scenarios.Fact
		says string
	}{
		{scenarios.Fact{Kind: scenarios.FactChecked, Pod: "default/web-0"}, ""},
		{scenarios.Fact{Kind: scenarios.FactChecked, Pod: "default/web-0", Number: 101, Text: "no route", Broken: "packets do not arrive"}, ""},
		{scenarios.Fact{Kind: scenarios.FactChecked, Pod: "default/web-0", Broken: "packets do not arrive"}, "CHECK of pod default/web-0 succeeded although packets do not arrive"},
		{scenarios.Fact{Kind: scenarios.FactChecked, Pod: "default/web-0", Number: 101, Text: "no route"}, "failed with code 101 (no route) although its wiring is whole"},
		{scenarios.Fact{Kind: scenarios.FactStatus}, ""},
		{scenarios.Fact{Kind: scenarios.FactStatus, Broken: "VPP is down"}, "STATUS succeeded although VPP is down"},
		{scenarios.Fact{Kind: scenarios.FactStatus, Number: 50, Text: "away"}, "STATUS failed with code 50 (away)"},
		{scenarios.Fact{Kind: scenarios.FactAnswered, Number: 1}, ""},
	} {
		err := law.Watch().Observe(&c.fact)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.fact, err, c.says)
		}
	}
}
