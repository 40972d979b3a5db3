package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/experiment"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Branch is one difference from an event on: one choice, the order of one instant, or one more action. It may also be
// one setting from the run's start on.
type Branch struct {
	// At is the event, from 1 on.
	At int64
	// Label is the choice, "" for the first one at or behind the event; Choose is what it becomes: a number, "yes", "no",
	// or "other" for the next alternative. Without Choose and Do nothing is changed: the branch lists the choices.
	Label, Choose string
	// Do is an action as timelines print it, done when the event happens.
	Do string
	// Last: the event happens behind all others that wait for its instant.
	Last bool
	// Set is FIELD=VALUE, a setting of the scenario; both runs are reported from the start.
	Set string
}

// Asked is a choice that a run made.
type Asked struct {
	Event int64
	engine.Pick
}

// Future is one run from its branching on.
type Future struct {
	Lines  []FutureLine
	Result result.Result
}

// FutureLine is an event with its time.
type FutureLine struct {
	At   time.Duration
	Line string
}

// Branched are two futures.
type Branched struct {
	// At is when they part, Line the event at which they do.
	At   time.Duration
	Line string
	// Choices are the original choices at and behind the event, at most ChoicesMost.
	Choices []Asked
	// Changed says what the changed run does differently.
	Changed       string
	Before, After Future
}

// ChoicesMost is how many choices a Branched lists.
const ChoicesMost = 40

// Branch runs a capsule unchanged, and again with one thing changed at an event.
func (x Explorer) Branch(ctx context.Context, capsule []byte, o sim.Options, b Branch) (Branched, error) {
	c, err := Parse(string(capsule))
	if err != nil {
		return Branched{}, err
	}
	if b.Set != "" {
		b.At = 1
	}
	var out Branched
	was := &fork{inner: chooserOf(c), at: b.At}
	if out.Before, err = x.future(ctx, c.Scenario, c.options(o), was, b.At); err != nil {
		return Branched{}, err
	}
	if len(out.Before.Lines) == 0 {
		return Branched{}, fmt.Errorf("the run has %d events and none with the number %d", out.Before.Result.Events, b.At)
	}
	out.At, out.Line, out.Choices = out.Before.Lines[0].At, out.Before.Lines[0].Line, was.asked
	s := c.Scenario
	other := &fork{inner: chooserOf(c), at: b.At}
	passed := int64(-1)
	switch {
	case b.Set != "":
		field, value, ok := strings.Cut(b.Set, "=")
		if !ok {
			return Branched{}, fmt.Errorf("%q is no FIELD=VALUE", b.Set)
		}
		if s, err = experiment.With(s, []experiment.Value{{Field: field, Text: value}}); err != nil {
			return Branched{}, err
		}
		out.Changed = field + " is " + value + " from the start"
	case b.Last:
		o.Postpone, o.Passed = b.At, func(n int64) { passed = n }
	case b.Do != "":
		a, err := scenarios.ParseAction(b.Do)
		if err != nil {
			return Branched{}, err
		}
		if s, err = withAction(s, out.At, a); err != nil {
			return Branched{}, err
		}
		out.Changed = "the timeline also does " + a.String() + " at " + scenarios.FormatDuration(out.At)
	case b.Choose != "":
		i := slices.IndexFunc(was.asked, func(a Asked) bool { return b.Label == "" || a.Label == b.Label })
		if i < 0 {
			return Branched{}, fmt.Errorf("no choice %q is made within the next %d choices from event %d on", b.Label, ChoicesMost, b.At)
		}
		a := was.asked[i]
		value, err := a.value(b.Choose)
		if err != nil {
			return Branched{}, err
		}
		other.change, other.number, other.value = true, i, value
		out.Changed = fmt.Sprintf("at event %d %q is %d instead of %d of %d", a.Event, a.Label, value, a.Value, a.N)
	default:
		return out, nil
	}
	out.After, err = x.future(ctx, s, c.options(o), other, b.At)
	if passed == 0 && err == nil {
		return Branched{}, fmt.Errorf("nothing else waits for the instant of event %d, or it is a step of another event", b.At)
	}
	if b.Last {
		out.Changed = fmt.Sprintf("event %d comes behind the %d others that wait for its instant", b.At, passed)
	}
	return out, err
}

// chooserOf is what decides in a capsule's run.
func chooserOf(c *Capsule) engine.Chooser {
	if o := c.options(sim.Options{}); o.Chooser != nil {
		return o.Chooser
	}
	return engine.Seeded(c.Seed)
}

// value is what a word means for a choice.
func (a Asked) value(word string) (int, error) {
	switch word {
	case "yes":
		return a.N - 1, nil
	case "no":
		return 0, nil
	case "other":
		return (a.Value + 1) % a.N, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 || n >= a.N {
		return 0, fmt.Errorf("%q is no choice: want yes, no, other or a number below %d", word, a.N)
	}
	return n, nil
}

// withAction is a scenario with one more action at a time.
func withAction(s *scenarios.Scenario, at time.Duration, a scenarios.Action) (*scenarios.Scenario, error) {
	c := copyOf(s)
	i := len(c.Timeline)
	for k, step := range c.Timeline {
		if step.Trigger == scenarios.AtTime && step.Time > at {
			i = k
			break
		}
	}
	c.Timeline = slices.Insert(c.Timeline, i, scenarios.Step{Trigger: scenarios.AtTime, Time: at, Action: a})
	if c.Duration != 0 {
		c.Duration = max(c.Duration, at)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("the timeline does not take it there: %w", err)
	}
	return c, nil
}

// future runs a scenario and keeps what it does from an event on.
func (x Explorer) future(ctx context.Context, s *scenarios.Scenario, o sim.Options, f *fork, from int64) (Future, error) {
	var out Future
	o.Chooser = f
	o.Events = func(seq int64, at time.Duration, line []byte) {
		f.now = seq
		if seq >= from {
			out.Lines = append(out.Lines, FutureLine{at, string(line)})
		}
	}
	r, err := x.run(ctx, s, o)
	out.Result = r
	return out, errors.Join(err, ctx.Err())
}

// fork is a Chooser that notes the questions from an event on, and gives one of them another answer.
type fork struct {
	inner   engine.Chooser
	at, now int64
	asked   []Asked
	// change: the question of that number gets this value.
	change        bool
	number, value int
}

// Pick implements engine.Chooser.
func (f *fork) Pick(label string, n int) int {
	v := f.inner.Pick(label, n)
	if n < 2 || f.now < f.at || len(f.asked) == ChoicesMost {
		return v
	}
	if f.change && len(f.asked) == f.number {
		v = f.value
	}
	f.asked = append(f.asked, Asked{f.now, engine.Pick{Label: label, N: n, Value: v}})
	return v
}

// Regress runs a capsule of any version with this program's own events: its scenario, whose operations are named where
// the failure was made smaller, and its seed. The notes list what could not be repeated.
func (x Explorer) Regress(ctx context.Context, capsule []byte, o sim.Options) (result.Result, []string, error) {
	c, err := Parse(string(capsule))
	if err != nil {
		return result.Result{}, nil, err
	}
	var notes []string
	if c.Version != x.Version {
		notes = append(notes, fmt.Sprintf("it was made by version %s, this is %s", c.Version, x.Version))
	}
	if c.Listed {
		notes = append(notes, fmt.Sprintf("its %d listed choices belong to that version's questions; those that are still asked are answered as listed", len(c.Picks)))
	}
	r, err := x.Explain(ctx, c.Scenario, c.options(o), nil, 0)
	if err != nil || ctx.Err() != nil {
		return r, notes, err
	}
	repeated := r.Summary.Faults >= int64(len(c.Scenario.Faults.Inject)) && len(r.DidNothing) == 0
	if len(c.Scenario.Faults.Inject) > 0 && r.Summary.Faults == 0 {
		notes = append(notes, "none of its injected faults met an operation: what they name is not done any more")
	} else if n := int64(len(c.Scenario.Faults.Inject)); r.Summary.Faults < n {
		notes = append(notes, fmt.Sprintf("of its %d injected faults %d met an operation", n, r.Summary.Faults))
	}
	for _, a := range r.DidNothing {
		notes = append(notes, a+" did nothing")
	}
	switch {
	case r.Verdict == result.Pass && repeated:
		notes = append(notes, "fixed: law "+c.Failure.Law+" no longer breaks")
	case r.Failure == nil:
		notes = append(notes, "it broke "+c.Failure.Law+" and does not any more, which proves little where it was not repeated as a whole")
	case r.Failure.Law != c.Failure.Law:
		notes = append(notes, "it broke "+c.Failure.Law+" and breaks "+r.Failure.Law+" now")
	}
	return r, notes, nil
}
