package reports

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Goal: whoever is told where to look can do so with the command that shows the run again. Method: a failure of each such command.
func TestLook(t *testing.T) {
	for replay, want := range map[string]string{
		"vppdrill run ipv6-only --seed 4":           "at the events of node-1 up to 1,137: the replay with --events all --out DIR writes them to DIR/events.jsonl",
		"vppdrill explore --random --from 7":        "at the events of node-1 up to 1,137: explore with --out DIR keeps a capsule, whose replay prints them with --until 1137",
		"vppdrill debug replay out/settles.capsule": "at the events of node-1 up to 1,137: the replay with --until 1137 prints them",
		"vppdrill debug museum etcd-lost-ids":       "at the events of node-1 up to 1,137",
		"go test ./suite -run TestMine -seed 12345": "at the events of node-1 up to 1,137",
	} {
		if got := look(result.Result{Replay: replay, Failure: &result.Failure{Node: "node-1", Event: 1137}}); got != want {
			t.Errorf("%s: told to look %q, want %q", replay, got, want)
		}
	}
}

// Goal: a passing run is one line and one line of figures; a verbose report names the rest. Method: a run whose world cannot judge one law and
// has no occasion for another, both ways.
func TestQuiet(t *testing.T) {
	r := result.Result{Scenario: "calm", World: "netns", Seed: 1, Verdict: result.Pass, Laws: []result.LawResult{
		{Name: "blind", Status: result.NotJudgedStatus, Missing: []fact.Evidence{fact.Leases}}, {Name: "idle", Status: result.HeldStatus}}}
	for _, verbose := range []bool{false, true} {
		var out strings.Builder
		text := NewText(&out, []string{"calm"}, TextOptions{Verbose: verbose})
		text.Add(r)
		text.Whole()
		if err := text.Close(); err != nil {
			t.Fatal(err)
		}
		for part, always := range map[string]bool{"pass   calm": true, "1 run: 1 passed": true, "blind not judged": false, "held, 0 occasions: ": false, "not exercised: ": false} {
			if got := strings.Contains(out.String(), part); got != (always || verbose) {
				t.Errorf("verbose %t: %q is there: %t\n%s", verbose, part, got, out.String())
			}
		}
		if strings.Contains(out.String(), "1 law not judged here (-v names them)") == verbose || strings.Count(out.String(), "\n") != 2 && !verbose {
			t.Errorf("verbose %t:\n%s", verbose, out.String())
		}
	}
}

// Goal: a mistake that breaks many runs is told once in full and counted; a quiet report leaves out what passed. Method:
// three runs of two kinds and one that passed.
func TestKindsOfFailures(t *testing.T) {
	broken := func(name, law, what string) result.Result {
		return result.Result{Scenario: name, World: "sim", Seed: 1, Verdict: result.Fail, Replay: "vppdrill run " + name, Failure: &result.Failure{Law: law, What: what}}
	}
	for _, o := range []TextOptions{{}, {Quiet: true}, {Verbose: true}} {
		var out strings.Builder
		text := NewText(&out, nil, o)
		for _, r := range []result.Result{broken("one", "reachable", "10.1.1.1 is lost"), {Scenario: "calm", Verdict: result.Pass},
			broken("two", "reachable", "10.1.2.9 is lost"), broken("three", "one-owner", "two pods have it")} {
			text.Add(r)
		}
		if err := text.Close(); err != nil {
			t.Fatal(err)
		}
		for part, want := range map[string]bool{
			"law     reachable at 0s, event 0": true, "10.1.1.1 is lost": true, "reachable as in one seed 1\n": true, "replay  vppdrill run three": true,
			"3 runs did not pass, in 2 ways; the first of each is shown in full above:\n       2  reachable: 10.1.1.1 is lost\n          first in one seed 1\n": true,
			"4 runs: 1 passed, 3 failed": true, "pass   calm": !o.Quiet, "10.1.2.9 is lost": o.Verbose, "replay  vppdrill run two": o.Verbose,
		} {
			if strings.Contains(out.String(), part) != want {
				t.Errorf("%+v: %q is there: %t\n%s", o, part, !want, out.String())
			}
		}
	}
}
