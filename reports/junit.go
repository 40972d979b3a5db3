package reports

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// The elements of junit.xml that CI systems agree on: the schema of Jenkins' xunit plugin, version 10.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr,omitempty"`
		Time     string     `xml:"time,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr,omitempty"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitCase struct {
		Name       string          `xml:"name,attr"`
		Class      string          `xml:"classname,attr"`
		File       string          `xml:"file,attr,omitempty"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property,omitempty"`
		Skipped    *junitSkipped   `xml:"skipped"`
		Failures   []junitTrouble  `xml:"failure"`
		Errors     []junitTrouble  `xml:"error"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitTrouble struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",cdata"`
	}
)

// writeJUnit writes junit.xml: one test case per run, one failure per broken law, errors for what could not be judged.
// A law that could not be judged is a skipped case of its own; those that found nothing to judge are a property of
// their run. A case is named after its scenario, so that CI follows it from build to build; where a scenario ran with
// several seeds, the seed is added.
func writeJUnit(w io.Writer, r Report) error {
	c := r.Counts()
	suite := junitSuite{
		Name: "vppdrill", Tests: c.Total(), Failures: c.Fail, Errors: c.Error, Time: seconds(c.WallSeconds),
		Properties: []junitProperty{{"version", r.Version}},
	}
	if r.Incomplete != "" {
		suite.Properties = append(suite.Properties, junitProperty{"incomplete", oneLine(r.Incomplete)})
		suite.Cases = append(suite.Cases, junitCase{Name: "incomplete", Class: "vppdrill", Time: seconds(0),
			Errors: []junitTrouble{{Type: "incomplete", Message: oneLine(r.Incomplete)}}})
		suite.Tests++
		suite.Errors++
	} else if names := notExercised(r.Scenarios); r.Explored == nil && len(r.Scenarios) > 0 && len(names) > 0 {
		suite.Properties = append(suite.Properties, junitProperty{"notExercised", strings.Join(names, " ")})
	}
	if e := r.Explored; e != nil {
		suite.Properties = append(suite.Properties, exploredProperties(*e, r.Environment.WallSeconds)...)
		if len(r.Scenarios) == 0 && r.Incomplete == "" {
			suite.Cases = append(suite.Cases, junitCase{Name: fmt.Sprintf("explored %d runs", e.Runs), Class: "vppdrill." + e.Way, Time: seconds(r.Environment.WallSeconds)})
			suite.Tests++
		}
	}
	runs := map[[2]string]int{}
	for _, s := range r.Scenarios {
		runs[[2]string{s.World, s.Scenario}]++
	}
	repeated := map[int]bool{} // the first of each kind is there in full
	for _, k := range result.Kinds(r.Scenarios) {
		for _, i := range k.Runs[1:] {
			repeated[i] = true
		}
	}
	for i, s := range r.Scenarios {
		name := s.Scenario
		if runs[[2]string{s.World, s.Scenario}] > 1 {
			name += " seed " + strconv.FormatUint(s.Seed, 10)
		}
		suite.Cases = append(suite.Cases, junitCaseOf(name, s, repeated[i]))
		for _, l := range s.Laws {
			if l.Status == result.NotJudgedStatus && len(l.Missing) > 0 {
				suite.Cases = append(suite.Cases, junitCase{Name: name + ": law " + l.Name, Class: "vppdrill." + s.World, File: s.File,
					Time: seconds(0), Properties: []junitProperty{{"seed", strconv.FormatUint(s.Seed, 10)}}, Skipped: &junitSkipped{oneLine(l.StatusText())}})
				suite.Skipped++
			}
		}
	}
	suite.Tests += suite.Skipped
	all := junitSuites{Name: suite.Name, Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped, Time: suite.Time, Suite: suite}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// exploredProperties say what an exploration covered.
func exploredProperties(e Explored, wall float64) []junitProperty {
	list := []junitProperty{{"way", e.Way}, {"runs", strconv.Itoa(e.Runs)}, {"firstSeed", strconv.FormatUint(e.FirstSeed, 10)},
		{"complete", strconv.FormatBool(e.Complete)}, {"runsPerSecond", seconds(float64(e.Runs) / max(wall, 1e-9))}}
	for _, g := range e.Coverage {
		text := strconv.Itoa(len(g.Reached))
		if len(g.Missing) > 0 {
			text += fmt.Sprintf(" of %d; never %s", len(g.Reached)+len(g.Missing), strings.Join(g.Missing, ", "))
		}
		list = append(list, junitProperty{"covered: " + oneLine(g.Group), oneLine(text)})
	}
	return list
}

// junitCaseOf is one run; repeated: it fails like an earlier one, which is there in full.
func junitCaseOf(name string, s result.Result, repeated bool) junitCase {
	c := junitCase{Name: name, Class: "vppdrill." + s.World, File: s.File, Time: seconds(s.WallSeconds), Properties: []junitProperty{
		{"seed", strconv.FormatUint(s.Seed, 10)},
		{"digest", s.Digest},
		{"events", strconv.FormatInt(s.Events, 10)},
		{"virtualSeconds", seconds(s.VirtualSeconds)},
		{"replay", s.Replay},
	}}
	if what := strings.TrimSpace(hollow(s)); what != "" {
		c.Properties = append(c.Properties, junitProperty{"hollow", what})
	}
	var idle []string
	for _, l := range s.Laws {
		if l.Idle() {
			idle = append(idle, l.Name)
		}
	}
	if len(idle) > 0 {
		c.Properties = append(c.Properties, junitProperty{"heldWithoutOccasion", oneLine(strings.Join(idle, " "))})
	}
	switch s.Verdict {
	case result.Pass:
	case result.Stopped:
		c.Skipped = &junitSkipped{oneLine(s.Error)}
	case result.Fail:
		c.Failures = brokenLaws(s, repeated)
	default:
		c.Errors = []junitTrouble{{Type: "error", Message: oneLine(s.Error), Text: xmlText("replay: " + s.Replay + "\n")}}
		if len(s.Unsupported) > 0 {
			c.Errors[0].Type = "unsupported"
			c.Errors[0].Message = "unsupported in world " + s.World + ": " + strings.Join(s.Unsupported, ", ")
		}
	}
	return c
}

// brokenLaws makes a failure of each broken law, the first one to break first and in full.
func brokenLaws(s result.Result, repeated bool) []junitTrouble {
	var out []junitTrouble
	first := ""
	if f := s.Failure; f != nil {
		first = f.Law
		text := failureText(s)
		if repeated {
			text = failureHead(s) + "replay: " + s.Replay + "\n"
		}
		out = append(out, junitTrouble{Type: f.Law, Message: oneLine(f.What), Text: xmlText(text)})
	}
	for _, l := range s.Laws {
		if l.Violations > 0 && l.Name != first {
			out = append(out, junitTrouble{Type: l.Name, Message: fmt.Sprintf("%d violations: %s", l.Violations, oneLine(cmp.Or(l.Rule, l.Why)))})
		}
	}
	if len(out) == 0 { // a failed expectation is no law's
		out = append(out, junitTrouble{Type: "expectation", Message: oneLine(s.Error), Text: xmlText(unmetLines(s.Unmet) + "replay: " + s.Replay + "\n")})
	}
	return out
}

// unmetLines are expectations that did not come true, with the objects that differ.
func unmetLines(list []result.Unmet) string {
	var b strings.Builder
	for _, u := range list {
		fmt.Fprintf(&b, "%s\n", unmetText(u))
		for _, o := range u.Objects {
			fmt.Fprintf(&b, "  %s\n", o)
		}
		if u.Cut > 0 {
			fmt.Fprintf(&b, "  and %s more\n", thousands(u.Cut))
		}
	}
	return b.String()
}

// failureHead is the law that broke, where and when, and how.
func failureHead(s result.Result) string {
	f := s.Failure
	text := fmt.Sprintf("law %s%s at %s, event %d\n", f.Law, on(f.Node), moment(f.AtSeconds), f.Event)
	if rule := s.Rule(); rule != "" {
		text += "rule: " + rule + "\n"
	}
	return text + f.What + "\n"
}

// failureText is everything that is known about the first broken law, for people who see nothing but the CI's page.
func failureText(s result.Result) string {
	f := s.Failure
	var b strings.Builder
	b.WriteString(failureHead(s))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s:\n  %s\n", title, strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  "))
		}
	}
	b.WriteString(causes(f.Chain))
	if f.Smallest != nil {
		section(fmt.Sprintf("smallest scenario, with seed %d", f.Smallest.Seed), f.Smallest.Scenario)
	}
	section("event", f.Line)
	section("before", f.Before)
	section("after", f.After)
	section("last events", strings.Join(f.Tail, "\n"))
	fmt.Fprintf(&b, "replay: %s\n", s.Replay)
	return b.String()
}

// causes is a chain of causes as a section, "" where there is none.
func causes(chain []result.Link) string {
	if len(chain) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("causes:\n")
	for i, l := range chain {
		fmt.Fprintf(&b, "  %2d. %s, event %d: %s\n", i+1, moment(l.AtSeconds), l.Event, l.Text)
	}
	return b.String()
}

// xmlText replaces what XML 1.0 cannot hold (section 2.2, production 2); CDATA has no other escape.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// on is " on node", or nothing for a law that is broken nowhere in particular.
func on(node string) string {
	if node == "" {
		return ""
	}
	return " on " + oneLine(node)
}

// oneLine joins a text's lines, as attributes and verdict lines have no room for more. What could steer a terminal is
// replaced.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.Join(strings.Fields(text), " "))
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }
