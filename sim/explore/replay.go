package explore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// DifferError says that a capsule's run differs from the one that the capsule records.
type DifferError struct {
	// Differences are sentences, each about one thing.
	Differences []string
}

func (e *DifferError) Error() string {
	return "the run is not the capsule's: " + strings.Join(e.Differences, "; ")
}

// Replay runs a capsule again and compares the run with the capsule. o gives laws and listeners; its seed and chooser
// are the capsule's. The errors are *ParseError, *VersionError, and *DifferError together with the actual Result.
//
// With until above 0 the run ends after that event, and no listener receives later ones. If that is before the first
// bad event, the Result is Stopped, has no digest, and counts until events: nothing was broken so far.
func (x Explorer) Replay(ctx context.Context, capsule []byte, until int64, o sim.Options) (result.Result, error) {
	c, err := Parse(string(capsule))
	if err != nil {
		return result.Result{}, err
	}
	if c.Version != x.Version {
		return result.Result{}, &VersionError{What: "version", Capsule: c.Version, Program: x.Version}
	}
	o = c.options(o)
	if until <= 0 || until >= c.Failure.Event {
		r, err := x.Explain(ctx, c.Scenario, o, nil, 0)
		if err == nil && ctx.Err() == nil {
			err = c.compare(r)
		}
		return r, err
	}
	return x.replayUntil(ctx, c, until, o)
}

// replayUntil runs a capsule up to an event before the first bad one.
func (x Explorer) replayUntil(ctx context.Context, c *Capsule, until int64, o sim.Options) (result.Result, error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	tell := o.Events
	o.Events = func(seq int64, at time.Duration, line []byte) {
		if seq <= until && tell != nil {
			tell(seq, at, line)
		}
		if seq >= until {
			stop() // the world notices within a second of virtual time
		}
	}
	r, err := x.run(inner, c.Scenario, o)
	if err != nil || ctx.Err() != nil {
		return r, err
	}
	if r.Events < until {
		return r, &DifferError{[]string{fmt.Sprintf("it ended after %d events, before event %d", r.Events, until)}}
	}
	if r.Failure != nil && r.Failure.Event <= until {
		return r, &DifferError{[]string{fmt.Sprintf("it broke %s at event %d, and not %s at event %d", r.Failure.Law, r.Failure.Event, c.Failure.Law, c.Failure.Event)}}
	}
	r.Verdict, r.Error, r.Failure, r.Digest, r.Events = result.Stopped, "", nil, "", until
	r.Error = fmt.Sprintf("stopped after event %d as asked; %s breaks at event %d", until, c.Failure.Law, c.Failure.Event)
	return r, nil
}

// compare says what differs between a run and the capsule; nil when nothing does.
func (c *Capsule) compare(r result.Result) error {
	var d []string
	differ := func(what string, got, want any) {
		if got != want {
			d = append(d, fmt.Sprintf("%s is %v instead of %v", what, got, want))
		}
	}
	differ("the verdict", r.Verdict, c.Verdict)
	if r.Verdict == result.Error {
		d = append(d, r.Error)
	}
	if r.Failure == nil {
		d = append(d, "no law was broken, instead of "+c.Failure.Law)
	} else {
		differ("the broken law", r.Failure.Law, c.Failure.Law)
		differ("the first bad event", r.Failure.Event, c.Failure.Event)
		if r.Failure.Line != c.Failure.Line {
			d = append(d, fmt.Sprintf("its line is %q instead of %q", r.Failure.Line, c.Failure.Line))
		}
	}
	differ("the digest", r.Digest, c.Digest.String())
	if d == nil {
		return nil
	}
	return &DifferError{d}
}
