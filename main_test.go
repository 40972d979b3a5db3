package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens in the scripts instead of comparing with them")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"vppdrill": func() { os.Exit(run()) },
		onFullDisk: func() { fillDisk(); os.Exit(run()) },
	})
}

// TestScripts goal: what a person types gives the words, files and exit codes that README.md promises. Method: one
// script per command, run as processes of their own; `make golden` rewrites what they print.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "scenarios/cmd/testdata",
		UpdateScripts:       *rewrite,
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"code": exitCode, "replace": replaceIn},
	})
}

// TestReadme goal: the scenario that README.md shows is one. Method: parse it as a file.
func TestReadme(t *testing.T) {
	s, err := scenarios.Parse("README.md", []byte(readmeScenario(t)))
	if err != nil {
		t.Fatal(err)
	}
	if s.Goal == "" || len(s.Timeline) < 3 {
		t.Errorf("the example shows little: %+v", s)
	}
}

// readmeScenario is the scenario that README.md shows.
func readmeScenario(t *testing.T) string {
	t.Helper()
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
	return scenario.String()
}

// TestDocumentedCommands goal: every command, and every flag of it, that a page names exists. Method: whatever stands behind
// "vppdrill" in backticks or in an indented line, asked for its help.
func TestDocumentedCommands(t *testing.T) {
	span := regexp.MustCompile("`(?:bin/)?vppdrill ([^`]+)`|(?m:^    (?:bin/)?vppdrill ([^#\n]+))")
	flags, number := regexp.MustCompile(`--[a-z][a-z-]+`), 0
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "DENSE.md") {
		if page == "docs/commands.md" {
			continue // it is made from the commands
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range span.FindAllStringSubmatch(string(text), -1) {
			line := strings.ReplaceAll(m[1]+m[2], `\|`, "|")
			for _, words := range commandsIn(line) {
				number++
				var out bytes.Buffer
				code := cmd.Execute(t.Context(), config(), append(words, "--help"), &out, &out)
				if usage := "vppdrill " + strings.Join(words, " "); code != 0 || !strings.Contains(out.String(), usage) {
					t.Errorf("%s: there is no %s", page, usage)
				}
				for _, flag := range flags.FindAllString(line, -1) {
					if !strings.Contains(out.String(), flag+" ") && !strings.Contains(out.String(), flag+"\n") {
						t.Errorf("%s: vppdrill %s has no %s", page, strings.Join(words, " "), flag)
					}
				}
			}
		}
	}
	if number < 30 {
		t.Errorf("the pages name only %d commands", number)
	}
}

// commandsIn are the commands that a line of usage begins with: "lab up|down [FILE]" are two.
func commandsIn(line string) (commands [][]string) {
	words := strings.Fields(line)
	commands = [][]string{nil}
	for depth, holds := 0, true; holds && depth < len(words); depth++ {
		var next [][]string
		for _, c := range commands {
			for alternative := range strings.SplitSeq(words[depth], "|") {
				next = append(next, append(slices.Clone(c), alternative))
			}
		}
		commands = next
		holds = slices.Contains([]string{"lab", "ipam", "trace", "debug", "describe"}, words[depth])
	}
	return commands
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

// replaceIn is the script command "replace PATTERN TEXT FILE": lines that match have what matches replaced.
func replaceIn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace pattern text file")
	}
	file := ts.MkAbs(args[2])
	text, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(file, regexp.MustCompile("(?m)"+args[0]).ReplaceAll(text, []byte(args[1])), 0o644))
}
