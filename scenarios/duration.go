package scenarios

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// day is 24 hours: scenario time knows no calendar.
const day = 24 * time.Hour

var errDuration = errors.New("not a duration such as 10s, 5m, 1h30m or 3d")

// ParseDuration reads Go's syntax with a leading number of days: "31d", "1d12h", "1h30m", "250ms", "0".
func ParseDuration(text string) (time.Duration, error) {
	rest, negative := strings.CutPrefix(text, "-")
	var days time.Duration
	if head, tail, ok := strings.Cut(rest, "d"); ok {
		n, err := strconv.ParseUint(head, 10, 32)
		if err != nil || n > uint64(math.MaxInt64/day) {
			return 0, errDuration
		}
		days, rest = time.Duration(n)*day, tail
		if rest == "" {
			rest = "0"
		}
	}
	if rest == "" || rest[0] == '-' || rest[0] == '+' {
		return 0, errDuration
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d > math.MaxInt64-days {
		return 0, errDuration
	}
	if negative {
		return -(days + d), nil
	}
	return days + d, nil
}

// FormatDuration is the shortest text of whole units that ParseDuration reads back: 1d12h, 1h30m, 5m, 10s, 250ms.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	if d == math.MinInt64 {
		return d.String()
	}
	var b []byte
	if d < 0 {
		b, d = append(b, '-'), -d
	}
	for _, unit := range [...]struct {
		size time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if n := d / unit.size; n > 0 {
			b = append(strconv.AppendInt(b, int64(n), 10), unit.name...)
			d -= n * unit.size
		}
	}
	if d > 0 {
		b = append(b, d.String()...)
	}
	return string(b)
}
