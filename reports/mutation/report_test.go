package mutation

import (
	"strings"
	"testing"
)

// Goal: what changed no run is neither caught nor escaped, and the report says how many of either kind there were, and what the goal is.
// Method: one of each outcome.
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
