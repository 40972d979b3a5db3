//go:build !linux

package host

import "time"

// uptime is not known here: agents run on Linux.
func uptime() time.Duration { return 0 }
