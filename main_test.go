package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens in the scripts instead of comparing with them")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vppdrill": func() { os.Exit(run()) }})
}

// TestScripts goal: what a person types gives the words, files and exit codes that README.md promises. Method: one
// script per command, run as processes of their own; `make golden` rewrites what they print.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "scenarios/cmd/testdata",
		UpdateScripts:       *rewrite,
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"code": exitCode},
	})
}

// TestReadme goal: the scenario that README.md shows is one, and every command that it names exists. Method: parse the
// one as a file, ask the program for help with the others.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "## A scenario\n\n")
	if !ok {
		t.Fatal("README.md has no scenario")
	}
	var scenario strings.Builder
	for line := range strings.Lines(after) {
		code, ok := strings.CutPrefix(line, "    ")
		if !ok {
			break
		}
		scenario.WriteString(code)
	}
	s, err := scenarios.Parse("README.md", []byte(scenario.String()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Goal == "" || len(s.Timeline) < 3 {
		t.Errorf("the example shows little: %+v", s)
	}
	commands := regexp.MustCompile("`vppdrill ([a-z]+( import)?)").FindAllStringSubmatch(string(text), -1)
	if len(commands) < 8 {
		t.Errorf("README.md names %v", commands)
	}
	for _, c := range commands {
		var out bytes.Buffer
		line := append(strings.Fields(c[1]), "--help")
		if code := cmd.Execute(t.Context(), config(), line, &out, &out); code != 0 || !strings.Contains(out.String(), "Usage:") {
			t.Errorf("vppdrill %s: code %d, %s", c[1], code, out.String())
		}
	}
}

// exitCode is the script command `code N vppdrill …`: it runs a program and wants exactly this exit code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [arguments]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}
