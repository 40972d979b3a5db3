package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/choice"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Drive is how every world of real machines is driven: what happens is recorded and reaches the laws, what the timeline
// has planned is done when it is due, and waits end by the clock. It is most of a result.World and all of a
// result.Recorder, result.Supporter and result.Refuser; what a world has of its own is in Pump, Machines, Snapshot and
// Settle. One goroutine drives; Fail, Note and Tell may be called from any.
type Drive struct {
	*Record
	// Play interprets the timeline; Agenda is what it has planned.
	Play   *timeline.Player
	Agenda Agenda
	// Pump does what is due at a time of the scenario and ends with Deliver. Whoever waits calls it often.
	Pump func(ctx context.Context, until time.Duration) error
	// Wall turns a duration of the scenario into one of the clock on the wall.
	Wall func(time.Duration) time.Duration

	clock     func() time.Duration
	listeners []func(fact.Fact) error
	stopped   error

	mu     sync.Mutex
	broken error
	ended  bool
}

// Begin makes the Drive of a world whose timeline is played on a stage. clock is the time of the scenario.
func (d *Drive) Begin(on timeline.World, s *scenarios.Scenario, o RunOptions, clock func() time.Duration) {
	d.clock = clock
	d.Record = NewRecord(clock, o.Events)
	d.Play = timeline.New(on, s, choice.Seeded(o.Seed))
}

// Watch implements result.World.
func (d *Drive) Watch(fn func(fact.Fact) error) { d.listeners = append(d.listeners, fn) }

// Do implements result.World.
func (d *Drive) Do(ctx context.Context, a scenarios.Action) error {
	d.Note("action " + a.String())
	return errors.Join(d.Play.Do(ctx, a), d.Deliver())
}

// Supports implements result.Supporter.
func (d *Drive) Supports(a scenarios.Action) bool { return d.Play.Refusal(a) == "" }

// Refusal implements result.Refuser.
func (d *Drive) Refusal(a scenarios.Action) string { return d.Play.Refusal(a) }

// Heal implements result.World.
func (d *Drive) Heal(context.Context) error {
	d.Note("heal")
	return errors.Join(d.Play.Heal(), d.Deliver())
}

// Deliver tells the listeners what has happened; the first error ends the run, and so does what a goroutine could not
// do.
func (d *Drive) Deliver() error {
	for _, f := range d.Take() {
		for _, fn := range d.listeners {
			if err := fn(f); err != nil && d.stopped == nil {
				d.stopped = err
			}
		}
	}
	return errors.Join(d.stopped, d.Broken())
}

// Fail notes what a goroutine could not do; the next wait tells it. What fails while the world ends is told by nobody.
func (d *Drive) Fail(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ended {
		d.Note("error: " + err.Error())
		d.broken = errors.Join(d.broken, err)
	}
}

// Broken is what goroutines could not do so far.
func (d *Drive) Broken() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.broken
}

// Unable is what this machine turned out not to be able to do, nil for nothing: a VPP that does not start, or a server
// that goes away, says nothing about the scenario.
func (d *Drive) Unable() error {
	if err := d.Broken(); IsCannotRun(err) {
		return err
	}
	return nil
}

// forgive takes what goroutines could not do as told.
func (d *Drive) forgive() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = nil
}

// End reports that the world ends now: false when it has ended already.
func (d *Drive) End() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := !d.ended
	d.ended = true
	return first
}

// Ended reports that End was called.
func (d *Drive) Ended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// tick is how often something that waits looks.
const tick = 10 * time.Millisecond

// Advance implements result.World.
func (d *Drive) Advance(ctx context.Context, at time.Duration) error {
	for {
		if err := d.Pump(ctx, min(at, d.clock())); err != nil {
			return err
		}
		left := d.Wall(at - d.clock())
		if left <= 0 {
			return nil
		}
		if err := pause(ctx, min(left, tick)); err != nil {
			return err
		}
	}
}

// SettleLeast is the least that machines get in real time, however much a scenario's times are divided.
const SettleLeast = 3 * time.Minute

// AwaitQuiet waits until nobody has had a reason for unrest during still, asked once every so often; the clock on the
// wall counts. After limit, a time of the scenario, it is a result.Unquiet that names the last reason and the node that
// the reason names.
func (d *Drive) AwaitQuiet(ctx context.Context, limit, still, every time.Duration, nodes func() []string, unrest func(context.Context) string) error {
	end := time.Now().Add(max(d.Wall(limit), min(limit, SettleLeast)))
	d.Play.Notice()
	var since time.Time
	for {
		if err := d.Pump(ctx, d.clock()); err != nil {
			return err
		}
		why := unrest(ctx)
		now := time.Now()
		switch {
		case why != "":
			since = time.Time{}
		case since.IsZero():
			since = now
		case now.Sub(since) >= still:
			return nil
		}
		if now.After(end) {
			if why == "" {
				why = "never quiet for " + still.String()
			}
			return &result.Unquiet{Pending: []result.Pending{{What: why, Node: named(why, nodes())}}}
		}
		if err := pause(ctx, every); err != nil {
			return err
		}
	}
}

// named is the first of some nodes that a text names, "" for none.
func named(text string, nodes []string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ':' })
	if i := slices.IndexFunc(nodes, func(n string) bool { return slices.Contains(words, n) }); i >= 0 {
		return nodes[i]
	}
	return ""
}

// pause waits for d of the clock on the wall.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Digest implements result.Recorder: real runs have none.
func (d *Drive) Digest() string { return "" }

// Events implements result.Recorder.
func (d *Drive) Events() int64 {
	_, n := d.Last(0)
	return n
}

// Tail implements result.Recorder.
func (d *Drive) Tail(n int) []string {
	lines, _ := d.Last(n)
	return lines
}
