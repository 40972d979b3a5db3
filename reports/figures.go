package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// clock writes seconds of virtual time the way people say them: 0s, 250ms, 12.5s, 1m30s, 2h05m, 31d4h. Three digits
// are enough to find a place on an axis; moment is exact.
func clock(s float64) string {
	switch {
	case math.IsNaN(s) || math.IsInf(s, 0):
		return "?"
	case s < 0:
		return "-" + clock(-s)
	case s == 0:
		return "0s"
	case s < 0.0009995:
		return trimZeros(strconv.FormatFloat(s*1e6, 'f', 0, 64)) + "us"
	case s < 0.9995:
		return trimZeros(strconv.FormatFloat(s*1e3, 'f', 1, 64)) + "ms"
	case s < 59.9995:
		return trimZeros(strconv.FormatFloat(s, 'f', 3, 64)) + "s"
	case s < 3599.5:
		n := int64(math.Round(s))
		return fmt.Sprintf("%dm%02ds", n/60, n%60)
	case s < 86370:
		n := int64(math.Round(s / 60))
		return fmt.Sprintf("%dh%02dm", n/60, n%60)
	}
	n := int64(math.Round(s / 3600))
	return fmt.Sprintf("%dd%02dh", n/24, n%24)
}

// moment writes an instant of virtual time to the microsecond, for places to go to: 1m12.5s.
func moment(s float64) string {
	if math.IsNaN(s) || math.Abs(s) > 9e9 { // beyond what a Duration holds, 292 years
		return clock(s)
	}
	return time.Duration(math.Round(s*1e6) * 1e3).String()
}

// trimZeros drops zeros behind the decimal point, and the point with them.
func trimZeros(number string) string {
	if !strings.Contains(number, ".") {
		return number
	}
	return strings.TrimRight(strings.TrimRight(number, "0"), ".")
}

// thousands groups a count's digits by threes: 1,234,567.
func thousands[T int | int64 | uint64](n T) string {
	digits := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	head := len(digits) % 3
	groups := []string{}
	if head > 0 {
		groups = append(groups, digits[:head])
	}
	for i := head; i < len(digits); i += 3 {
		groups = append(groups, digits[i:i+3])
	}
	return sign + strings.Join(groups, ",")
}

// bytesText is a size in the largest binary unit that leaves at least 1.
func bytesText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		f /= 1024
		if f < 1024 || unit == "GiB" {
			return trimZeros(strconv.FormatFloat(f, 'f', 1, 64)) + " " + unit
		}
	}
	return ""
}

// short cuts a name to at most n characters, so that it keeps to its column.
func short(name string, n int) string {
	r := []rune(name)
	if len(r) <= n {
		return name
	}
	return string(r[:n-1]) + "…"
}
