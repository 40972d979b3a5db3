package mutation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: each fault of faults.yaml is one of the product as it is. Method: all of them are found, and built into one
// program.
func TestListed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	all, err := FindListed("../..", "faults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	if err := Build(t.Context(), "../..", scratch, scratch+"/planted", all); err != nil {
		t.Error(err)
	}
}

// Goal: chains are true of runs whose faults nobody had in mind who wrote the chains. Method: the faults of faults.yaml that
// the catalogue tells of, built into sim/explore's test, which looks each line of such a run's chain up in the run. A row
// of caught.txt that breaks another law than it says is to be written anew from what `make mutate-listed` prints.
func TestListedChains(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	all, err := FindListed("../..", "faults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/caught.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := layOut("../..", t.TempDir(), all)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "explore.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-trimpath", "-overlay", list, "-o", program, "./sim/explore")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	numbers := map[string]int{}
	for _, m := range all {
		numbers[m.Name] = m.Number
	}
	tried := 0
	for line := range strings.Lines(string(text)) {
		name, run, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "#" {
			continue
		}
		if numbers[name] == 0 {
			t.Errorf("caught.txt: faults.yaml has no %s", name)
			continue
		}
		tried++
		cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestChainsAreTrue$", "-failing", run)
		cmd.Dir = "../../sim/explore"
		cmd.Env = append(os.Environ(), fmt.Sprint(mutantVariable, "=", numbers[name]))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if tried < 25 {
		t.Errorf("only %d faults were tried", tried)
	}
}

// Goal: a listed fault is planted where its text stands, as the statements or the expression that it is, and what is
// neither is refused. Method: a table over one function.
func TestListedIn(t *testing.T) {
	s := parsed(t, "package a\n\nfunc f(a, b bool, g func() bool) bool {\n\tif a && b {\n\t\tg()\n\t\tg()\n\t}\n\ta = g()\n\treturn a || b\n}\n")
	for _, tc := range []struct{ before, after, want string }{
		{"a && b", "a", "if mutantswitch.Other(1, a && b, a) {"},
		{"return a || b", "return b", "if !mutantswitch.On(1) { return a || b } else { return b }"},
		{"if a && b {\n g()\n g()\n}", "", "if !mutantswitch.On(1) { if a && b {"},
		{"a = g()\nreturn a || b", "return g()", "if !mutantswitch.On(1) { a = g()\n\treturn a || b } else { return g() }"},
		{"g()", "", "3 times"},
		{"b {", "", "no whole statement"},
		{"zz", "", "0 times"},
		{"a || b\n}", "", "no whole statement"},
	} {
		m, err := (&Listed{Name: "it", File: "a.go", Before: tc.before, After: tc.after}).in(s)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			m.Number = 1
			got = string(plant(s, []*Mutant{m}))
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%q: want %q in\n%s", tc.before, tc.want, got)
		}
	}
}

// Goal: a bad list is refused with its place. Method: a table.
func TestParseListed(t *testing.T) {
	for text, want := range map[string]string{
		"faults:\n- name: a\n  why: b\n  file: c\n  before: d\n  befor: e\n":                          "f.yaml:6:3:",
		"faults:\n- {name: a, why: b, file: c, before: d}\n- {name: a, why: b, file: c, before: d}\n": "a is listed twice",
		"faults:\n- {name: a, why: b, file: c}\n":                                                     "before",
	} {
		if _, err := ParseListed("f.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseListed(f *testing.F) {
	f.Add([]byte("faults:\n- {name: a, why: b, file: c, before: d, after: e}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ParseListed("f.yaml", text)
		for _, l := range list {
			if err == nil && (l.Name == "" || l.Before == "") {
				t.Errorf("%+v is accepted", l)
			}
		}
	})
}
