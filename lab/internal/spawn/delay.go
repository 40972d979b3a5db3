package spawn

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Delay counts how long the threads of a process wait for a processor while they could run: its scheduling delay. The
// kernel adds a wait when it is over, so that a thread that gets no processor at all would not show: what it has waited
// since the looks before counts too.
type Delay struct {
	pid   int
	stuck map[string]stuck
}

// stuck is since when a thread, by its folder, was seen able to run without getting a processor; slices is how often it
// had got one.
type stuck struct {
	since  time.Time
	slices int64
}

// DelayOf begins to count for a process.
func DelayOf(pid int) *Delay { return &Delay{pid: pid, stuck: map[string]stuck{}} }

// Until is how long the process has waited until now, since it began; 0 where it is gone or the kernel does not count.
func (d *Delay) Until(now time.Time) (sum time.Duration) {
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(d.pid) + "/task/*")
	if err != nil {
		panic(err) // the pattern is a good one
	}
	for _, thread := range threads {
		counts, _ := os.ReadFile(thread + "/schedstat") // of a thread that has ended there is nothing
		waited, slices := parseDelay(string(counts))
		sum += waited
		stat, _ := os.ReadFile(thread + "/stat")
		_, state, err := parseStat(string(stat))
		before, seen := d.stuck[thread]
		switch {
		case err != nil || state != "R":
			delete(d.stuck, thread)
		case seen && before.slices == slices:
			sum += now.Sub(before.since)
		default:
			d.stuck[thread] = stuck{now, slices}
		}
	}
	return sum
}

// parseDelay reads a thread's schedstat (Documentation/scheduler/sched-stats.rst): nanoseconds on a processor,
// nanoseconds of waiting for one, and how often it got one.
func parseDelay(text string) (waited time.Duration, slices int64) {
	f := strings.Fields(text)
	if len(f) != 3 {
		return 0, 0
	}
	n, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return 0, 0
	}
	slices, _ = strconv.ParseInt(f[2], 10, 64) // the kernel writes numbers
	return time.Duration(n), slices
}
