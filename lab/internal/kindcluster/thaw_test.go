package kindcluster

import (
	"os"
	"path/filepath"
	"testing"
)

// Goal: a container's freezer is found in both kinds of control groups, also for a process in a group below the container's.
func TestFrozen(t *testing.T) {
	for name, test := range map[string]struct{ groups, want string }{
		"hierarchies": {"11:pids:/docker/abc/init.scope\n7:freezer:/docker/abc/kubelet.slice\n1:name=systemd:/docker/abc/init.scope\n", cgroups + "/freezer/docker/abc"},
		"one":         {"0::/system.slice/docker-abc.scope/init.scope\n", cgroups + "/system.slice/docker-abc.scope"},
		"at the top":  {"0::/docker/abc\n", cgroups + "/docker/abc"},
		"another's":   {"0::/docker/xyz\n", ""},
		"own space":   {"0::/\n", ""},
	} {
		if got := frozen(test.groups, "abc"); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Goal: everything below is let go on, and nothing else is written.
func TestThawBelow(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"freezer.state", "a/b/freezer.state", "a/cgroup.freeze", "a/cgroup.procs"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte("FROZEN"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	thawBelow(dir)
	for file, want := range map[string]string{"freezer.state": "THAWED", "a/b/freezer.state": "THAWED", "a/cgroup.freeze": "0", "a/cgroup.procs": "FROZEN"} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", file, got, err)
		}
	}
}
