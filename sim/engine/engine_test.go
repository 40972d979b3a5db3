package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// note is an event with a name that calls do.
type note struct {
	name string
	do   func()
}

func (n *note) AppendText(b []byte) []byte { return append(b, n.name...) }

func (n *note) Fire() {
	if n.do != nil {
		n.do()
	}
}

// Goal: events fire by time, then in the order in which they were scheduled, whenever that was. Method: the engine
// against a list that is searched from its start, with events that schedule more events.
func TestOrderMatchesSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delays := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 200).Draw(t, "delays")
		split := rapid.IntRange(0, len(delays)).Draw(t, "scheduled at once")
		per := rapid.IntRange(0, 3).Draw(t, "scheduled by each event")

		var got []string
		e := engine.New(nil)
		next := 0
		var schedule func()
		schedule = func() {
			if next == len(delays) {
				return
			}
			id := strconv.Itoa(next)
			d := time.Duration(delays[next])
			next++
			e.After(d, &note{id, func() {
				got = append(got, id+"@"+strconv.Itoa(int(e.Now())))
				for range per {
					schedule()
				}
			}})
		}
		for next < split {
			schedule()
		}
		for e.Step() {
		}
		if want := slowTwin(delays, split, per); !slices.Equal(got, want) {
			t.Fatalf("fired   %v\nshould be %v", got, want)
		}
	})
}

func slowTwin(delays []int, split, per int) (fired []string) {
	type waiting struct{ at, id int }
	var list []waiting
	now, next := 0, 0
	schedule := func() {
		if next < len(delays) {
			list = append(list, waiting{now + delays[next], next})
			next++
		}
	}
	for next < split {
		schedule()
	}
	for len(list) > 0 {
		first := 0
		for i := range list {
			if list[i].at < list[first].at {
				first = i
			}
		}
		w := list[first]
		list = slices.Delete(list, first, first+1)
		now = w.at
		fired = append(fired, fmt.Sprintf("%d@%d", w.id, w.at))
		for range per {
			schedule()
		}
	}
	return fired
}

// Goal: the digest tells trails apart by line, time and order, and by nothing else. Method: pairs of small trails.
func TestDigest(t *testing.T) {
	type event struct {
		at   time.Duration
		name string
	}
	digest := func(events ...event) engine.Digest {
		e := engine.New(nil)
		for _, ev := range events {
			e.At(ev.at, &note{name: ev.name})
		}
		if err := e.RunUntil(time.Hour); err != nil {
			t.Fatal(err)
		}
		return e.Digest()
	}
	base := digest(event{1, "a"}, event{2, "b"})
	if got := digest(event{2, "b"}, event{1, "a"}); got != base {
		t.Errorf("scheduled in another order: %s, want %s", got, base)
	}
	for name, other := range map[string]engine.Digest{
		"no event":        digest(),
		"one event":       digest(event{1, "a"}),
		"one more event":  digest(event{1, "a"}, event{2, "b"}, event{2, ""}),
		"another line":    digest(event{1, "a"}, event{2, "c"}),
		"another time":    digest(event{1, "a"}, event{3, "b"}),
		"lines exchanged": digest(event{1, "b"}, event{2, "a"}),
		"lines joined":    digest(event{1, "ab"}, event{2, ""}),
	} {
		if other == base {
			t.Errorf("%s: digest is the same", name)
		}
	}
	// Pinned: the same trail has the same digest on every machine and in every release that replays older capsules.
	if got, want := base.String(), "e696393362f743458986a340cc5d7fb3"; got != want {
		t.Errorf("digest %s, pinned %s", got, want)
	}
	if got := digest().String(); got != strings.Repeat("0", 32) {
		t.Errorf("digest of nothing is %s", got)
	}
}

// Goal: the clock, Stop, Fail and what waits behave as documented. Method: one run, step by step.
func TestRunUntil(t *testing.T) {
	e := engine.New(nil)
	broken := errors.New("broken")
	e.At(1*time.Second, &note{name: "one"})
	e.At(2*time.Second, &note{"two", e.Stop})
	e.At(2*time.Second, &note{name: "two again"})
	e.At(4*time.Second, &note{"four", func() { e.Fail(broken); e.Fail(errors.New("later")) }})
	e.At(4*time.Second, &note{name: "never"})

	check := func(what string, err, wantErr error, now time.Duration, seq int64, waiting int) {
		t.Helper()
		if err != wantErr || e.Now() != now || e.Seq() != seq || e.Len() != waiting {
			t.Errorf("%s: error %v, now %s, %d fired, %d wait; want %v, %s, %d, %d",
				what, err, e.Now(), e.Seq(), e.Len(), wantErr, now, seq, waiting)
		}
	}
	check("half a second", e.RunUntil(time.Second/2), nil, time.Second/2, 0, 5)
	check("up to the first, included", e.RunUntil(time.Second), nil, time.Second, 1, 4)
	check("stopped", e.RunUntil(3*time.Second), nil, 2*time.Second, 2, 3)
	if at, ok := e.NextAt(); !ok || at != 2*time.Second {
		t.Errorf("next at %s, %v", at, ok)
	}
	check("goes on", e.RunUntil(3*time.Second), nil, 3*time.Second, 3, 2)
	check("the past", e.RunUntil(0), nil, 3*time.Second, 3, 2)
	check("failed", e.RunUntil(time.Hour), broken, 4*time.Second, 4, 1)
	check("stays failed", e.RunUntil(time.Hour), broken, 4*time.Second, 4, 1)
	if e.Step() {
		t.Error("a failed run steps")
	}
	if e.Err() != broken {
		t.Errorf("error %v", e.Err())
	}
}

// Goal: misuse is found where it happens. Method: each misuse, and the words of its panic.
func TestPanics(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		do         func(e *engine.Engine)
	}{
		{"past", "has passed", func(e *engine.Engine) { e.At(0, &note{name: "late"}) }},
		{"negative delay", "has passed", func(e *engine.Engine) { e.After(-1, &note{name: "late"}) }},
		{"step inside an event", "steps the engine", func(e *engine.Engine) {
			e.After(0, &note{"outer", func() { e.After(0, &note{name: "inner"}); e.Step() }})
			e.Step()
		}},
		{"no alternative", "0 alternatives", func(*engine.Engine) { engine.Seeded(1).Pick("x", 0) }},
		{"empty span", `"x" is between`, func(*engine.Engine) { engine.Duration(engine.Seeded(1), "x", 2, 1) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := engine.New(nil)
			if err := e.RunUntil(time.Second); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tt.want) {
					t.Errorf("panic %q does not tell %q", got, tt.want)
				}
			}()
			tt.do(e)
		})
	}
}

// Goal: Trail sees every line before its event fires; Tail has the last ones. Method: seventy events, then a short
// tail.
func TestTrailAndTail(t *testing.T) {
	e := engine.New(nil)
	var seen []string
	e.Trail(func(seq int64, at time.Duration, line []byte) {
		seen = append(seen, fmt.Sprintf("%d %s %s", seq, at, line))
	})
	for i := range 70 {
		e.At(time.Duration(i)*time.Millisecond, &note{fmt.Sprint("event ", i), func() {
			if len(seen) != i+1 {
				t.Errorf("event %d fires after %d lines", i, len(seen))
			}
		}})
	}
	if err := e.RunUntil(68 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seen[len(seen)-64:], e.Tail()); diff != "" {
		t.Errorf("tail (-trail +tail):\n%s", diff)
	}
	e.KeepTail(2)
	e.Step()
	if diff := cmp.Diff([]string{"70 69ms event 69"}, e.Tail()); diff != "" {
		t.Errorf("tail of two (-want +got):\n%s", diff)
	}
	e.KeepTail(0)
	e.After(0, &note{name: "unseen"})
	e.Step()
	if len(e.Tail()) != 0 || seen[70] != "71 69ms unseen" {
		t.Errorf("tail %v, trail ends %q", e.Tail(), seen[70])
	}
}

// Goal: an engine at work does not allocate. Method: count while events reschedule themselves.
func TestStepDoesNotAllocate(t *testing.T) {
	e := busy(64)
	for range 1000 {
		e.Step()
	}
	if n := testing.AllocsPerRun(1000, func() { e.Step() }); n != 0 {
		t.Errorf("%v allocations per step", n)
	}
}

// metronome is an event that schedules itself again, with a line as long as a usual one's.
type metronome struct {
	e     *engine.Engine
	every time.Duration
}

func (m *metronome) AppendText(b []byte) []byte {
	return append(b, "node-17 call ip_route_add_del 10.1.0.2/32 via tap3"...)
}

func (m *metronome) Fire() { m.e.After(m.every, m) }

// busy returns an engine with n events that never end, each at a rhythm of its own.
func busy(n int) *engine.Engine {
	e := engine.New(engine.Seeded(1))
	for i := range n {
		e.After(0, &metronome{e, time.Duration(1000 + i*37%1009)})
	}
	return e
}

func BenchmarkStep(b *testing.B) {
	for _, n := range []int{16, 1024, 65536} {
		b.Run(strconv.Itoa(n)+"-waiting", func(b *testing.B) {
			yardstick.Beside(b)
			e := busy(n)
			b.ReportAllocs()
			for b.Loop() {
				e.Step()
			}
		})
	}
}

// Goal: a digest's text has one form. Method: fuzz; what is read must be written back as it was.
func FuzzParseDigest(f *testing.F) {
	f.Add("0123456789abcdef0123456789abcdef")
	f.Add("0123456789ABCDEF0123456789abcdef")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := engine.ParseDigest(s)
		if err != nil {
			return
		}
		if d.String() != s {
			t.Errorf("%q became %q", s, d)
		}
		var back engine.Digest
		if err := back.UnmarshalText([]byte(s)); err != nil || back != d {
			t.Errorf("%q: %v, %v", s, back, err)
		}
	})
}
