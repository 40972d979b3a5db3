package ran_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/lab/suite/ran"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
)

// Goal: the repository's table can be read, comes back as it is, and names no scenario that is not there.
func TestFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("../../..", ran.File))
	if err != nil {
		t.Fatal(err)
	}
	table, err := ran.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if again := table.String(); again != string(text) {
		t.Errorf("it is written as\n%s", again)
	}
	all, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	entries := len(table)
	if table.Forget(all); len(table) != entries {
		t.Errorf("%d of its %d scenarios are not in the catalogue", entries-len(table), entries)
	}
}

// Goal: a scenario is open until its present text has passed or was refused; its comments do not count. Method: a table
// of three ends, and scenarios that are new, changed, and reworded.
func TestOpen(t *testing.T) {
	scenario := func(text string) *scenarios.Scenario {
		s, err := scenarios.Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	calm, loud, odd := scenario("# A goal.\nname: calm"), scenario("name: loud\ntopology: {nodes: 2}"), scenario("name: odd")
	passed := ran.Run{Outcome: ran.Passed, Commit: "30b7bb0", VPP: "25.10", Hash: ran.Hash(calm)}
	table := ran.Table{"calm": passed, "loud": passed, "odd": {Outcome: ran.Refused, Reason: "drain-node (why: it)", Hash: ran.Hash(odd)},
		"gone": {Outcome: ran.Failed, Commit: "30b7bb0", VPP: "25.10", Reason: "law settles", Hash: "12345678"}}
	text := table.String()
	table, err := ran.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if table.String() != text {
		t.Errorf("%s\nis read as\n%s", text, table)
	}
	catalogue := []*scenarios.Scenario{scenario("# Another goal.\nname: calm"), loud, scenario("name: new"), odd}
	want := []string{"loud (changed since)", "new (never ran)"}
	if have := table.Open(catalogue); !slices.Equal(have, want) {
		t.Errorf("open: %q, want %q", have, want)
	}
	table["odd"] = ran.Run{Outcome: ran.Unjudged, Hash: ran.Hash(odd)}
	if have := table.Open(catalogue); !slices.Equal(have, append(want, "odd (unjudged)")) {
		t.Errorf("open: %q", have)
	}
	if table.Forget(catalogue); len(table) != 3 {
		t.Errorf("after forgetting: %v", table)
	}
	for _, bad := range []string{"ended", "passed at 1", "  calm 1", "passed\n  calm", "passed\n  calm 1 2"} {
		if _, err := ran.Parse(bad); err == nil {
			t.Errorf("%q is read as a table", bad)
		}
	}
}

// Goal: what one machine lacks does not take away what another has run, as long as the scenario says the same.
func TestPut(t *testing.T) {
	passed, refused, other := ran.Run{Outcome: ran.Passed, Hash: "a"}, ran.Run{Outcome: ran.Refused, Hash: "a", Reason: "no taps"}, ran.Run{Outcome: ran.Refused, Hash: "b"}
	failed := ran.Run{Outcome: ran.Failed, Hash: "a"}
	for _, c := range []struct{ before, next, want ran.Run }{
		{ran.Run{}, refused, refused}, {passed, refused, passed}, {failed, refused, failed}, {passed, other, other}, {refused, passed, passed},
		{passed, failed, failed}, {refused, ran.Run{Outcome: ran.Refused, Hash: "a", Reason: "x"}, ran.Run{Outcome: ran.Refused, Hash: "a", Reason: "x"}},
	} {
		table := ran.Table{}
		if c.before.Outcome != "" {
			table["s"] = c.before
		}
		if table.Put("s", c.next); table["s"] != c.want {
			t.Errorf("%+v, then %+v: %+v", c.before, c.next, table["s"])
		}
	}
}
