package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/cmd"
)

// leftOut are command lines of pages that this test does not run, by what they begin with, each with who does.
var leftOut = map[string]string{
	"bin/vppdrill lab up --world kind": "needs Docker and root; lab/internal/kindcluster's tests and .ci/run do",
	"kubectl ":                         "needs a cluster; .ci/run and make kind-conformance do",
	"go test ./sim/suite":              "runs the catalogue; make test does",
	"go test ./lab/suite":              "needs a real VPP; .ci/run does",
	"bash .ci/run":                     "runs everything, this test included",
	"bash .ci/release":                 "takes half an hour; the nightly workflow does",
	"bin/vppdrill debug replay":        "needs a capsule of a failure; scenarios/cmd/testdata/explore.txtar makes one and does",
}

// Goal: every command that README.md and CONTRIBUTING.md show works as it stands there. Method: each indented line that is a command, in its
// order: vppdrill's are run, with searches cut to a second, in a folder that holds README's scenario and the catalogue; make's are planned
// by make itself. What is left out is named with who runs it.
func TestReadmeCommands(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "scenarios"), filepath.Join(dir, "scenarios")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "my-scenario.yaml"), []byte(readmeScenario(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^    ((?:bin/vppdrill|make|go|kubectl|bash) [^#\n]*[^#\n ])`)
	long := regexp.MustCompile(`--for \S+`)
	ran, made := 0, 0
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "docs/kubernetes.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			command, left := m[1], false
			for begin, who := range leftOut {
				if strings.HasPrefix(command, begin) {
					t.Logf("left out: %s: it %s", command, who)
					left = true
				}
			}
			words := shellWords(command)
			switch {
			case left:
			case words[0] == "make":
				made++
				plan := exec.Command("make", append([]string{"-n", "-s"}, words[1:]...)...)
				plan.Dir = root
				if out, err := plan.CombinedOutput(); err != nil {
					t.Errorf("%s: %s: %v\n%s", page, command, err, out)
				}
			case words[0] == "bin/vppdrill":
				ran++
				t.Chdir(dir)
				var out bytes.Buffer
				if code := cmd.Execute(t.Context(), config(), shellWords(long.ReplaceAllString(command, "--for 1s"))[1:], &out, &out); code != 0 {
					t.Errorf("%s: %s: code %d\n%s", page, command, code, out.String())
				}
			default:
				t.Errorf("%s: %s is run by nobody", page, command)
			}
		}
	}
	if ran < 3 || made < 8 {
		t.Errorf("%d commands run, %d made: the look is blind", ran, made)
	}
}

// Goal: the pages are a site. Method: Debian's mkdocs builds it; every page of docs is there and linked from the first.
func TestSite(t *testing.T) {
	program, err := exec.LookPath("mkdocs")
	if err != nil {
		t.Skip("no mkdocs found in PATH (Debian's package mkdocs): the site was not built")
	}
	site := t.TempDir()
	if out, err := exec.Command(program, "build", "-q", "-f", "docs/mkdocs.yml", "-d", site).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	index, err := os.ReadFile(filepath.Join(site, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/tutorials/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		at := "tutorials/" + strings.TrimSuffix(filepath.Base(page), ".md") + "/"
		if text, err := os.ReadFile(filepath.Join(site, at, "index.html")); err != nil || len(text) < 2000 || !strings.Contains(string(index), at) {
			t.Errorf("%s is not on the site: %v", page, err)
		}
	}
}
