package reports

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
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
		if got := look(scenarios.Result{Replay: replay, Failure: &scenarios.Failure{Node: "node-1", Event: 1137}}); got != want {
			t.Errorf("%s: told to look %q, want %q", replay, got, want)
		}
	}
}
