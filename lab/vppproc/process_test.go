package vppproc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// realVPP skips a test by name where there is no VPP or no root.
func realVPP(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: VPP's AF_PACKET interfaces")
	}
	path, err := vppproc.Find("")
	if err != nil {
		t.Skip("needs VPP: " + err.Error())
	}
	return path
}

// Goal: a VPP starts, is what labs need, boots, dies by Kill and by Stop, and leaves no process. Method: one VPP
// without links.
func TestStartStop(t *testing.T) {
	binary := realVPP(t)
	for _, end := range []func(*vppproc.Process){(*vppproc.Process).Kill, (*vppproc.Process).Stop} {
		dir := t.TempDir()
		p, err := vppproc.Start(context.Background(), vppproc.Config{Binary: binary, Dir: dir, Boot: []string{"create loopback interface instance 7"},
			Env: []string{spawn.Mark("test-vppproc")}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Dial()
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.CLI(context.Background(), "show interface")
		if err != nil || !strings.Contains(text, "loop7") {
			t.Errorf("%q, %v", text, err)
		}
		plugins, err := c.Plugins(context.Background())
		if err != nil || !slices.Contains(plugins, "af_packet") || slices.Contains(plugins, "dpdk") {
			t.Errorf("plugins %v, %v", plugins, err)
		}
		c.Close()
		if left := sharedMemory(t, dir); len(left) > 0 {
			t.Errorf("shared memory with names, which a VPP that is killed leaves: %v", left)
		}
		end(p)
		if _, err := os.Lstat(filepath.Join(dir, vppproc.APISocketFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the API socket outlived VPP: %v", err)
		}
	}
	if left := spawn.Marked("test-vppproc"); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

// sharedMemory is what there is of the names that the VPP in a folder was told to use.
func sharedMemory(t *testing.T, dir string) []string {
	t.Helper()
	conf, err := os.ReadFile(filepath.Join(dir, vppproc.ConfFile))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(conf), "api-segment {\n  prefix ")
	prefix, _, ended := strings.Cut(rest, "\n")
	if !found || !ended || prefix == "" {
		t.Fatalf("VPP has no shared memory of its own name:\n%s", conf)
	}
	left, err := filepath.Glob("/dev/shm/" + prefix + "*")
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// Goal: a VPP that cannot serve is one line of ErrCannotRun, and nothing of it runs on. Method: programs that are no
// VPP, and boot commands that VPP refuses.
func TestTroubles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	dies := write("dies", "#!/bin/sh\necho no such option\nexit 1\n", 0o755)
	plain := write("plain", "x", 0o644)
	_, err := vppproc.Start(context.Background(), vppproc.Config{Binary: dies, Dir: t.TempDir()})
	if !errors.Is(err, vppproc.ErrCannotRun) || !strings.Contains(err.Error(), "no such option") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a program that ends: %v", err)
	}
	for _, named := range []string{plain, filepath.Join(dir, "nothing")} {
		if _, err := vppproc.Find(named); !errors.Is(err, vppproc.ErrCannotRun) || !strings.Contains(err.Error(), named) {
			t.Errorf("%s: %v", named, err)
		}
	}
	t.Setenv(vppproc.Environment, plain)
	if _, err := vppproc.Find(""); !errors.Is(err, vppproc.ErrCannotRun) || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a file that is no program: %v", err)
	}
	t.Setenv(vppproc.Environment, "")
	_, err = vppproc.Start(context.Background(), vppproc.Config{Binary: realVPP(t), Dir: t.TempDir(), Boot: []string{"create nonsense"},
		Env: []string{spawn.Mark("test-troubles")}})
	if err == nil || !strings.Contains(err.Error(), "create nonsense") {
		t.Errorf("a bad boot command: %v", err)
	}
	if left := spawn.Marked("test-troubles"); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}
