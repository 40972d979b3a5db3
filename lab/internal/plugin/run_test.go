package plugin_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/lab/internal/plugin"
)

// script makes a folder, starts another program that makes a file, and makes a file itself.
const script = `#!/bin/sh
mkdir "$DIR/folder"
(exec touch "$DIR/child") || echo child >"$DIR/lost"
echo text >"$DIR/file"
echo answer
`

// order is the script, to be run in this process's own namespaces.
func order(t *testing.T, dir string, tracer *plugin.Tracer) plugin.Order {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return plugin.Order{Path: path, Env: append(os.Environ(), "DIR="+dir), Netns: "/proc/self/ns/net", Tracer: tracer}
}

// left are the names in a folder.
func left(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// Goal: a kill before the n-th call leaves exactly what the calls before it have made, whichever process makes it.
// Method: every number there is, and what is in the folder afterwards.
func TestEveryKill(t *testing.T) {
	count := &plugin.Tracer{}
	out, err := plugin.Run(t.Context(), order(t, t.TempDir(), count))
	if err != nil || string(out.Stdout) != "answer" {
		t.Fatalf("%s, %v", out.Stdout, err)
	}
	calls := count.Calls()
	seen := map[string]bool{}
	for i := range calls {
		dir := t.TempDir()
		tracer := &plugin.Tracer{KillAt: i + 1}
		if _, err := plugin.Run(t.Context(), order(t, dir, tracer)); !errors.Is(err, plugin.ErrKilled) {
			t.Errorf("killed before %d, %s: %v", i+1, calls[i], err)
		}
		if got, _ := tracer.Killed(); got.Program != calls[i].Program {
			t.Errorf("killed before %s, want %s", got, calls[i])
		}
		seen[left(t, dir)] = true
	}
	for _, want := range []string{"", "folder", "child folder", "child file folder"} {
		if !seen[want] {
			t.Errorf("no kill leaves %q; %d calls: %v", want, len(calls), calls)
		}
	}
	if len(seen) != 4 {
		t.Errorf("kills leave %v", seen)
	}
}

// Goal: a kill of one program alone is seen by the one that it works for. Method: the kill of the script's child.
func TestKillAlone(t *testing.T) {
	count := &plugin.Tracer{}
	if _, err := plugin.Run(t.Context(), order(t, t.TempDir(), count)); err != nil {
		t.Fatal(err)
	}
	for i, c := range count.Calls() {
		if !strings.HasPrefix(c.What, "create") || !strings.HasSuffix(c.What, "/child") {
			continue
		}
		dir := t.TempDir()
		if _, err := plugin.Run(t.Context(), order(t, dir, &plugin.Tracer{KillAt: i + 1, Alone: true})); err != nil {
			t.Errorf("the script was killed too: %v", err)
		}
		if have := left(t, dir); have != "file folder lost" {
			t.Errorf("left %q", have)
		}
		return
	}
	t.Errorf("nobody makes the child's file: %v", count.Calls())
}

// Goal: what a program sees at a folder is what the mounts say, and the caller sees none of it. Method: one bind.
func TestMounts(t *testing.T) {
	dir, at := t.TempDir(), t.TempDir()
	o := order(t, at, nil)
	o.Binds = []plugin.Bind{{At: at, From: dir}}
	if _, err := plugin.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if have := left(t, dir) + "|" + left(t, at); have != "child file folder|" {
		t.Errorf("left %q", have)
	}
}

// Goal: a program that fails says so, traced or not. Method: one that exits with 3.
func TestFailure(t *testing.T) {
	for _, tracer := range []*plugin.Tracer{nil, {}} {
		o := order(t, t.TempDir(), tracer)
		if err := os.WriteFile(o.Path, []byte("#!/bin/sh\necho why >&2\nexit 3\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := plugin.Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), "exit status 3") || string(out.Stderr) != "why" {
			t.Errorf("%q, %v", out.Stderr, err)
		}
		if e := (*exec.ExitError)(nil); tracer == nil && !errors.As(err, &e) {
			t.Error(fmt.Errorf("%w is not the program's own", err))
		}
	}
}
