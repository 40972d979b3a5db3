package mutation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: what changed no run is neither caught nor escaped, and the report says how many of either kind there were, and
// what the goal is. Method: one of each outcome.
func TestDenominators(t *testing.T) {
	m := &Mutant{Kind: kinds[0].Name, File: "a.go", Line: 5}
	r := Report{Trials: []*Trial{{Mutant: m, Outcome: Caught, By: "settles"}, {Mutant: m, Outcome: Survived, Differing: 2}, {Mutant: m, Outcome: Survived},
		{Mutant: m, Outcome: Caught, By: limit}, {Mutant: m, Outcome: Crashed}}}
	r.count()
	row := r.total()
	if row.Planted != 5 || row.Caught != 2 || row.By[limit] != 1 || row.Survived != 1 || row.Unchanged != 1 || row.Crashed != 1 {
		t.Errorf("%+v", row)
	}
	if ofChanging, ofAll := r.Caught(); ofChanging != 50 || ofAll != 40 {
		t.Errorf("%v %% of the changing, %v %% of all", ofChanging, ofAll)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nsurvived\n", "\nchanged no run\n", "50 % of the 4 that changed a run are caught, where 90 % are the goal, and 40 % of all 5; 1 changed no run"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}

// Goal: what survives is told in words that can be filed, once, and neither what is caught nor what changes nothing is.
// Method: one of each, and the whole text.
func TestWriteSurvivors(t *testing.T) {
	m := &Mutant{Kind: "wrong-key", File: "ipam/a.go", Line: 5, Column: 2, Func: "Ledger.pick", Before: "a[x]\nb()", After: "a[y]\nb()"}
	r := Report{BudgetSeconds: 60, Trials: []*Trial{{Mutant: m, Outcome: Caught, By: "settles", Differing: 3}, {Mutant: m, Outcome: Survived}, {Mutant: m, Outcome: Survived, Differing: 2, Runs: 7}}}
	folder := t.TempDir()
	if err := r.WriteSurvivors(folder); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != "survivor-1.md" {
		t.Fatal(files, err)
	}
	got, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = "No law sees wrong-key in Ledger.pick of ipam/a.go: a[y]\n\n" +
		"With this fault 2 runs or units of random runs differ, 7 random runs come by it, and within 60 s of processor time no law tells of it.\n\n" +
		"ipam/a.go:5\n\n```diff\n- a[x]\n- b()\n+ a[y]\n+ b()\n```\n\n" +
		"Try it again:\n\n    go run ./reports/mutation/mutate --only \"ipam/a.go:5:2 wrong-key\" --budget 60s\n"
	if !strings.HasPrefix(string(got), want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
