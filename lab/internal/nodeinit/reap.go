package nodeinit

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reapAge is how long a dead child is left to whoever started it: only what nobody waits for is this process's as the
// first of its container. A process that ended is waited for within microseconds.
const reapAge = time.Second

// reap waits for dead children that nobody else waits for: those whose parents in the container have died.
func reap(ctx context.Context) {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	defer signal.Stop(died)
	since := map[int]time.Time{}
	for {
		var again <-chan time.Time
		if len(since) > 0 {
			again = time.After(reapAge)
		}
		select {
		case <-ctx.Done():
			return
		case <-died:
		case <-again:
		}
		dead := zombies()
		for _, pid := range dead {
			first, known := since[pid]
			switch {
			case !known:
				since[pid] = time.Now()
			case time.Since(first) >= reapAge:
				_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // somebody may have been faster
			}
		}
		maps.DeleteFunc(since, func(pid int, _ time.Time) bool { return !slices.Contains(dead, pid) })
	}
}

// zombies are this process's children that have ended and that nobody has waited for.
func zombies() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		if parent, dead := parseStat(string(stat)); dead && parent == os.Getpid() {
			out = append(out, pid)
		}
	}
	return out
}

// parseStat finds state and parent behind the name, which may hold anything (proc_pid_stat(5)).
func parseStat(stat string) (parent int, dead bool) {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(f[1])
	return parent, err == nil && f[0] == "Z"
}
