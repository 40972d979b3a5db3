package mutation

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Goal: a run that a fault changed and no law saw is varied, and a law that a variation breaks catches the fault,
// unless it breaks without the fault, too. Method: a small program in the planted one's place, which a fault changes
// with seed 13 alone, and which breaks laws in two variations of that, and in two units of variations of a catalogue's
// run.
func TestVariesWhatChanged(t *testing.T) {
	scratch := t.TempDir()
	program := filepath.Join(scratch, "planted")
	const script = `#!/bin/sh
digest=usual
scenarios=
case "$*" in
*"--from 9 --seeds 1 "*--around* | *"--from 9 --seeds 8 "*"node-joins --seed 3") [ -z "$` + mutantVariable + `" ] || scenarios='{"Scenario":"v","Seed":9,"Verdict":"fail","Failure":{"Law":"settles","What":"it goes on"}}' ;;
*"--from 1 --seeds 1 "*--around* | *"--from 1 --seeds 8 "*"node-joins --seed 3") scenarios='{"Scenario":"v","Seed":1,"Verdict":"fail","Failure":{"Law":"one-owner","What":"usual"}}' ;;
*"--from 13 --seeds 1 "*"--profile tiny" | *"--from 9 --seeds 8 "*"--profile tiny") [ -z "$` + mutantVariable + `" ] || digest=changed ;;
esac
echo "{\"Scenarios\":[$scenarios],\"Explored\":{\"Runs\":1,\"Digest\":\"$digest\"}}"
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	m := &Trial{Mutant: &Mutant{Number: 2}, Outcome: Survived}
	run := trial{program: program}
	u := unit{profile: "tiny", from: 9, seeds: 8}
	if err := run.changedIn(t.Context(), m, u, time.Minute); err != nil {
		t.Fatal(err)
	}
	if want := []origin{{Profile: "tiny", Seed: 13, Seeds: 8, Next: 1}}; !slices.Equal(m.Origins, want) {
		t.Fatalf("varied are %v, want %v", m.Origins, want)
	}
	m.Origins[0].Seeds = 1
	catalogue := &Trial{Mutant: m.Mutant, Outcome: Survived}
	catalogue.changedRun("node-joins", 3)
	for _, v := range []struct {
		trial  *Trial
		varied uint64
	}{{m, 9}, {catalogue, 2}} {
		m := v.trial
		m.exhausted = true
		for range 20 {
			if !m.varies() {
				t.Fatal("it does not vary")
			}
			if err := run.search(t.Context(), m, time.Minute); err != nil {
				t.Fatal(err)
			}
			if m.Outcome == Caught {
				break
			}
		}
		if m.By != "settles" || m.Varied != v.varied || m.What != "it goes on" {
			t.Errorf("%+v", m)
		}
	}
}
