package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// shrunkMost is how many laws' failures one command shrinks: the first of each.
const shrunkMost = 3

// smallest is what is left of one failure after shrinking.
type smallest struct {
	law     string
	capsule []byte
	// member is the smallest scenario with its seed; nil where only the capsule shows the failure.
	member *Member
}

// shrinkFailures makes the smallest scenario of the first failure of each law, within a time for all of them. What it
// cannot do it says on notes. The results get their smallest scenarios.
func (c Config) shrinkFailures(ctx context.Context, notes io.Writer, tasks []task, results []result.Result, within time.Duration) (list []smallest) {
	if within <= 0 || c.Explorer.Shrink == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	done := map[string]bool{}
	for i, r := range results {
		if r.Verdict != result.Fail || r.Failure == nil || done[r.Failure.Law] || len(done) == shrunkMost || ctx.Err() != nil {
			continue
		}
		done[r.Failure.Law] = true
		capsule, err := c.Explorer.Shrink(limited, taskOf(tasks, r), r, c.Laws())
		if err != nil {
			if ctx.Err() == nil {
				why := cli.FirstLine(err.Error())
				if errors.Is(err, context.DeadlineExceeded) {
					why = "it does not happen again within " + within.String() + "; --shrink takes longer times"
				}
				fmt.Fprintf(notes, "vppdrill: %s with seed %d is not made smaller: %s\n", r.Failure.Law, r.Seed, why)
			}
			continue
		}
		s := smallest{law: r.Failure.Law, capsule: capsule}
		if c.Explorer.Reduced != nil {
			if m, ok := c.Explorer.Reduced(ctx, capsule, c.Laws()); ok {
				s.member = &m
				results[i].Failure.Smallest = &result.Smallest{Scenario: string(m.Scenario.Marshal()), Seed: m.Seed, GoTest: goTest(s.law, m)}
			}
		}
		list = append(list, s)
	}
	return list
}

// taskOf is the scenario of a result.
func taskOf(tasks []task, r result.Result) *scenarios.Scenario {
	for _, t := range tasks {
		if t.s.Name == r.Scenario && t.seed == r.Seed && t.s.File == r.File {
			return t.s
		}
	}
	return nil
}

// write puts the capsule and, where there is one, the scenario into a report's folder.
func (s smallest) write(dir string) error {
	err := os.WriteFile(filepath.Join(dir, s.law+".capsule"), s.capsule, 0o644)
	if s.member != nil {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, s.law+".smallest.yaml"), s.member.Scenario.Marshal(), 0o644))
	}
	return err
}

// tell prints what is left of a failure: the scenario as YAML and as a Go test, and where its capsule is, out being the
// folder, "" for none.
func (s smallest) tell(w io.Writer, out string) {
	if s.member != nil {
		fmt.Fprintf(w, "\nsmallest scenario that breaks %s, with seed %d:\n%s", s.law, s.member.Seed, indented(string(s.member.Scenario.Marshal())))
		fmt.Fprintf(w, "\nthe same as a Go test:\n\n%s", goTest(s.law, *s.member))
	} else {
		fmt.Fprintf(w, "\n%s breaks only with the choices that its capsule lists\n", s.law)
	}
	if out != "" {
		fmt.Fprintf(w, "\ncapsule %s: vppdrill debug replay %s\n", s.law, quote(filepath.Join(out, s.law+".capsule")))
		return
	}
	fmt.Fprintf(w, "\n--out DIR keeps a capsule, which vppdrill debug replay, step and branch read\n")
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// goTest is a scenario as a file of Go with a test that fails as long as it breaks a law.
func goTest(law string, m Member) string {
	name := ""
	for word := range strings.SplitSeq(law, "-") {
		if word != "" {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	yaml := string(m.Scenario.Marshal())
	literal := "`" + yaml + "`"
	if strings.Contains(yaml, "`") {
		literal = strconv.Quote(yaml)
	}
	return fmt.Sprintf(`package rehearsals

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

func Test%s(t *testing.T) {
	s, err := scenarios.Parse(%q, []byte(%s))
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t.Context(), s, sim.Options{Seed: %d, Laws: check.All()})
	if err != nil || r.Verdict != result.Pass {
		t.Error(r.Error, err)
	}
}
`, name, m.Scenario.Name+".yaml", literal, m.Seed)
}
