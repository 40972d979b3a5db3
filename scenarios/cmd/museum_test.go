package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Goal: an exhibit that is not in order makes the command fail and say which half it was. Method: a museum whose exhibits are
// answers from a table.
func TestMuseum(t *testing.T) {
	clean := result.Result{Seed: 1, Verdict: result.Pass, Events: 10}
	broken := result.Result{Seed: 1, Verdict: result.Fail, Failure: &result.Failure{Law: "one-owner", What: "twice", Event: 7, Tail: []string{"6 a", "7 b"}}}
	for _, tc := range []struct {
		name    string
		showing Showing
		code    int
		out     string
	}{
		{"caught", Showing{Clean: clean, Planted: broken, Caught: true}, cli.ExitHeld, "one-owner breaks at seed 1, event 7, 0s: twice\n                 7 b\n"},
		{"blind", Showing{Clean: clean, Planted: clean}, cli.ExitBroken, "MISSED  blind  a/b#1\n        without  every law holds, seed 1, 10 events\n        planted  one-owner holds on 3 seeds\n"},
		{"unclean", Showing{Clean: broken, Planted: broken, Caught: true}, cli.ExitBroken, "without  fail: one-owner: twice"},
	} {
		c := config(nil)
		c.Museum = Museum{
			Exhibits: func() []Exhibit { return []Exhibit{{Name: tc.name, Incidents: []string{"a/b#1"}, Law: "one-owner"}} },
			Show:     func(context.Context, string, int) (Showing, error) { return tc.showing, nil },
		}
		code, out, errOut := execute(t, context.Background(), c, "debug", "museum", "--seeds", "3", "--tail", "1")
		if code != tc.code || !strings.Contains(out, tc.out) || errOut != "" {
			t.Errorf("%s: code %d, %q, %q", tc.name, code, out, errOut)
		}
	}
	c := config(nil)
	if code, _, errOut := execute(t, context.Background(), c, "debug", "museum"); code != cli.ExitCannotRun || !strings.Contains(errOut, "no museum") {
		t.Errorf("without a museum: code %d, %q", code, errOut)
	}
	c.Museum = Museum{
		Exhibits: func() []Exhibit { return []Exhibit{{Name: "torn"}} },
		Show:     func(context.Context, string, int) (Showing, error) { return Showing{}, errors.New("no scenario") },
	}
	if code, _, errOut := execute(t, context.Background(), c, "debug", "museum"); code != cli.ExitUsage || !strings.Contains(errOut, "museum: torn: no scenario") {
		t.Errorf("a scenario that cannot be run: code %d, %q", code, errOut)
	}
}
