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
	// Program is the planted program's SHA-256 in hexadecimal, with which alone the campaign can go on; Switches how many it has.
	Program  string `json:"program"`
	Switches int    `json:"switches"`

	places, reached []*Mutant
	// former are the rows of the report that was resumed, which knew places and reached.
	former []Row
}

// Row is what came of one kind of faults.
type Row struct {
	Kind string `json:"kind"`
	// Places is how many faults the product has room for, Reached those of them that make a difference in some run, Planted those
	// that were tried.
	Places   int `json:"places"`
	Reached  int `json:"reached"`
	Planted  int `json:"planted"`
	Caught   int `json:"caught"`
	Survived int `json:"survived"`
	// Silent are those of the survivors with which no run did anything else than without them.
	Silent  int `json:"silent"`
	Crashed int `json:"crashed"`
	Hung    int `json:"hung"`
	// By counts what caught them.
	By map[string]int `json:"by"`
}

// count fills Kinds and CPUSeconds.
func (r *Report) count() {
	rows := make([]Row, len(kinds))
	of := map[string]*Row{}
	for i, k := range kinds {
		rows[i] = Row{Kind: k.Name, By: map[string]int{}}
		of[k.Name] = &rows[i]
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
			row.Survived++
			if t.Differing == 0 {
				row.Silent++
			}
		case Crashed:
			row.Crashed++
		case Hung:
			row.Hung++
		}
	}
	r.Kinds = rows
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
		sum.Silent += k.Silent
		sum.Crashed += k.Crashed
		sum.Hung += k.Hung
		for law, n := range k.By { // in any order: it is a sum
			sum.By[law] += n
		}
	}
	return sum
}

// Caught is the part of the planted faults that laws caught, in percent.
func (r *Report) Caught() float64 {
	sum := r.total()
	return 100 * float64(sum.Caught) / float64(max(1, sum.Planted))
}

// WriteText writes the table by kind, what caught how many, and every fault that was not caught.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kind\tplaces\treached\tplanted\tcaught\tsurvived\tsilent\tcrashed\thung\t")
	for _, k := range append(slices.Clone(r.Kinds), r.total()) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", k.Kind, k.Places, k.Reached, k.Planted, k.Caught, k.Survived, k.Silent, k.Crashed, k.Hung)
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
	for _, o := range []Outcome{Survived, Hung, Crashed} {
		first := true
		for _, t := range r.Trials {
			if t.Outcome != o {
				continue
			}
			if first {
				fmt.Fprintf(w, "\n%s\n", o)
				first = false
			}
			t.writeText(w)
		}
	}
	sum := r.total()
	if told := sum.Planted - sum.Silent; told < sum.Planted {
		fmt.Fprintf(w, "\nof those with which some run did anything else than without them, %.0f %% of %d are caught\n", 100*float64(sum.Caught)/float64(max(1, told)), told)
	}
	_, err := fmt.Fprintf(w, "\n%.0f %% of %d caught within %.0f s of processor time each; seed %d, %.0f s together\n",
		r.Caught(), len(r.Trials), r.BudgetSeconds, r.Seed, r.CPUSeconds)
	return err
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
	fmt.Fprintf(w, "\n    - %s\n    + %s\n", strings.ReplaceAll(t.Before, "\n", "\n    - "), strings.ReplaceAll(t.After, "\n", "\n    + "))
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
