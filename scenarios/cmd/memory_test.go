package cmd

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vppdrill/vppdrill/scenarios"
)

// TestMemoryLimit goal: the least of all limits is found with its name, at whatever level of either kind of cgroup it stands. Method: file
// systems as such machines show them.
func TestMemoryLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	machine := file("MemTotal:       16777216 kB\nMemFree: 5 kB\n")
	cases := map[string]struct {
		files fstest.MapFS
		bytes uint64
		by    string
	}{
		"no cgroup":           {fstest.MapFS{"proc/meminfo": machine}, 16 << 30, "this machine"},
		"cgroup v2":           {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("1073741824\n")}, 1 << 30, "cgroup /a/b"},
		"a parent's is less":  {fstest.MapFS{"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("max\n"), "sys/fs/cgroup/a/memory.max": file("4096\n")}, 4096, "cgroup /a"},
		"cgroup v1":           {fstest.MapFS{"proc/self/cgroup": file("5:cpu:/x\n4:cpuacct,memory:/c\n"), "sys/fs/cgroup/memory/c/memory.limit_in_bytes": file("8192\n")}, 8192, "cgroup /c"},
		"v1 without a limit":  {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("4:memory:/c\n"), "sys/fs/cgroup/memory/c/memory.limit_in_bytes": file("9223372036854771712\n")}, 16 << 30, "this machine"},
		"of a container root": {fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("12345\n")}, 12345, "cgroup /"},
	}
	for name, c := range cases {
		if bytes, by := memoryLimit(c.files, false); bytes != c.bytes || by != c.by {
			t.Errorf("%s: %d by %q, want %d by %q", name, bytes, by, c.bytes, c.by)
		}
	}
}

// TestMemoryIsForetold goal: what does not fit is said before it runs, with what would, and said once when a run comes near the limit.
// Method: scenarios of known sizes against limits; a heap that grows.
func TestMemoryIsForetold(t *testing.T) {
	of := func(nodes int) task {
		s := scenarios.Default()
		s.Name, s.Topology.Nodes, s.Topology.PodsPerNode = "mesh", nodes, 10
		return task{s: &s, seed: 1}
	}
	for _, c := range []struct {
		tasks []task
		jobs  int
		limit uint64
		want  string
	}{
		{nil, 4, 1 << 20, ""},
		{[]task{of(800)}, 4, 5 << 30, ""},
		{[]task{of(2)}, 1, 32 << 20, "32 MiB of memory are there (x), which may end any run: 64 MiB would do"},
		{[]task{of(800)}, 1, 1 << 30, "mesh may need 1.3 GiB of memory and 1.0 GiB are there (x): about 593 of its 800 nodes fit"},
		{[]task{of(800), of(800), of(800)}, 3, 5 << 30, "3 runs at a time may need 3.9 GiB of memory and 5.0 GiB are there (x): --jobs 2 fits"},
	} {
		if got := forecast(c.tasks, c.jobs, c.limit, "x"); got != c.want {
			t.Errorf("%d runs, %d jobs, limit %d:\n%q, want\n%q", len(c.tasks), c.jobs, c.limit, got, c.want)
		}
	}
	live := uint64(1 << 30)
	m := memoryWatch{limit: 4 << 30, by: "x", live: func() uint64 { return live }}
	one := []*running{{name: "mesh", nodes: 800}}
	if text := m.look(one); text != "" {
		t.Errorf("at a quarter: %q", text)
	}
	live = 3 << 30
	if text := m.look(one); !strings.Contains(text, "3.0 GiB of memory are in use and 4.0 GiB are there (x): mesh; about 692 of its 800 nodes would fit") {
		t.Errorf("at three quarters: %q", text)
	}
	if text := m.look(one); text != "" {
		t.Errorf("again: %q", text)
	}
}
