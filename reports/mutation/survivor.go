package mutation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WriteSurvivors writes a text about each fault that changed a run and that nothing told of into a folder, as
// survivor-1.md and on; "" writes none. The first line is a title, which is the same whenever the fault is tried again,
// so that nobody files it twice.
func (r *Report) WriteSurvivors(folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	n := 0
	for _, t := range r.Trials {
		if t.told() != Survived {
			continue
		}
		n++
		name := filepath.Join(folder, fmt.Sprintf("survivor-%d.md", n))
		if err := os.WriteFile(name, []byte(t.survivor(r)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// titleMost is how many bytes of the changed line a title shows.
const titleMost = 60

// survivor is the text about a fault that nothing told of.
func (t *Trial) survivor(r *Report) string {
	shown, without := t.After, ""
	if shown == "" {
		shown, without = t.Before, "without "
	}
	shown, _, _ = strings.Cut(shown, "\n")
	shown = strings.ToValidUTF8(shown[:min(len(shown), titleMost)], "")
	var b strings.Builder
	fmt.Fprintf(&b, "No law sees %s in %s of %s: %s%s\n\n", t.Kind, t.Func, t.File, without, shown)
	fmt.Fprintf(&b, "With this fault %d runs or units of random runs differ, %d random runs come by it, and within %.0f s of processor time no law tells of it.\n\n",
		t.Differing, t.Runs, r.BudgetSeconds)
	fmt.Fprintf(&b, "%s:%d\n\n```diff\n%s```\n\n", t.File, t.Line, t.difference(""))
	fmt.Fprintf(&b, "Try it again:\n\n    go run ./reports/mutation/mutate --only %q --budget %.0fs\n", fmt.Sprintf("%s:%d:%d %s", t.File, t.Line, t.Column, t.Kind), r.BudgetSeconds)
	b.WriteString("\nWhat is missing is a law that judges what this changes, or a scenario in which it matters; where nothing that a user could want hangs on it, the code is more than is needed.\n")
	return b.String()
}
