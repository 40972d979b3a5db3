package cmd

import (
	"time"

	"golang.org/x/sys/windows"
)

// addressSpace is how many bytes of addresses this process may have: Windows limits none.
func addressSpace() uint64 { return 0 }

// processorTime is what this process has used, 0 where unknown.
func processorTime() time.Duration {
	var began, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &began, &ended, &kernel, &user) != nil {
		return 0
	}
	return ticks(kernel) + ticks(user)
}

// ticks is a length of time as Windows counts it, in steps of 100 ns.
func ticks(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
