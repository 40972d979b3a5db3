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
		if out, err := tool(line[0], line[1:]...); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
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
