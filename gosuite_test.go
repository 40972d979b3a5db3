package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: what init --go-suite writes compiles and holds its laws as it stands, with this module in a release's place; and the Go test of a
// failure compiles beside it as it was printed, and fails. Method: go test in that folder, without a network.
func TestGoSuite(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "rehearsals")
	tool := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{
		{"vppdrill", "init", "--go-suite"},
		{"go", "mod", "edit", "-require=github.com/vppdrill/vppdrill@v0.1.0", "-replace=github.com/vppdrill/vppdrill=" + root},
		{"go", "vet", "./..."},
		{"go", "test", "./..."},
	} {
		out, err := tool(line[0], line[1:]...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
		if edit := "go mod edit -require=github.com/vppdrill/vppdrill@v0.0.0 -replace=github.com/vppdrill/vppdrill=CHECKOUT && go mod tidy"; line[1] == "init" && !strings.Contains(out, edit) {
			t.Errorf("a build that is no release says how to take its source: %s, want %s", out, edit)
		}
	}

	strict := `package rehearsals

import (
	"context"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/suite"
	"github.com/vppdrill/vppdrill/sim"
)

func TestStrict(t *testing.T) {
	never := fewBlocks
	never.Name = "no-blocks"
	never.Check = func(s fact.Snapshot) (int64, error) {
		return 1, &fact.Violation{Law: "no-blocks", At: s.At, What: "a snapshot"}
	}
	suite.Specs(suite.Options{
		Folder: "testdata", Laws: append(check.All(), never),
		Factory: func(_ context.Context, s *scenarios.Scenario, seed uint64) (result.World, error) {
			return sim.New(s, sim.Options{Seed: seed})
		},
	})
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "strict")
}
`
	name := filepath.Join(dir, "strict_test.go")
	if err := os.WriteFile(name, []byte(strict), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := tool("go", "test", "-run", "TestStrict", ".", "-ginkgo.no-color")
	_, line, _ := strings.Cut(out, "replay: go test ")
	line, _, _ = strings.Cut(line, "\n")
	if want := "-run '^TestStrict$' . -ginkgo.focus my-rehearsal"; err == nil || strings.TrimSpace(line) != want {
		t.Errorf("a law of one's own is shown again by %q, want %q\n%s", line, want, out)
	}
	if again, err := tool("sh", "-c", "go test "+line); err == nil || !strings.Contains(again, "no-blocks") {
		t.Errorf("%s shows nothing again: %v\n%s", line, err, again)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}

	hasty := "# Nodes that are asked to be quiet before their VPPs have started.\nname: hasty\ntopology: {nodes: 3}\ntimeline: [{at: 10s, do: kill-vpp, node: any}]\nlimits: {settle: 400ms}\n"
	if err := os.WriteFile(filepath.Join(dir, "hasty.yaml"), []byte(hasty), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := tool("vppdrill", "run", "hasty.yaml", "--out", "out"); err == nil {
		t.Fatalf("a hasty scenario passes:\n%s", out)
	}
	var r struct {
		Scenarios []struct {
			Failure struct {
				Smallest struct{ GoTest string }
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "out", "result.json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Scenarios) == 0 || r.Scenarios[0].Failure.Smallest.GoTest == "" {
		t.Fatalf("no Go test in the report: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settles_test.go"), []byte(r.Scenarios[0].Failure.Smallest.GoTest), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := tool("go", "test", "-run", "Settles", "./..."); err == nil || !strings.Contains(out, "settles on node-") || strings.Contains(out, "build failed") {
		t.Errorf("the printed test: %v\n%s", err, out)
	}
}
