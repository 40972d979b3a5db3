package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is how long ago this machine's boot was, its sleep counted, by a clock that nobody sets; 0 where the kernel
// does not tell.
func uptime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
