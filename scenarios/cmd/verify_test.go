package cmd

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// TestVerifyTellsTheFirstDifference goal: a run that is not the same twice is told by its first differing event, both lines of it, and
// the class of what is behind it. Method: worlds that look at GOMAXPROCS, and one that counts its runs, as a clock would.
func TestVerifyTellsTheFirstDifference(t *testing.T) {
	runs := 0
	for name, c := range map[string]struct {
		line func(seq int64) string
		at   func() time.Duration
		want string
	}{
		"race":  {func(seq int64) string { return fmt.Sprint("line ", seq, seq >= 3 && runtime.GOMAXPROCS(0) > 1) }, nil, `the first event that differs is 3: "1s line 3 false" on one processor, "1s line 3 true" on several; on one processor it is always the same: goroutines race, about what happens at one instant`},
		"time":  {func(seq int64) string { return fmt.Sprint("line ", seq) }, func() time.Duration { return time.Duration(min(runtime.GOMAXPROCS(0), 2)) * time.Second }, `the first event that differs is 1: "1s line 1" on one processor, "2s line 1" on several; on one processor it is always the same: goroutines race, about when the same thing happens`},
		"clock": {func(seq int64) string { return fmt.Sprint("line ", seq, " ", runs) }, nil, `the first event that differs is 1: "1s line 1 2" on several processors; on one processor it is another each time, now "1s line 1 3": something beside the seed decides (map order, a clock, chance)`},
	} {
		runs = 0
		c2 := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
			runs++
			r := resultOf(s, o, result.Pass)
			for seq := int64(1); seq <= 5; seq++ {
				at := time.Second
				if c.at != nil {
					at = c.at()
				}
				line := c.line(seq)
				r.Digest += line + at.String()
				o.Events(seq, at, []byte(line))
			}
			r.Events = 5
			return r, nil
		})
		code, out, _ := execute(t, t.Context(), c2, "run", "first", "--verify")
		if code != 2 || !strings.Contains(out, c.want) {
			t.Errorf("%s: code %d, printed\n%s\nwant %s", name, code, out, c.want)
		}
	}
}

// TestInterruptIsHeard goal: an interrupt ends a command within a tenth of a second even where a run never looks at its context.
// Method: a world that sleeps, and the command's own time.
func TestInterruptIsHeard(t *testing.T) {
	free := make(chan struct{})
	c := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		<-free
		return resultOf(s, o, result.Pass), nil
	})
	for _, line := range [][]string{{"run", "--catalog"}, {"explore", "first"}, {"experiment", "first", "--seeds", "1", "--out", t.TempDir()}} {
		ctx, interrupt := context.WithCancel(t.Context())
		var at time.Time
		time.AfterFunc(20*time.Millisecond, func() { at = time.Now(); interrupt() })
		code, _, errOut := execute(t, ctx, c, line...)
		if d := time.Since(at); code != 130 || d > time.Second || !strings.Contains(errOut, "interrupted") { // the bound is interruptGrace; the rest is a slow machine's
			t.Errorf("%v: code %d after %s: %s", line, code, d, errOut)
		}
	}
	close(free)
}

// TestInterruptWhileReading goal: an interrupt ends a command also while what it reads says nothing. Method: a pipe that nobody writes to.
func TestInterruptWhileReading(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	name := "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	if _, err := os.Stat(name); err != nil {
		t.Skip("no files of open pipes here")
	}
	c := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		return resultOf(s, o, result.Pass), nil
	})
	for _, line := range [][]string{{"run", name}, {"explore", name}, {"experiment", name, "--seeds", "1", "--out", t.TempDir()}} {
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, interrupt)
		if code, _, errOut := execute(t, ctx, c, line...); code != 130 || !strings.Contains(errOut, "interrupted") {
			t.Errorf("%v: code %d: %s", line, code, errOut)
		}
	}
}
