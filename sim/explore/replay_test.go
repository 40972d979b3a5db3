package explore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
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
		{"verdict", func(c *explore.Capsule) { c.Verdict = scenarios.Pass }, "the verdict is fail instead of pass"},
		{"scenario", func(c *explore.Capsule) { c.Scenario = parse(t, "name: quiet\n") }, "no law was broken, instead of unreasonable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := *good
			test.change(&c)
			r, err := x.Replay(context.Background(), []byte(c.String()), 0, sim.Options{Replay: "vppdrill replay x"})
			if test.want == "" {
				if err != nil || r.Verdict != scenarios.Fail || r.Replay != "vppdrill replay x" {
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
		if broken := r.Verdict == scenarios.Fail; broken != (until >= c.Failure.Event) {
			t.Errorf("until %d: %s", until, r.Verdict)
		}
	}
	c.Failure.Event += 1000
	_, err := x.Replay(context.Background(), []byte(c.String()), c.Failure.Event-1, sim.Options{})
	if !errors.As(err, new(*explore.DifferError)) {
		t.Errorf("a run that ends too early: %v", err)
	}
}

// flaky runs like the simulator, but changes the line of one event, or all from one on, in every second run.
func flaky(first int64, end bool) explore.Run {
	runs := 0
	return func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (scenarios.Result, error) {
		runs++
		events := o.Events
		if events != nil && runs%2 == 0 {
			o.Events = func(seq int64, at time.Duration, line []byte) {
				if seq == first {
					line = append(bytes.ToUpper(line), '!')
				}
				if !end || seq < first {
					events(seq, at, line)
				}
			}
		}
		return sim.Run(ctx, s, o)
	}
}

// Goal: two runs of one seed are compared event by event, and the first difference is named with both lines. Method: a run
// that is made to differ at one event, or to end there.
func TestVerify(t *testing.T) {
	s := parse(t, restarting)
	var x explore.Explorer
	r, err := x.Verify(context.Background(), s, 3, nil)
	if err != nil || r.Verdict != scenarios.Pass {
		t.Fatalf("%v, %s", err, r.Error)
	}
	for _, event := range []int64{1, 100, r.Events} {
		for _, end := range []bool{false, true} {
			x.Run = flaky(event, end)
			_, err := x.Verify(context.Background(), s, 3, nil)
			var d *explore.Divergence
			if !errors.As(err, &d) || d.Event != event || d.First == "" || (d.Second == "") != end {
				t.Errorf("event %d, end %v: %v", event, end, err)
			}
			if !end && d != nil && !strings.EqualFold(d.First+"!", d.Second) {
				t.Errorf("lines %q and %q", d.First, d.Second)
			}
		}
	}
}

// Goal: every end of two runs side by side is told. Method: runs written by hand.
func TestLockstep(t *testing.T) {
	boom := errors.New("no such world")
	run := func(lines string, r scenarios.Result, err error) explore.Start {
		return func(_ context.Context, events func(int64, time.Duration, []byte)) (scenarios.Result, error) {
			for i := range lines {
				events(int64(i+1), time.Duration(i), []byte(lines[i:i+1]))
			}
			r.Events = int64(len(lines))
			return r, err
		}
	}
	var none scenarios.Result
	for _, test := range []struct {
		name          string
		first, second explore.Start
		want          string
	}{
		{"equal", run("abc", none, nil), run("abc", none, nil), ""},
		{"empty", run("", none, nil), run("", none, nil), ""},
		{"another line", run("abc", none, nil), run("axc", none, nil), `differ from event 2 on: "1ns b" and "1ns x"`},
		{"second is shorter", run("abc", none, nil), run("ab", none, nil), `differ from event 3 on: "2ns c" and the end`},
		{"first is shorter", run("ab", none, nil), run("abc", none, nil), `differ from event 3 on: the end and "2ns c"`},
		{"first cannot start", run("", none, boom), run("abc", none, nil), "no such world"},
		{"second cannot start", run("abc", none, nil), run("", none, boom), "no such world"},
		{"another verdict", run("a", scenarios.Result{Verdict: scenarios.Pass}, nil), run("a", scenarios.Result{Verdict: scenarios.Fail}, nil),
			"came to different ends: pass and fail"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := explore.Lockstep(context.Background(), test.first, test.second)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := explore.Lockstep(ctx, run("a", none, nil), run("a", none, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
