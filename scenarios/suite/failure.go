package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// block is a message: a headline, and lines that open with a word.
type block struct{ strings.Builder }

// add writes a word and its text; further lines of the text stand below its first one. Nothing to say is no line.
func (b *block) add(word, text string) {
	if text == "" {
		return
	}
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n        ")
	fmt.Fprintf(b, "\n%-8s%s", word+":", text)
}

// describe tells a result that is no pass: what is wrong in the first line, the command that shows it again in the
// last.
func describe(r *result.Result) string {
	var b block
	switch {
	case r.Failure != nil:
		b.failure(r)
	case r.Verdict == result.Error:
		fmt.Fprintf(&b, "%s could not be judged: %s", r.Scenario, r.Error)
		for _, law := range r.Laws {
			if law.Violations > 0 {
				b.add("and", "law "+law.Name+" is broken")
			}
		}
	default:
		fmt.Fprintf(&b, "the final state of %s does not match `expect`: %s", r.Scenario, r.Error)
	}
	b.add("goal", r.Goal)
	b.add("replay", r.Replay)
	return b.String()
}

// failure tells a broken law.
func (b *block) failure(r *result.Result) {
	f := r.Failure
	fmt.Fprintf(b, "law %s is broken", f.Law)
	if f.Node != "" {
		b.WriteString(" on " + f.Node)
	}
	b.WriteString(" at " + scenarios.FormatDuration(seconds(f.AtSeconds)))
	for _, law := range r.Laws {
		if law.Name == f.Law {
			b.add("why", law.Why)
		}
	}
	b.add("what", f.What)
	b.add("event", eventLine(f))
	b.add("before", f.Before)
	b.add("after", f.After)
}

// eventLine is the first bad event's line, with its number where the World's lines do not open with it.
func eventLine(f *result.Failure) string {
	number := strconv.FormatInt(f.Event, 10)
	if f.Line == "" || strings.HasPrefix(f.Line, number+" ") {
		return f.Line
	}
	return number + " " + f.Line
}

// violation tells a law that a snapshot breaks.
func (b *block) violation(law fact.Law, v *fact.Violation) {
	fmt.Fprintf(b, "law %s is broken", v.Law)
	if v.Node != "" {
		b.WriteString(" on " + v.Node)
	}
	b.WriteString(" at " + scenarios.FormatDuration(v.At))
	b.add("why", law.Why)
	b.add("what", v.What)
	b.add("before", v.Before)
	b.add("after", v.After)
}

// differing tells two runs of one seed that are not the same run.
func differing(first, second *result.Result) string {
	var b block
	if first.Digest == "" {
		fmt.Fprintf(&b, "world %s records no digest, so that two runs cannot be compared; see Options.Twice", first.World)
		return b.String()
	}
	fmt.Fprintf(&b, "two runs of %s with seed %d differ", first.Scenario, first.Seed)
	b.add("first", fmt.Sprintf("%s, %d events, digest %s", first.Verdict, first.Events, first.Digest))
	b.add("second", fmt.Sprintf("%s, %d events, digest %s", second.Verdict, second.Events, second.Digest))
	b.add("replay", first.Replay)
	return b.String()
}

// replayOf is the command that shows a run again.
func replayOf(s *scenarios.Scenario, world string, seed uint64) string {
	command := "vppdrill run " + shellWord(runnable(s))
	if world != "sim" {
		command += " --world " + world
	}
	return command + " --seed " + strconv.FormatUint(seed, 10)
}

// runnable is how the command line finds a scenario: by its file, as seen from the module's root, where people type
// commands and where the packages' tests do not run; without a file by its name in the catalogue.
func runnable(s *scenarios.Scenario) string {
	if s.File == "" {
		return s.Name
	}
	if _, err := os.Stat(s.File); err != nil {
		return s.Name
	}
	file, err := filepath.Abs(s.File)
	if err != nil {
		return s.File
	}
	for root := filepath.Dir(file); ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			if rel, err := filepath.Rel(root, file); err == nil {
				return filepath.ToSlash(rel)
			}
		}
		if root == filepath.Dir(root) {
			return s.File
		}
	}
}

// shellWord quotes a file name that a shell would take apart.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./+:@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
