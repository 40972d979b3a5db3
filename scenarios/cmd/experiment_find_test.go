package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/experiment"
)

// Goal: while a search goes on its line says the level, what is known so far, and what may still come at most; an interrupted one prints what it
// knows. Method: a search of 1..64 at two points that is at its third level of the first one.
func TestSearchTells(t *testing.T) {
	file := experiment.Default()
	file.Seeds, file.Find = 20, experiment.DefaultFind()
	file.Find.Largest, file.Find.Within, file.Find.Where, file.Find.Seeds = "topology.nodes", "1..64", "podsWaited == 0", 20
	var limits, stopped bytes.Buffer
	tellLimits(&limits, &file, 2)
	if want := "vppdrill: the search tries at most 8 of 64 levels at each of 2 points with at most 20 seeds each, 320 runs in all\n"; limits.String() != want {
		t.Errorf("%s\nwant %s", limits.String(), want)
	}
	e := &experiment.Engine{}
	line := follow(e, &file, 2)
	if got := line(time.Second, 0); got != " done, the search begins" {
		t.Error(got)
	}
	point := &experiment.Point{Number: 1, Arm: "contiv"}
	e.Searching(experiment.Search{Point: point, Level: experiment.Tried{Level: "32", Held: 9, Runs: 10}, Most: 20, Holds: "1", Fails: "64", Left: 5})
	want := " done, point 1 of 2, topology.nodes=32 holds in 9 of 10, known to hold at 1 and not at 64, at most 5 more levels and 270 more runs, 2s a run"
	if got := line(64*time.Second, 32); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	tellInterrupted(&stopped, &experiment.Outcome{Points: []*experiment.Point{point, {Number: 2}}, Found: []experiment.Found{
		{Point: 1, Level: "40", Next: "41"},
		{Point: 2, Level: "1", Interrupted: true, Tried: []experiment.Tried{{Level: "1", Held: 20, Runs: 20}}},
	}})
	if got, want := stopped.String(), "vppdrill: contiv: holds up to 40, not at 41\nvppdrill: as it is: known to hold at 1\n  1: 20 of 20 runs\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}
