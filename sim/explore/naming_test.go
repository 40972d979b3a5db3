package explore_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/museum"
)

// How a fault's run is explained: beside the run without the fault, as with runs that were kept before a change; or by
// itself, as somebody's own fault is in the first run.
const (
	beside = "beside"
	alone  = "alone"
)

// explained runs an exhibit with its fault planted, by the first seed that breaks its law, and explains it.
func explained(t *testing.T, e museum.Exhibit, mode string) (*scenarios.Scenario, result.Result, uint64) {
	t.Helper()
	law, _ := check.ByName(e.Law)
	s, err := catalog.ByName(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	var r result.Result
	for seed := uint64(1); seed <= 10; seed++ {
		x, o := explore.Explorer{}, sim.Options{Seed: seed, Laws: []fact.Law{law}}
		if mode == beside {
			o.Plant = e.Plant()
		} else {
			x.Run = func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
				o.Plant = e.Plant()
				return sim.Run(ctx, s, o)
			}
		}
		if r, err = x.Explain(t.Context(), s, o, nil, 0); err != nil {
			t.Fatal(err)
		}
		if r.Failure != nil {
			return s, r, seed
		}
	}
	return s, r, 0
}

var rewrite = flag.Bool("rewrite", false, "write testdata/naming.txt anew")

// Goal: how many chains name the step that was planted, in a table that everybody can make again. Method: the exhibits of
// steps, explained beside the run without the fault and alone. A chain is judged by the lines before its last, the law's:
// exact, a line has the words of the step; good, one has those of its next consequence or of the input that it got wrong;
// weak, one names the program; unknown, a line says that this run does not show the step; wrong, none does. The table is a golden; its figures may not get worse unseen.
func TestNaming(t *testing.T) {
	var out strings.Builder
	out.WriteString("# Does a chain of causes name the faulty step? Made by: go test ./sim/explore -run TestNaming -args -rewrite\n" +
		"# exact: a line has the words of the step; good: those of its next consequence or of its wrong input; weak: a line names the program; unknown: a line says that the step is not known; wrong: none.\n" +
		"# The law's own line does not count. beside: explained with the run that lacks the fault; alone: without.\n")
	for _, mode := range []string{beside, alone} {
		counts := map[string]int{}
		for _, st := range steps {
			e, err := museum.ByName(st.exhibit)
			if err != nil {
				t.Fatal(err)
			}
			_, r, _ := explained(t, e, mode)
			if r.Failure == nil {
				t.Errorf("%s breaks nothing", e.Name)
				continue
			}
			grade, line := st.grade(r.Failure.Chain)
			counts[grade]++
			fmt.Fprintf(&out, "\n%s %s: %s\n  planted: %s\n  named:   %s\n", mode, e.Name, grade, e.Fault, line)
		}
		fmt.Fprintf(&out, "\n%s: %d exact, %d good, %d weak, %d unknown, %d wrong of %d\n", mode, counts["exact"], counts["good"], counts["weak"], counts["unknown"], counts["wrong"], len(steps))
	}
	const file = "testdata/naming.txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != out.String() {
		t.Errorf("%s is not what chains say now (%v): see the difference, then -args -rewrite", file, err)
	}
}

// grade judges a chain, and gives the line that decided.
func (st *step) grade(chain []result.Link) (grade, line string) {
	for _, g := range []struct{ grade, words string }{{"exact", st.exact}, {"good", st.good}, {"unknown", "^not known: "}, {"weak", regexp.QuoteMeta(st.who) + `\b`}} {
		for _, l := range chain {
			if l.Kind != "broken" && regexp.MustCompile(g.words).MatchString(l.Text) {
				return g.grade, fmt.Sprintf("event %d: %s", l.Event, l.Text)
			}
		}
	}
	return "wrong", "-"
}
