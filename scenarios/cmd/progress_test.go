package cmd

import (
	"testing"
	"time"
)

// Goal: the pace of slow and fast work reads sanely, and an estimate is none before there is something to estimate by.
// Method: a table.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		done, total float64
		elapsed     time.Duration
		want        string
	}{
		{0, 10, time.Minute, ""},
		{0.4, 10, time.Minute, ""},
		{3, 90, 100 * time.Second, ", 33s a run, about 48m20s left"}, // 0.03 runs/s
		{100, 400, 10 * time.Second, ", 10.0 runs/s, about 30s left"},
		{10, 10, 5 * time.Second, ", 2.0 runs/s"},
		{1, 5000, 90 * time.Second, ", 1m30s a run, about 5d04h left"},
		{1.5, 3, 0, ""},
		{999, 1000, 10 * time.Second, ", 99.9 runs/s, about 1s left"},
	} {
		if got := pace(c.done, c.total, c.elapsed); got != c.want {
			t.Errorf("%v of %v after %v: %q, want %q", c.done, c.total, c.elapsed, got, c.want)
		}
	}
}
