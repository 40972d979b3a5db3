package check_test

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: a CHECK or STATUS that contradicts what packets say is told with pod and reason, one that agrees is not.
// Method: each combination.
func TestCheckTells(t *testing.T) {
	law, _ := check.ByName("check-tells")
	for _, c := range []struct {
		what fact.What
		says string
	}{
		{fact.Checked{Pod: "default/web-0"}, ""},
		{fact.Checked{Pod: "default/web-0", Code: 101, Answer: "no route", Broken: "packets do not arrive"}, ""},
		{fact.Checked{Pod: "default/web-0", Broken: "packets do not arrive"}, "CHECK of pod default/web-0 succeeded although packets do not arrive"},
		{fact.Checked{Pod: "default/web-0", Code: 101, Answer: "no route"}, "failed with code 101 (no route) although its wiring is intact"},
		{fact.Status{}, ""},
		{fact.Status{Broken: "VPP is down"}, "STATUS succeeded although VPP is down"},
		{fact.Status{Code: 50, Answer: "away"}, "STATUS failed with code 50 (away)"},
		{fact.Refused{Code: 1}, ""},
	} {
		err := law.Watch().Observe(&fact.Fact{What: c.what})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%#v: %v, want %q", c.what, err, c.says)
		}
	}
}
