package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of `go test -json`, as `go doc test2json` lists its fields.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// tally is what has been read so far.
type tally struct {
	out                     io.Writer
	passed, failed, skipped int
	packagesFailed          int
	// said holds the output of tests that have not ended, by package and test.
	said map[[2]string]*strings.Builder
	// skips are the skipped tests with their reasons, in order of arrival; failures are the failed ones with the first line that they said.
	skips, failures []string
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, said: map[[2]string]*strings.Builder{}}
}

// read takes lines until the end of in. Lines that are no events are copied as they are.
func (t *tally) read(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e event
			if line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action == "" {
				fmt.Fprintf(t.out, "%s\n", bytes.TrimRight(line, "\n"))
			} else {
				t.take(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take counts one event.
func (t *tally) take(e event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "output":
		if t.said[key] == nil {
			t.said[key] = &strings.Builder{}
		}
		t.said[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		said := ""
		if b := t.said[key]; b != nil {
			said = b.String()
		}
		delete(t.said, key)
		if e.Test == "" {
			t.endPackage(e, said)
		} else {
			t.endTest(e, said)
		}
	}
}

func (t *tally) endTest(e event, said string) {
	switch e.Action {
	case "pass":
		t.passed++
	case "fail":
		t.failed++
		fmt.Fprintf(t.out, "--- FAIL %s %s\n%s", e.Package, e.Test, said)
		t.failures = append(t.failures, fmt.Sprintf("%s (%s): %s", e.Test, e.Package, firstLine(said)))
	case "skip":
		t.skipped++
		t.skips = append(t.skips, fmt.Sprintf("%s (%s): %s", e.Test, e.Package, reason(said)))
	}
}

// endPackage prints a package's line. A package that failed without a failed test says why itself: it did not build,
// panicked or timed out.
func (t *tally) endPackage(e event, said string) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(t.out, "ok    %-60s %7.2fs\n", e.Package, e.Elapsed)
	case "fail":
		t.packagesFailed++
		fmt.Fprintf(t.out, "FAIL  %-60s %7.2fs\n", e.Package, e.Elapsed)
		t.unended(e.Package)
		fmt.Fprint(t.out, said)
	}
}

// unended prints what tests had said that never ended, as after a panic.
func (t *tally) unended(pkg string) {
	var keys [][2]string
	for key := range t.said {
		if key[0] == pkg {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(a[1], b[1]) })
	for _, key := range keys {
		fmt.Fprintf(t.out, "--- did not end: %s\n%s", key[1], t.said[key])
		delete(t.said, key)
	}
}

// reason is what a skipped test said beside the frame that go test puts around it.
func reason(said string) string {
	var words []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "--- SKIP") {
			continue
		}
		// "browser_test.go:31: no chromium found": the place is for authors, the rest for everybody.
		if place, rest, ok := strings.Cut(line, ": "); ok && strings.Contains(place, "_test.go:") {
			line = rest
		}
		words = append(words, line)
	}
	if len(words) == 0 {
		return "no reason given"
	}
	return strings.Join(words, " ")
}

// firstLine is the first thing that a failed test said, at most some 300 characters of it: where a log is cut, the last lines still tell what happened.
func firstLine(said string) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "--- ") {
			return strings.ToValidUTF8(line[:min(len(line), 300)], "")
		}
	}
	return "it said nothing"
}

// finish prints the last lines and returns the exit code.
func (t *tally) finish() int {
	if len(t.skips) > 0 {
		fmt.Fprintln(t.out, "\nskipped, with reasons:")
		for _, s := range t.skips {
			fmt.Fprintln(t.out, "  "+s)
		}
	}
	if len(t.failures) > 0 {
		fmt.Fprintln(t.out, "\nfailed, with the first line of each:")
		for _, f := range t.failures {
			fmt.Fprintln(t.out, "  "+f)
		}
	}
	failed := t.failed
	if t.packagesFailed > 0 && failed == 0 {
		failed = t.packagesFailed
	}
	fmt.Fprintf(t.out, "%d passed, %d failed, %d skipped\n", t.passed, failed, t.skipped)
	switch {
	case failed > 0:
		return 1
	case t.passed == 0:
		return 2
	}
	return 0
}
