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
		text := NewText(&out, []string{"calm"}, verbose)
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
