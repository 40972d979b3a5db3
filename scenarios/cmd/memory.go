package cmd

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

// MemoryLimit is how many bytes this process may use and what says so: the least of GOMEMLIMIT, its cgroups' limits,
// RLIMIT_AS and the machine's memory. It looks once at what does not change while it runs.
func MemoryLimit() (bytes uint64, by string) {
	return memoryLimit(os.DirFS("/"), os.Getenv("GOMEMLIMIT") != "")
}

// memoryLimit looks into a file system's /proc and /sys. asked: GOMEMLIMIT is set.
func memoryLimit(root fs.FS, asked bool) (bytes uint64, by string) {
	bytes = math.MaxUint64
	take := func(n uint64, name string) {
		if n > 0 && n < bytes {
			bytes, by = n, name
		}
	}
	if asked {
		take(uint64(debug.SetMemoryLimit(-1)), "GOMEMLIMIT")
	}
	if limit := addressSpace(); limit > 0 {
		take(limit-min(limit-1, reserved(root)), "ulimit -v")
	}
	cgroups, _ := fs.ReadFile(root, "proc/self/cgroup") // a machine without cgroups has no limit of theirs
	for line := range strings.Lines(string(cgroups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		if slices.Contains(strings.Split(fields[1], ","), "memory") {
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if fields[1] != "" {
			continue
		}
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			text, _ := fs.ReadFile(root, path.Join(base, dir, file)) // not every level has one, and "max" is no number
			if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && n < math.MaxInt64/2 {
				take(n, "cgroup "+dir)
			}
			if dir == "/" {
				break
			}
		}
	}
	info, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(info)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			if kilobytes, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil {
				take(kilobytes<<10, "this machine")
			}
		}
	}
	return bytes, by
}

// reserved is how much of its address space the process has given away to what is no heap: its file, and what Go's
// runtime keeps for its tables. It counts against RLIMIT_AS, which is most of a gigabyte before anything runs.
func reserved(root fs.FS) uint64 {
	status, _ := fs.ReadFile(root, "proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmSize:"); ok {
			if kilobytes, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil {
				size, heap := kilobytes<<10, readMetrics("/memory/classes/total:bytes")[0]
				return size - min(size, heap)
			}
		}
	}
	return 0
}

// keepTo lets the collector work harder before the address space ends, where that is what ends first: without a word
// from the runtime, the program would die at half of it, since the heap is allowed to double.
func keepTo(bytes uint64, by string) {
	if by == "ulimit -v" {
		debug.SetMemoryLimit(int64(min(uint64(usable*float64(bytes)), math.MaxInt64)))
	}
}

// What a simulated cluster needs while it lives, measured as live heap of clusters of 300 and 800 nodes with 10 pods
// each (230 MiB and 1.3 GiB) and of 300 with 100 (558 MiB): a full mesh has a tunnel, its routes and neighbors for each
// pair of nodes.
const (
	bytesAlways  = 20 << 20
	bytesLeast   = 64 << 20 // the runtime takes memory in pieces of this size
	bytesPerPair = 2000
	bytesPerPod  = 12500
	// bytesUnwired is that of a pod in a cluster without wiring (config.wiring.pod none), its share of a node of 30 included: 10,000 such
	// nodes take 2.3 GiB.
	bytesUnwired = 8000
	// bytesPerChurned is what stays of a pod that has come and gone: 100,000 of them within 100 s leave 370 MiB.
	bytesPerChurned = 2800
)

// needs is about how many bytes a scenario's run needs.
func needs(s *scenarios.Scenario) uint64 { return needsOf(s, uint64(s.Topology.Nodes)) }

func needsOf(s *scenarios.Scenario, nodes uint64) uint64 {
	if s.Config.Wiring.Pod == scenarios.PodNone {
		return bytesAlways + nodes*uint64(s.Topology.PodsPerNode+1)*bytesUnwired + churned(s)*bytesPerChurned
	}
	return bytesAlways + nodes*nodes*bytesPerPair + nodes*uint64(s.Topology.PodsPerNode)*bytesPerPod + churned(s)*bytesPerChurned
}

// churned is about how many pods a scenario's churn makes.
func churned(s *scenarios.Scenario) uint64 {
	if !s.Churn.On() {
		return 0
	}
	until := s.Churn.Until
	if until == 0 {
		until = s.BreakEnd()
	}
	return uint64(max(0, until-s.Churn.From) / s.Churn.Every)
}

// usable is how much of a limit a live heap may take: the rest is the collector's room and what is not heap.
const usable = 0.75

// forecast says before anything runs that the largest runs that may happen at one time need more memory than there is,
// and what would fit; "" where all fit.
func (b *batch) forecast() string {
	limit, by := MemoryLimit()
	keepTo(limit, by)
	return forecast(b.tasks, b.jobs, limit, by)
}

func forecast(tasks []task, jobs int, limit uint64, by string) string {
	if len(tasks) == 0 {
		return ""
	}
	if limit < bytesLeast {
		return fmt.Sprintf("%s of memory are there (%s), which may end any run: %s would do", gib(limit), by, gib(bytesLeast))
	}
	sorted := slices.Clone(tasks)
	slices.SortStableFunc(sorted, func(x, y task) int { return cmp.Compare(needs(y.s), needs(x.s)) })
	room, together := uint64(usable*float64(limit)), uint64(0)
	fit := 0
	for i, t := range sorted[:min(jobs, len(sorted))] {
		together += needs(t.s)
		if together <= room {
			fit = i + 1
		}
	}
	largest := sorted[0].s
	switch {
	case together <= room:
		return ""
	case fit > 0:
		return fmt.Sprintf("%d runs at a time may need %s of memory and %s are there (%s): --jobs %d fits", min(jobs, len(sorted)), gib(together), gib(limit), by, fit)
	}
	if pods := churned(largest); pods*bytesPerChurned > needs(largest)/2 {
		return fmt.Sprintf("%s may need %s of memory and %s are there (%s): its churn makes %d pods, and about %d fit", largest.Name,
			gib(needs(largest)), gib(limit), by, pods, room/bytesPerChurned)
	}
	nodes := uint64(largest.Topology.Nodes)
	for nodes > 1 && needsOf(largest, nodes) > room {
		nodes -= max(1, nodes/100)
	}
	return fmt.Sprintf("%s may need %s of memory and %s are there (%s): about %d of its %d nodes fit", largest.Name, gib(needs(largest)), gib(limit), by, nodes, largest.Topology.Nodes)
}

func gib(n uint64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// memoryWatch says once when what lives comes near the limit, before the collector can find nothing more to give back.
type memoryWatch struct {
	limit uint64
	by    string
	told  bool
	// live is how much lives, as the collector last saw it.
	live func() uint64
}

func newMemoryWatch() memoryWatch {
	limit, by := MemoryLimit()
	return memoryWatch{limit: limit, by: by, live: liveBytes}
}

// look is what there is to say of the runs under way; "" nearly always.
func (m *memoryWatch) look(runs []*running) string {
	if m.told || m.live == nil {
		return ""
	}
	live := m.live()
	if float64(live) < usable*float64(m.limit) {
		return ""
	}
	m.told = true
	text := fmt.Sprintf("%s of memory are in use and %s are there (%s)", gib(live), gib(m.limit), m.by)
	if len(runs) == 0 {
		return text
	}
	var names []string
	largest := runs[0]
	for _, r := range runs {
		names = append(names, r.where())
		if r.nodes > largest.nodes {
			largest = r
		}
	}
	text += ": " + strings.Join(names, ", ")
	if len(runs) > 1 {
		return text + fmt.Sprintf("; --jobs %d would fit", max(1, len(runs)/2))
	}
	fit := float64(largest.nodes) * math.Sqrt(usable) // a mesh needs the square of its nodes; a quarter stays for what time adds
	return text + fmt.Sprintf("; about %d of its %d nodes would fit", max(1, int(fit)), largest.nodes)
}

// heldBytes is how much memory the program holds, liveBytes how much of it the collector found in use last.
func heldBytes() uint64 {
	m := readMetrics("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	return m[0] - m[1]
}

func liveBytes() uint64 { return readMetrics("/gc/heap/live:bytes")[0] }

func readMetrics(names ...string) (values []uint64) {
	samples := make([]metrics.Sample, len(names))
	for i, n := range names {
		samples[i].Name = n
	}
	metrics.Read(samples)
	for _, s := range samples {
		values = append(values, s.Value.Uint64())
	}
	return values
}
