package vppproc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Goal: a VPP that hangs is told from one that exits, each with what it said last. Method: programs that do the one and
// the other.
func TestHangsOrExits(t *testing.T) {
	for script, want := range map[string]string{
		"echo warming up; exec sleep 60":       "hangs: its process runs and does not answer on ",
		"kill -ILL $$":                         "is built for another processor than this one (signal: illegal instruction",
		"echo no hugepages at all >&2; exit 3": "ended while it started (exit status 3): no hugepages at all",
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "vpp")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Start(ctx, Config{Binary: program, Dir: dir}); !errors.Is(err, ErrCannotRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
}
