//go:build unix

package cmd

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// addressSpace is how many bytes of addresses this process may have; 0 is no limit.
func addressSpace() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= math.MaxInt64 {
		return 0
	}
	return limit.Cur
}

// processorTime is what this process has used, 0 where unknown.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
