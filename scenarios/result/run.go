package result

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// LawSettles is the law that Run itself judges: after healing, the cluster becomes quiet within Limits.Settle.
const LawSettles = "settles"

// settles is added to laws without one of that name.
func settles() fact.Law {
	return fact.Law{
		Name: LawSettles, When: fact.Settled, Foreign: true,
		Rule: "After healing, the cluster becomes quiet within the bound of the scenario.",
		Why:  "A cluster that never comes to rest leaves pods without network until a person steps in.",
	}
}

// Options configure a run. The zero Options are useful.
type Options struct {
	// Seed is the World's seed; it goes into the Result.
	Seed uint64
	// Replay is the command that repeats this run; built from File, World and Seed if empty.
	Replay string
	// TailLines is how many event lines a Failure keeps; 0 means 40.
	TailLines int
	// AddressesMax is how many held addresses a Result keeps; 0 means 4000, negative none.
	AddressesMax int
	// OnMark, if set, is called at the start of each mark of the timeline, for progress.
	OnMark func(Mark)
	// Series: the Result has a series.
	Series bool
	// Story: the Result has a story.
	Story bool
	// AtEnd, if set, is called with the cluster's final state, before the world is closed.
	AtEnd func(fact.Snapshot)
}

// Recorder is a World that can also report its event log. The simulator implements it.
type Recorder interface {
	// Digest identifies the trail of events so far; equal digests are equal runs.
	Digest() string
	// Events counts events so far; the last one's number.
	Events() int64
	// Tail returns the last n event lines, oldest first.
	Tail(n int) []string
}

// Supporter is a World that knows in advance which actions it cannot do.
type Supporter interface {
	Supports(a scenarios.Action) bool
}

// Refuser is a Supporter that says why it cannot do an action.
type Refuser interface {
	// Refusal is the reason, or "" for an action that the world can do.
	Refusal(a scenarios.Action) string
}

// Run drives w through s and judges it by those of laws that s selects. It builds nothing and closes nothing: w was
// built from s and is used for this one run. Run reports failures only in Result.Verdict; a cancelled ctx is an error.
func Run(ctx context.Context, w World, s *scenarios.Scenario, laws []fact.Law, o Options) Result {
	started := time.Now()
	r := newRun(w, s, o)
	if !slices.ContainsFunc(laws, func(l fact.Law) bool { return l.Name == LawSettles }) {
		laws = append(slices.Clone(laws), settles())
	}
	chosen, err := SelectLaws(s, laws)
	if err = cmp.Or(s.Unreadable(), err); err != nil {
		r.broken(err)
		return r.finish(ctx, started)
	}
	r.judge = newJudge(chosen, w.Evidence())
	if err := r.judge.demanded(s, w.Name()); err != nil {
		r.broken(err)
		return r.finish(ctx, started)
	}
	if r.supported() {
		r.judge.idle = false
		_ = r.observe(fact.Fact{At: w.Now(), What: fact.Configured{Config: &s.Config}}) // which breaks no law
		w.Watch(r.observe)
		r.drive(ctx)
	}
	return r.finish(ctx, started)
}

// run is the state of one run.
type run struct {
	world World
	s     *scenarios.Scenario
	o     Options
	judge *judge
	held  holdings
	tally *tally
	// sampler is nil without Options.Series.
	sampler *sampler
	// witness is nil without an expect section that counts something.
	witness *witness
	// looking is nil without Options.Story.
	looking *looking
	marks   marks
	names   podNames
	fact    fact.Fact // the current one
	result  Result
	// until is the end of the last fault with a duration.
	until time.Duration
	// ended: the result's figures are complete. soaks: facts are only judged from now on. proven: the tables of VPPs and
	// Linux have been judged completely.
	ended, soaks, proven bool
	// failure is the first broken law, violations the number of broken laws; err is why the run cannot be judged.
	failure    *fact.Violation
	violations int
	err        error
	// refused are the unsupported actions with their reasons.
	refused []string
}

func newRun(w World, s *scenarios.Scenario, o Options) *run {
	if o.TailLines == 0 {
		o.TailLines = 40
	}
	if o.AddressesMax == 0 {
		o.AddressesMax = 4000
	}
	r := &run{world: w, s: s, o: o, judge: newJudge(nil, nil), held: holdings{limit: o.AddressesMax},
		marks: marks{tell: o.OnMark}, tally: newTally()}
	if o.Series {
		r.sampler = newSampler()
	}
	r.witness = newWitness(s.Expect)
	if o.Story {
		r.looking = newLooking(s)
	}
	r.result = Result{Scenario: s.Name, Goal: s.Goal, File: s.File, Labels: s.Labels, World: w.Name(), Seed: o.Seed,
		Replay: o.Replay}
	if r.result.Replay == "" {
		file := s.File
		if file == "" {
			file = s.Name
		}
		r.result.Replay = "vppdrill run " + file + " --world " + w.Name() + " --seed " + strconv.FormatUint(o.Seed, 10)
	}
	return r
}

// over reports whether the run ended early: more violations than the scenario allows, or it cannot be judged.
func (r *run) over() bool {
	return r.err != nil || r.failure != nil && r.violations >= r.s.Limits.Violations
}

// broken records that the run cannot be judged. Errors of a stopped world after a violation are ignored.
func (r *run) broken(err error) {
	if err == nil || r.over() {
		return
	}
	var v *fact.Violation
	if errors.As(err, &v) {
		r.violated(v)
		return
	}
	r.err = err
}

// violated records a broken law; the first is the run's failure.
func (r *run) violated(v *fact.Violation) {
	if r.over() {
		return
	}
	if r.violations++; r.failure == nil {
		v.What = r.names.name(v.What)
		r.failure = v
		if !r.over() {
			r.noteFailure() // later events are not causes of this failure
		}
	}
	if l := r.judge.find(v.Law); l != nil {
		l.broken++
	}
}

// supported asks the world in advance, so that a lab does not start a run that it cannot finish.
func (r *run) supported() bool {
	world, ok := r.world.(Supporter)
	if !ok {
		return true
	}
	for _, step := range r.s.Timeline {
		switch step.Action.(type) {
		case scenarios.Settle, scenarios.Heal:
			continue
		}
		if world.Supports(step.Action) {
			continue
		}
		why := ""
		if refuser, ok := r.world.(Refuser); ok {
			why = refuser.Refusal(step.Action)
		}
		r.unsupported(step.Action, why)
	}
	return len(r.result.Unsupported) == 0
}

// unsupported records an action's verb once, with the world's reason if there is one.
func (r *run) unsupported(a scenarios.Action, why string) {
	if slices.Contains(r.result.Unsupported, a.Verb()) {
		return
	}
	r.result.Unsupported = append(r.result.Unsupported, a.Verb())
	if why = strings.TrimPrefix(why, ": "); why != "" {
		why = " (" + why + ")"
	}
	r.refused = append(r.refused, a.Verb()+why)
}

// observe receives every fact, in order, from the world.
func (r *run) observe(fact fact.Fact) error {
	r.fact = fact
	f := &r.fact
	if !r.soaks {
		if r.sampler != nil {
			r.sampler.observe(r.tally, f)
		}
		r.tally.observe(f)
		if r.witness != nil {
			r.witness.observe(r.tally, f)
		}
	}
	r.names.observe(f)
	if r.failure != nil && r.over() {
		return r.failure
	}
	for v := range r.judge.observe(f) {
		if r.violated(v); r.over() {
			return r.failure
		}
	}
	r.held.observe(f)
	return nil
}

// drive runs the timeline, the healing and the last judgement.
func (r *run) drive(ctx context.Context) {
	r.picture(ctx)
	for _, step := range r.s.Timeline {
		r.step(ctx, step)
		if r.over() {
			return
		}
	}
	end := r.s.BreakEnd()
	if r.s.Duration == 0 {
		end = max(end, r.until) // else "for" would have no effect on the last items
	}
	r.advance(ctx, end)
	if r.over() {
		return
	}
	r.picture(ctx)
	r.heal(ctx)
	r.settle(ctx, "after healing")
	r.expectations(ctx)
	r.soak(ctx)
}

// soak judges a run that has passed so far again, long after its end. The run's figures stay unchanged.
func (r *run) soak(ctx context.Context) {
	w, ok := r.world.(Soaker)
	if !ok || r.over() || r.result.Error != "" {
		return
	}
	r.end(ctx)
	r.soaks = true
	stirred, err := w.Soak(ctx)
	r.proven = !stirred
	r.broken(err)
	r.settle(ctx, "long after healing")
}

// step waits for a timeline item's trigger and performs its action.
func (r *run) step(ctx context.Context, step scenarios.Step) {
	at := r.world.Now()
	switch step.Trigger {
	case scenarios.AtTime:
		at = max(at, step.Time)
	case scenarios.AfterPrevious:
		at += step.Time
	case scenarios.WhenSettled:
		r.settle(ctx, "before "+step.Action.String())
	default:
		panic(fmt.Sprintf("scenarios: unknown trigger %d", step.Trigger))
	}
	r.advance(ctx, at)
	if r.over() {
		return
	}
	r.picture(ctx)
	switch a := step.Action.(type) {
	case scenarios.Settle:
		r.settle(ctx, "as the timeline asks")
	case scenarios.Heal:
		r.heal(ctx)
	default:
		r.do(ctx, a, step.Optional)
	}
	r.checkAlways(ctx)
}

// do performs an action and marks it. Unsupported actions are recorded by name. The run goes on, so that it names all
// of them, but it can no longer pass.
func (r *run) do(ctx context.Context, a scenarios.Action, optional bool) {
	now := r.world.Now()
	err := r.world.Do(ctx, a)
	switch {
	case r.over():
	case err == nil:
		r.marks.action(now, a)
		if fault, ok := a.(scenarios.Lasting); ok {
			r.until = max(r.until, now+fault.Lasts())
		}
	case errors.Is(err, ErrUnsupported):
		_, why, _ := strings.Cut(oneline.Text(err.Error()), ErrUnsupported.Error())
		r.unsupported(a, why)
	case errors.Is(err, ErrNothing):
		r.result.DidNothing = append(r.result.DidNothing, a.String())
		r.marks.point(now, markAction, a.String()+": did nothing")
	case ctx.Err() != nil:
		r.broken(ctx.Err())
	case optional && !errors.As(err, new(*fact.Violation)):
		r.marks.point(now, markAction, "skipped "+a.String()+": "+oneline.Text(err.Error()))
	default:
		r.broken(fmt.Errorf("%s at %s: %w", a, scenarios.FormatDuration(now), err))
	}
}

func (r *run) heal(ctx context.Context) {
	r.broken(r.world.Heal(ctx))
	r.marks.heal(r.world.Now())
}

// settle waits until the cluster is quiet, and then judges it.
func (r *run) settle(ctx context.Context, occasion string) {
	if r.over() {
		return
	}
	err := r.world.Settle(ctx, r.s.Limits.Settle)
	settling := r.judge.find(LawSettles)
	if settling != nil {
		settling.checks++
		settling.occasions++
	}
	now := r.world.Now()
	switch {
	case r.over():
	case err == nil:
		if !r.soaks {
			r.marks.point(now, markSettled, "quiet "+occasion)
		}
		r.checkNow(ctx)
	case ctx.Err() != nil:
		r.broken(ctx.Err())
	case errors.As(err, new(*fact.Violation)) || errors.Is(err, scenarios.ErrFallen) || settling == nil:
		r.broken(err)
	default:
		v := &fact.Violation{Law: LawSettles, At: now, What: fmt.Sprintf("not quiet within %s %s: %s",
			scenarios.FormatDuration(r.s.Limits.Settle), occasion, oneline.Text(err.Error()))}
		if u := (*Unquiet)(nil); errors.As(err, &u) && len(u.Pending) > 0 {
			v.Node, v.Cause = u.Pending[0].Node, u.Cause()
		}
		r.violated(v)
	}
}
