package cmd

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// TestInVM goal: --in-vm runs the command line in a machine, whose exit code is the command's, whatever this machine
// lacks; inside it runs as any other, and the command that shows a run again has the flag. Method: a machine of five
// lines, once from outside and once from inside.
func TestInVM(t *testing.T) {
	var wrote []string
	inside := false
	c := config(nil)
	c.Worlds["netns"] = func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		r := resultOf(s, o, result.Pass)
		r.Error = o.Replay
		return r, nil
	}
	c.Checks = map[string]func(context.Context) error{"netns": func(context.Context) error {
		if inside {
			return nil
		}
		return errors.New("no root")
	}}
	c.VM = VM{Inside: func() bool { return inside }, Run: func(_ context.Context, write []string, out, _ io.Writer) error {
		wrote = write
		_, err := io.WriteString(out, "in the machine\n")
		return errors.Join(err, cli.Exit{Code: 1})
	}}
	dir := t.TempDir()
	line := []string{"run", "first", "--world", "netns", "--in-vm", "--out", filepath.Join(dir, "reports", "out")}
	code, out, errOut := execute(t, t.Context(), c, line...)
	if code != 1 || out != "in the machine\n" || errOut != "" || !slices.Equal(wrote, []string{filepath.Join(dir, "reports")}) {
		t.Errorf("outside: code %d, %q, %q, wrote %q", code, out, errOut, wrote)
	}
	if code, _, errOut := execute(t, t.Context(), c, "run", "frist", "--world", "netns", "--in-vm"); code != 2 || !strings.Contains(errOut, "frist") {
		t.Errorf("a name that is none: code %d, %q", code, errOut)
	}
	inside = true
	if code, out, errOut := execute(t, t.Context(), c, line...); code != 0 || !strings.Contains(out, "--world netns --in-vm --seed 1") {
		t.Errorf("inside: code %d, %q, %q", code, out, errOut)
	}
	for words, want := range map[string]int{
		"run first --in-vm": 2, "run first --in-vm --world container": 2, "run first --in-vm --world netns --check": 2,
		"run first --in-vm --world netns --watch": 2, "run first --in-vm --world netns --list": 2,
	} {
		if code, out, errOut := execute(t, t.Context(), c, strings.Fields(words)...); code != want || out != "" || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: code %d, %q, %q", words, code, out, errOut)
		}
	}
	inside = false
	if code, _, errOut := execute(t, t.Context(), c, "run", "first", "--in-vm", "--world", "netns", "--out", "/out"); code != 2 || !strings.Contains(errOut, "the root is not shared") {
		t.Errorf("--out /out: code %d, %q", code, errOut)
	}
	c.VM = VM{}
	if code, _, errOut := execute(t, t.Context(), c, "run", "first", "--in-vm", "--world", "netns"); code != 3 || !strings.Contains(errOut, "this build") {
		t.Errorf("a build without machines: code %d, %q", code, errOut)
	}
}
