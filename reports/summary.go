package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// summaryRows is how many kinds of failures a summary has: GitHub cuts one at 1 MiB, and a reader stops before.
const summaryRows = 30

// writeSummary writes summary.md: what a CI's page shows of the runs, in GitHub's Markdown. `cat summary.md >>
// $GITHUB_STEP_SUMMARY` puts it there.
func writeSummary(w io.Writer, r Report) error {
	c := r.Counts()
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s passed, %s failed, %s could not be judged; %s events, %s law checks.\n", markdown(headline(c)),
		thousands(c.Pass), thousands(c.Fail), thousands(c.Error), thousands(c.Events), thousands(c.Checks))
	if r.Incomplete != "" {
		fmt.Fprintf(&b, "\n**Incomplete:** %s\n", markdown(r.Incomplete))
	}
	if names := notExercised(r.Scenarios); r.Explored == nil && r.Incomplete == "" && len(r.Scenarios) > 0 && len(names) > 0 {
		fmt.Fprintf(&b, "\nNot exercised: %s.\n", strings.Join(names, ", "))
	}
	rows := 0
	for _, k := range result.Kinds(r.Scenarios) {
		s := r.Scenarios[k.Runs[0]]
		if rows++; rows > summaryRows {
			continue
		}
		if rows == 1 {
			b.WriteString("\n| | runs | scenario | seed | what | see it again |\n|---|---|---|---|---|---|\n")
		}
		what := s.Error
		if s.Failure != nil {
			what = code(s.Failure.Law) + " " + markdown(s.Failure.What)
		} else {
			what = markdown(what)
		}
		scenario := markdown(s.Scenario)
		if n := len(k.Runs); n > 1 {
			scenario += fmt.Sprintf(" and %s more", thousands(n-1))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s |\n", verdictWord(s.Verdict), thousands(len(k.Runs)), scenario, s.Seed, what, code(s.Replay))
	}
	if rows > summaryRows {
		fmt.Fprintf(&b, "\n%s more ways to fail in report.html.\n", thousands(rows-summaryRows))
	}
	for _, s := range r.Scenarios {
		if s.Failure == nil || len(s.Failure.Chain) == 0 {
			continue
		}
		chain, what := s.Failure.Chain, markdown(s.Failure.Law)
		fmt.Fprintf(&b, "\n<details><summary>How %s came about in %s, seed %d</summary>\n\n", what, markdown(s.Scenario), s.Seed)
		for i, l := range chain {
			fmt.Fprintf(&b, "%d. %s, event %s: %s\n", i+1, clock(l.AtSeconds), thousands(l.Event), markdown(l.Text))
		}
		b.WriteString("\n</details>\n")
		break
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// code is a text as a code span in a table. What would end it, or begin HTML in a reader that does not know code spans,
// is replaced.
func code(text string) string {
	return "`" + strings.NewReplacer("|", "\\|", "`", "'", "<", "‹").Replace(oneLine(text)) + "`"
}

// markdown is a text that Markdown and HTML take for nothing but text, on one line.
func markdown(text string) string {
	var b strings.Builder
	for _, c := range oneLine(text) {
		if strings.ContainsRune("\\`*_[]<>|#&~", c) {
			if c == '<' || c == '>' || c == '&' {
				b.WriteString(map[rune]string{'<': "&lt;", '>': "&gt;", '&': "&amp;"}[c])
				continue
			}
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
