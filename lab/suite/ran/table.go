// Package ran is the table of which scenarios a real VPP has run, and how it went.
//
// It decides what a table's file looks like, and which scenarios of a catalogue it leaves open: those that it does not
// know, those whose text has changed since, and those that did not end well. It runs nothing and reads no file. Start
// at Parse.
//
// A scenario stands in the table with a hash of what it says. Its comments do not count: another wording needs no other
// run. Scenarios that ended alike stand together under one heading, so that a new recording of all of them changes one
// line and those that changed. Package lab/suite writes the file, program lab/suite/unrun tells what is open.
//
// To add a way in which a run can end, add a constant of Outcome.
package ran

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

// File is where the repository has its table.
const File = "lab/suite/ran.txt"

// Outcome is how a run ended; it is the first word of a heading.
type Outcome string

// Outcomes. A refused scenario is one that labs cannot do; an unjudged one says nothing about its scenario.
const (
	Passed   Outcome = "passed"
	Refused  Outcome = "refused"
	Failed   Outcome = "failed"
	Unjudged Outcome = "unjudged"
)

// Run is a scenario's last run.
type Run struct {
	Outcome Outcome
	// Commit and VPP are what ran; empty of a scenario that was refused.
	Commit, VPP string
	// Reason is one line, empty of one that passed.
	Reason string
	// Hash is that of the scenario's text.
	Hash string
}

// heading is a run without its scenario: all that ended alike share it.
func (r Run) heading() string {
	text := string(r.Outcome)
	if r.Commit != "" {
		text += " at " + r.Commit + " on VPP " + r.VPP
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// parseHeading is heading's inverse.
func parseHeading(text string) (Run, error) {
	what, reason, _ := strings.Cut(text, ": ")
	words := strings.Fields(what)
	r := Run{Outcome: Outcome(words[0]), Reason: reason}
	switch {
	case !slices.Contains([]Outcome{Passed, Refused, Failed, Unjudged}, r.Outcome):
		return r, fmt.Errorf("unknown outcome %q", words[0])
	case len(words) == 1:
	case len(words) == 6 && words[1] == "at" && words[3] == "on" && words[4] == "VPP":
		r.Commit, r.VPP = words[2], words[5]
	default:
		return r, fmt.Errorf("%q is no heading", text)
	}
	return r, nil
}

// Table is the last run of each scenario, by name.
type Table map[string]Run

// Put takes in a run. A refusal says what one machine lacks: it does not replace a run of the same text that another
// machine has had.
func (t Table) Put(name string, r Run) {
	if before, known := t[name]; r.Outcome == Refused && known && before.Outcome != Refused && before.Hash == r.Hash {
		return
	}
	t[name] = r
}

const opening = `# How each scenario of the catalogue last ran on a real VPP. Written by go test ./lab/suite -whole -record.
# Beside a scenario's name stands a hash of what it says: with another one it has not run.
`

// Parse reads a table: headings, and below each of them indented lines of a scenario's name and hash.
func Parse(text string) (Table, error) {
	t := Table{}
	var run Run
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(line, "#"):
		case line[0] != ' ':
			var err error
			if run, err = parseHeading(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		case len(fields) != 2 || run.Outcome == "":
			return nil, fmt.Errorf("line %d: %q is no scenario with its hash below a heading", i+1, line)
		default:
			run.Hash = fields[1]
			t[fields[0]] = run
		}
	}
	return t, nil
}

// String is the file's text: headings in order, and scenarios below them by name.
func (t Table) String() string {
	under := map[string][]string{}
	for name, run := range t { //vppdrill:unordered sorted below
		h := run.heading()
		under[h] = append(under[h], "  "+name+" "+run.Hash+"\n")
	}
	var b strings.Builder
	b.WriteString(opening)
	headings := make([]string, 0, len(under))
	for h := range under { //vppdrill:unordered sorted below
		headings = append(headings, h)
	}
	slices.Sort(headings)
	for _, h := range headings {
		slices.Sort(under[h])
		b.WriteString("\n" + h + "\n" + strings.Join(under[h], ""))
	}
	return b.String()
}

// Forget drops scenarios that a catalogue does not have any more.
func (t Table) Forget(catalogue []*scenarios.Scenario) {
	for name := range t { //vppdrill:unordered each by itself
		if !slices.ContainsFunc(catalogue, func(s *scenarios.Scenario) bool { return s.Name == name }) {
			delete(t, name)
		}
	}
}

// Open lists the scenarios of a catalogue that the table leaves open, each with why, in the catalogue's order.
func (t Table) Open(catalogue []*scenarios.Scenario) (list []string) {
	for _, s := range catalogue {
		switch run, ok := t[s.Name]; {
		case !ok:
			list = append(list, s.Name+" (never ran)")
		case run.Hash != Hash(s):
			list = append(list, s.Name+" (changed since)")
		case run.Outcome == Failed || run.Outcome == Unjudged:
			list = append(list, s.Name+" ("+string(run.Outcome)+")")
		}
	}
	return list
}

// Hash stands for what a scenario says, comments aside.
func Hash(s *scenarios.Scenario) string {
	bare := *s
	bare.Goal, bare.Notes = "", nil
	sum := sha256.Sum256(bare.Marshal())
	return hex.EncodeToString(sum[:4])
}
