package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/plan"
)

// Goal: whatever a file holds, reading it neither panics nor hangs, a mistake is one line, and what can be read gets a
// plan that adds up: limits in order, what fits is the lowest of them, errors before warnings.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/stories/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(data), "\nplan")[1:] {
			_, input, _ := strings.Cut(part, "\n")
			input, _, _ = strings.Cut(input, "\n----")
			f.Add(input)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		stages, err := parse("file.yaml", []byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("more than one line: %q", err)
			}
			return
		}
		for _, s := range stages {
			p, err := s.plan()
			if err != nil {
				if strings.Contains(s.at("file.yaml", err).Error(), "\n") {
					t.Fatalf("more than one line: %q", err)
				}
				continue
			}
			check(t, p)
			_ = p.String()
		}
	})
}

func check(t *testing.T, p plan.Plan) {
	t.Helper()
	for i, l := range p.NodeLimits {
		if i == 0 && l.Fits != p.Nodes || i > 0 && l.Fits < p.NodeLimits[i-1].Fits {
			t.Fatalf("limits out of order: %v", p)
		}
	}
	for _, l := range p.PodLimits {
		if l.What != "kubelet maxPods" && l.Fits < p.PodsPerNode {
			t.Fatalf("more pods than %s lets: %v", l.What, p)
		}
	}
	if r := p.Running; r.Pods > p.Pods || r.Addresses > p.Pods || r.Pods > r.Addresses || r.PodsPerNode > p.PodLimits[0].Fits {
		t.Fatalf("more runs than the limits let: %v", p)
	}
	if e := p.Expected; e != nil && (e.Pods > p.Running.Pods || e.Nodes > p.Nodes) {
		t.Fatalf("more is expected to run than can: %v", p)
	}
	for i, f := range p.Findings {
		if f.What == "" || f.Do == "" || f.Where == "" || i > 0 && f.Severity < p.Findings[i-1].Severity {
			t.Fatalf("findings: %v", p.Findings)
		}
	}
}
