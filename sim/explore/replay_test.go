package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
)

// packed is an Explorer and a capsule of its own.
func packed(t *testing.T) (explore.Explorer, *explore.Capsule) {
	t.Helper()
	x := explore.Explorer{Version: "v1", Run: under(restarts)}
	s := parse(t, restarting)
	c, err := x.Smallest(context.Background(), s, failing(t, x.Run, s), nil)
	if err != nil {
		t.Fatal(err)
	}
	return x, c
}

// Goal: a replay says what is not as the capsule says. Method: a good capsule with one thing changed.
func TestReplayDiffers(t *testing.T) {
	x, good := packed(t)
	for _, test := range []struct {
		name   string
		change func(c *explore.Capsule)
		want   string
	}{
		{"nothing", func(*explore.Capsule) {}, ""},
		{"law", func(c *explore.Capsule) { c.Failure.Law = "one-owner" }, "the broken law is unreasonable instead of one-owner"},
		{"event", func(c *explore.Capsule) { c.Failure.Event++ },
			fmt.Sprintf("the first bad event is %d instead of %d", good.Failure.Event, good.Failure.Event+1)},
		{"line", func(c *explore.Capsule) { c.Failure.Line = "x" }, `instead of "x"`},
		{"digest", func(c *explore.Capsule) { c.Digest[0]++ }, "the digest is " + good.Digest.String()},
		{"verdict", func(c *explore.Capsule) { c.Verdict = result.Pass }, "the verdict is fail instead of pass"},
		{"scenario", func(c *explore.Capsule) { c.Scenario = parse(t, "name: quiet\n") }, "no law was broken, instead of unreasonable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := *good
			test.change(&c)
			r, err := x.Replay(context.Background(), []byte(c.String()), 0, sim.Options{Replay: "vppdrill replay x"})
			if test.want == "" {
				if err != nil || r.Verdict != result.Fail || r.Replay != "vppdrill replay x" {
					t.Errorf("%v, %+v", err, r)
				}
				return
			}
			if !errors.As(err, new(*explore.DifferError)) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
			if r.Events == 0 {
				t.Error("the result is not told")
			}
		})
	}
}

// Goal: until ends a replay, and listeners hear every event before and none behind. Method: each event of the run.
func TestReplayUntil(t *testing.T) {
	x, c := packed(t)
	for until := int64(1); until <= c.Failure.Event+1; until++ {
		last := int64(0)
		r, err := x.Replay(context.Background(), []byte(c.String()), until, sim.Options{
			Events: func(seq int64, _ time.Duration, _ []byte) {
				if seq != last+1 {
					t.Errorf("event %d behind %d", seq, last)
				}
				last = seq
			},
		})
		want := min(until, c.Failure.Event)
		if err != nil || last != want || r.Events != want {
			t.Fatalf("until %d: %d events told, %d in the result, %v", until, last, r.Events, err)
		}
		if broken := r.Verdict == result.Fail; broken != (until >= c.Failure.Event) {
			t.Errorf("until %d: %s", until, r.Verdict)
		}
	}
	c.Failure.Event += 1000
	_, err := x.Replay(context.Background(), []byte(c.String()), c.Failure.Event-1, sim.Options{})
	if !errors.As(err, new(*explore.DifferError)) {
		t.Errorf("a run that ends too early: %v", err)
	}
}
