package mutation

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// Report is what came of a campaign. Its JSON is for programs.
type Report struct {
	Seed          uint64   `json:"seed"`
	BudgetSeconds float64  `json:"budgetSeconds"`
	CPUSeconds    float64  `json:"cpuSeconds"`
	Kinds         []Row    `json:"kinds"`
	Trials        []*Trial `json:"trials"`
	// Program is the planted program's SHA-256 in hexadecimal, with which alone the campaign can go on; Switches how many
	// it has.
	Program  string `json:"program"`
	Switches int    `json:"switches"`

	places, reached []*Mutant
	// former are the rows of the report that was resumed, which knew places and reached.
	former []Row
}

// Row is what came of one kind of faults.
type Row struct {
	Kind string `json:"kind"`
	// Places is how many faults the product has room for, Reached those of them that make a difference in some run,
	// Planted those that were tried.
	Places  int `json:"places"`
	Reached int `json:"reached"`
	Planted int `json:"planted"`
	Caught  int `json:"caught"`
	// Survived are those that changed runs and that nothing told of; with the Unchanged no run did anything else than
	// without them, so that there was nothing to tell of.
	Survived  int `json:"survived"`
	Unchanged int `json:"unchanged"`
	Crashed   int `json:"crashed"`
	// By counts what caught them.
	By map[string]int `json:"by"`
}

// count fills Kinds and CPUSeconds.
func (r *Report) count() {
	rows := make([]Row, len(kinds)+1)
	of := map[string]*Row{}
	for i := range rows {
		name := listedKind
		if i < len(kinds) {
			name = kinds[i].Name
		}
		rows[i] = Row{Kind: name, By: map[string]int{}}
		of[name] = &rows[i]
	}
	for _, f := range r.former {
		if row := of[f.Kind]; row != nil {
			row.Places, row.Reached = f.Places, f.Reached
		}
	}
	for _, m := range r.places {
		of[m.Kind].Places++
	}
	for _, m := range r.reached {
		of[m.Kind].Reached++
	}
	for _, t := range r.Trials {
		row := of[t.Kind]
		row.Planted++
		r.CPUSeconds += t.CPUSeconds
		switch t.Outcome {
		case Caught:
			row.Caught++
			row.By[t.By]++
		case Survived:
			if t.Differing == 0 {
				row.Unchanged++
			} else {
				row.Survived++
			}
		case Crashed:
			row.Crashed++
		}
	}
	r.Kinds = slices.DeleteFunc(rows, func(row Row) bool { return row.Places+row.Planted == 0 })
}

// total adds all kinds up.
func (r *Report) total() Row {
	sum := Row{Kind: "all", By: map[string]int{}}
	for _, k := range r.Kinds {
		sum.Places += k.Places
		sum.Reached += k.Reached
		sum.Planted += k.Planted
		sum.Caught += k.Caught
		sum.Survived += k.Survived
		sum.Unchanged += k.Unchanged
		sum.Crashed += k.Crashed
		for law, n := range k.By { // in any order: it is a sum
			sum.By[law] += n
		}
	}
	return sum
}

// Goal is how many of 100 faults that change runs laws are to catch. Of all that are planted no goal holds: how many
// change no run says what the catalogue and the random scenarios leave out, and what of the code nothing hangs on.
const Goal = 90

// Caught is the part of the planted faults that laws caught, in percent: of those that changed some run, and of all.
func (r *Report) Caught() (ofChanging, ofAll float64) {
	sum := r.total()
	part := func(of int) float64 { return 100 * float64(sum.Caught) / float64(max(1, of)) }
	return part(sum.Planted - sum.Unchanged), part(sum.Planted)
}

// WriteText writes the table by kind, what caught how many, and every fault that was not caught.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kind\tplaces\treached\tplanted\tcaught\tsurvived\tcrashed\tunchanged\t")
	for _, k := range append(slices.Clone(r.Kinds), r.total()) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", k.Kind, k.Places, k.Reached, k.Planted, k.Caught, k.Survived, k.Crashed, k.Unchanged)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	by := r.total().By
	laws := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
	fmt.Fprintln(w, "\ncaught by")
	for _, law := range laws {
		fmt.Fprintf(w, "  %4d  %s\n", by[law], law)
	}
	if err := r.writeListed(w); err != nil {
		return err
	}
	for _, o := range []Outcome{Survived, Crashed, unchanged} {
		first := true
		for _, t := range r.Trials {
			if t.told() != o {
				continue
			}
			if first {
				fmt.Fprintf(w, "\n%s\n", o)
				first = false
			}
			t.writeText(w)
		}
	}
	ofChanging, ofAll := r.Caught()
	sum := r.total()
	_, err := fmt.Fprintf(w, "\n%.0f %% of the %d that changed a run are caught, where %d %% are the goal, and %.0f %% of all %d; %d changed no run, and are neither caught nor escaped\n"+
		"within %.0f s of processor time each; seed %d, %.0f s together\n",
		ofChanging, sum.Planted-sum.Unchanged, Goal, ofAll, sum.Planted, sum.Unchanged, r.BudgetSeconds, r.Seed, r.CPUSeconds)
	return err
}

// writeListed writes a line for each listed fault, in the order of their names.
func (r *Report) writeListed(w io.Writer) error {
	var lines []string
	for _, t := range r.Trials {
		if t.Name != "" {
			lines = append(lines, t.listed())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	fmt.Fprintln(w, "\nlisted")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintf(t, "  %s\n", line)
	}
	return t.Flush()
}

// unchanged is what a report calls a fault that survived because no run did anything else with it.
const unchanged Outcome = "changed no run"

// told is what a report calls the trial's outcome.
func (t *Trial) told() Outcome {
	if t.Outcome == Survived && t.Differing == 0 {
		return unchanged
	}
	return t.Outcome
}

// writeText writes one fault as a difference.
func (t *Trial) writeText(w io.Writer) {
	fmt.Fprintf(w, "  %s", t.Place())
	if t.What != "" {
		fmt.Fprintf(w, ": %s", t.What)
	}
	if t.Outcome == Survived {
		fmt.Fprintf(w, ": %d random runs come by it; with it, %d runs or units of them differ", t.Runs, t.Differing)
	}
	fmt.Fprintf(w, "\n%s", t.difference("    "))
}

// difference is the fault as lines that go and lines that come, each behind an indent.
func (m *Mutant) difference(indent string) string {
	all := func(sign, text string) string {
		sign = indent + sign
		return sign + strings.ReplaceAll(text, "\n", "\n"+sign) + "\n"
	}
	return all("- ", m.Before) + all("+ ", m.After)
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Read reads what WriteJSON wrote.
func Read(name string) (*Report, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return r, nil
}
