package spawn

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// reapAge is how long a dead child is left to whoever started it: only what nobody waits for is this process's as the
// first of all. A process that ended is waited for within microseconds.
const reapAge = time.Second

// Reap waits for dead children that nobody else waits for: those whose parents have died and left them to this process,
// the first of a container or a machine.
func Reap(ctx context.Context) {
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
		if orphaned(string(stat), os.Getpid()) {
			out = append(out, pid)
		}
	}
	return out
}

// orphaned reports whether a process's stat is that of a dead child of the process with that number.
func orphaned(stat string, parent int) bool {
	f := statFields(stat)
	return len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(parent)
}
