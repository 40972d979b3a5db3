// Command repocheck judges the repository: its rules, that every function is reached, that what others import is lean, and that the program
// compiles for the systems that it is released for.
//
// It decides nothing itself: the rules are package repo's, what is unreachable is found by golang.org/x/tools/cmd/deadcode, which go.mod
// pins. It never changes a file but the generated program in bin/_public. Start at check. Findings come as path:line: what, one per
// line; it exits with 1 when there are any and with 2 when it could not look. To add a rule, see package repo.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/vppdrill/vppdrill/reports/repo"
)

func main() {
	switch n, err := check(".", os.Stdout); {
	case err != nil:
		fmt.Fprintln(os.Stderr, "repocheck:", err)
		os.Exit(2)
	case n > 0:
		fmt.Printf("%d findings\n", n)
		os.Exit(1)
	}
}

// check prints every finding about the repository at root and counts them.
func check(root string, out io.Writer) (count int, err error) {
	t, err := repo.Load(root)
	if err != nil {
		return 0, err
	}
	for _, r := range repo.Rules() {
		found := r.Run(t)
		for _, f := range found {
			fmt.Fprintln(out, f)
		}
		if len(found) > 0 {
			fmt.Fprintf(out, "  why %s: %s\n", r.Name, r.Why)
		}
		count += len(found)
	}
	program, found := repo.PublicProgram(t)
	report, err := deadcode(root, program)
	if err != nil {
		return count, err
	}
	dead, err := repo.Unreachable(report)
	if err != nil {
		return count, err
	}
	heavy, err := repo.Lean(root, t)
	if err != nil {
		return count, err
	}
	elsewhere, err := repo.Elsewhere(root)
	if err != nil {
		return count, err
	}
	for _, f := range slices.Concat(found, dead, heavy, elsewhere) {
		fmt.Fprintln(out, f)
		count++
	}
	return count, nil
}

// deadcode asks which functions neither this repository's programs nor the given one reach.
func deadcode(root, program string) ([]byte, error) {
	const folder = "bin/_public" // its name keeps it out of ./...
	if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, folder, "main.go"), []byte(program), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "tool", "deadcode", "-json", "-test=false", "./...", "./"+folder)
	var report, complaint bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &report, &complaint
	if err := cmd.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("go tool deadcode: %w", err), errors.New(complaint.String()))
	}
	return report.Bytes(), nil
}
