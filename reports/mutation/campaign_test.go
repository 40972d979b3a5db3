package mutation

import (
	"errors"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Goal: a fault that nobody could overlook is planted into the product, reached, and caught by the law that it breaks.
// Method: the whole way, with one fault: a node's routes to its peers are forgotten.
func TestKnownFaultIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	all, err := Find("../..")
	if err != nil {
		t.Fatal(err)
	}
	chosen := Choose(slices.DeleteFunc(all, func(m *Mutant) bool { return !strings.Contains(m.Place(), "call-dropped nodeVXLAN.peer") }), 1, 1)
	if len(chosen) != 1 {
		t.Fatal("no such place")
	}
	scratch := t.TempDir()
	program := filepath.Join(scratch, "planted")
	if err := Build(t.Context(), "../..", scratch, program, chosen); err != nil {
		t.Fatal(err)
	}
	c := Campaign{Scratch: scratch}
	asked, err := c.askedFile("asked", chosen)
	if err != nil {
		t.Fatal(err)
	}
	m, none := &Trial{Mutant: chosen[0], Outcome: Survived}, &Trial{Outcome: Survived}
	for _, m := range []*Trial{none, m} {
		if err := (trial{program: program, asked: asked}).catalogue(t.Context(), m, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if none.Outcome != Survived || m.Outcome != Caught || !slices.Contains([]string{"stays-wired", "tunnels-symmetric", "reachable"}, m.By) || m.Seed == 0 || m.What == "" {
		t.Errorf("without the fault %s, with it %s by %q in %s seed %d: %s", none.Outcome, m.Outcome, m.By, m.Scenario, m.Seed, m.What)
	}
	text, err := os.ReadFile(asked)
	if reached := askedOf(text, chosen); err != nil || len(reached) != 1 {
		t.Errorf("reached %d, %v", len(reached), err)
	}
}

// Goal: the choice of faults gives each kind and each area its turn, follows from the seed, and is the whole when there
// are too few.
func TestChoose(t *testing.T) {
	var all []*Mutant
	for n := range 600 {
		folder := areas[n%len(areas)].folders[0]
		kind := kinds[n%len(kinds)]
		if n > 200 {
			folder, kind = areas[0].folders[0], kinds[0]
		}
		all = append(all, &Mutant{Number: n + 1, Kind: kind.Name, File: folder + "/a.go", Line: n, src: &source{folder: folder}})
	}
	chosen := Choose(all, 26, 1)
	count := map[string]int{}
	for _, m := range chosen {
		count[m.Kind]++
		count[m.src.folder]++
	}
	for _, k := range kinds {
		if count[k.Name] < 2 {
			t.Errorf("%d of %s", count[k.Name], k.Name)
		}
	}
	for _, a := range areas {
		if n := count[a.folders[0]]; n < 4 {
			t.Errorf("%d in %s", n, a.name)
		}
	}
	places := func(list []*Mutant) string {
		var b strings.Builder
		for _, m := range list {
			b.WriteString(m.Place() + "\n")
		}
		return b.String()
	}
	if places(Choose(all, 26, 1)) != places(chosen) || places(Choose(all, 26, 2)) == places(chosen) {
		t.Error("the choice does not follow from the seed")
	}
	if n := len(Choose(all, 0, 1)); n != len(all) {
		t.Errorf("%d of %d", n, len(all))
	}
}

// reread is a report that went through its file.
func reread(t *testing.T, r *Report) *Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.json")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.WriteJSON(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	read, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// Goal: what a former report did not catch is found again where its lines have moved, and what it caught is not.
// Method: a report through its file, and the same source with a line more.
func TestAgain(t *testing.T) {
	const text = "package a\n\nfunc f(g, h func()) {\n\tg()\n\th()\n\tg()\n}\n"
	var former Report
	for i, m := range numbered(parsed(t, text)) {
		former.Trials = append(former.Trials, &Trial{Mutant: m, Outcome: []Outcome{Survived, Caught, Crashed}[i%3]})
	}
	read := reread(t, &former)
	var lines []int
	for _, m := range uncaught(numbered(parsed(t, strings.Replace(text, "func f", "// f does it.\nfunc f", 1))), read.Trials) {
		lines = append(lines, m.Line)
	}
	if !slices.Equal(lines, []int{5, 7}) {
		t.Errorf("found in lines %v, want g in 5 and 7 and not h", lines)
	}
}

// Goal: an interrupted campaign goes on with the trials and the program that it had, and with no other program. Method:
// a program that does nothing, a report through its file with one trial that is caught and one whose budget is spent,
// and another program.
func TestResume(t *testing.T) {
	scratch := t.TempDir()
	program := filepath.Join(scratch, "planted")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := newSurvey(program, scratch, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.keepCatalogue(map[string]string{"a 1": "done"}); err != nil {
		t.Fatal(err)
	}
	m := &Mutant{Number: 2, Kind: kinds[0].Name, File: "a.go", Line: 5}
	former := Report{Program: s.sum, Switches: 3, Kinds: []Row{{Kind: kinds[0].Name, Places: 9, Reached: 7}}, Trials: []*Trial{
		{Mutant: m, Outcome: Caught, By: "settles", CPUSeconds: 1}, {Mutant: m, Outcome: Survived, CPUSeconds: 60, Runs: 4, Searches: 7}}}
	c := Campaign{Scratch: scratch, Budget: time.Minute, Resume: reread(t, &former)}
	r, err := c.Run(t.Context())
	if err != nil || len(r.Trials) != 2 || r.Trials[1].Searches != 7 || r.Trials[1].Number != 2 || r.Kinds[0].Places != 9 || r.Kinds[0].Reached != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err == nil {
		t.Error("it goes on with another program")
	}
}

// Goal: faults are not planted into functions that only write for people. Method: a function for a String, one for a
// function that acts as well, one that nobody but itself and such a one uses, and an exported one.
func TestForPeople(t *testing.T) {
	s := parsed(t, `package a
type A struct{}
func (A) String() string { return word(1) + Name(2) }
func word(n int) string { return letters(n) + both(n) }
func letters(n int) string { if n > 9 { return letters(n - 1) }; return "a" }
func both(n int) string { return "b" }
func Name(n int) string { return "c" }
func act() { both(1) }
`)
	people := forPeople([]*ast.File{s.syntax}, s.info)
	var names []string
	for f := range people {
		names = append(names, f.Name())
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"letters", "word"}) {
		t.Error(names)
	}
}
