package host

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// bootFile is where Linux tells the ID that it drew at its boot.
const bootFile = "/proc/sys/kernel/random/boot_id"

// BootID identifies this machine's boot.
func BootID() (string, error) {
	text, err := os.ReadFile(bootFile)
	if err != nil {
		return "", fmt.Errorf("boot ID: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// uptime is how long ago this machine's boot was, its sleep counted, by a clock that nobody sets; 0 where the kernel
// does not tell.
func uptime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
