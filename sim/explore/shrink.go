package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Errors of Shrink.
var (
	// ErrNoLaw: the failure to be shrunk is not of a law.
	ErrNoLaw = errors.New("no law was broken, so there is nothing to hold on to while shrinking")
	// ErrNotAgain: the failure did not happen again.
	ErrNotAgain = errors.New("the failure does not happen again")
)

// Shrink makes the smallest capsule that it can of a failure, as text: Smallest's, or, for a run of Exhaust,
// SmallestListed's with the run's picks.
func (x Explorer) Shrink(ctx context.Context, s *scenarios.Scenario, picks []Pick, failure result.Result, laws []fact.Law) ([]byte, error) {
	smallest := x.Smallest
	if picks != nil {
		smallest = func(ctx context.Context, s *scenarios.Scenario, failure result.Result, laws []fact.Law) (*Capsule, error) {
			return x.SmallestListed(ctx, s, picks, failure, laws)
		}
	}
	c, err := smallest(ctx, s, failure, laws)
	if err != nil {
		return nil, err
	}
	return []byte(c.String()), nil
}

// Smallest looks for the smallest scenario that breaks the same law for the same cause as failure, a Result of s: fewer
// things that happen, fewer nodes and pods, precise faults for probable ones, shorter times, a small seed. It is
// deterministic, and it does at most Budget runs beside the last one, which is the capsule's. A cancelled context is an
// error; at its deadline, the smallest so far is what comes out, where the failure has happened again by then.
func (x Explorer) Smallest(ctx context.Context, s *scenarios.Scenario, failure result.Result, laws []fact.Law) (*Capsule, error) {
	return x.smallest(ctx, s, failure, laws, &shrinker{seed: failure.Seed})
}

// SmallestListed is Smallest for a run that made the listed decisions, and took the default for every other one.
func (x Explorer) SmallestListed(ctx context.Context, s *scenarios.Scenario, picks []Pick, failure result.Result, laws []fact.Law) (*Capsule, error) {
	return x.smallest(ctx, s, failure, laws, &shrinker{seed: failure.Seed, listed: true, picks: picks})
}

// smallest searches from where k begins.
func (x Explorer) smallest(ctx context.Context, s *scenarios.Scenario, failure result.Result, laws []fact.Law, k *shrinker) (*Capsule, error) {
	if brokenLaw(failure) == "" {
		return nil, ErrNoLaw
	}
	k.x, k.ctx, k.laws, k.law, k.cause, k.budget, k.seen = x, ctx, laws, failure.Failure.Law, failure.Failure.Cause, x.Budget, map[string]bool{}
	if k.budget == 0 {
		k.budget = defaultBudget
	}
	if !k.try(bare(s)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %s of %s with seed %d", ErrNotAgain, k.law, s.Name, k.seed)
	}
	k.eventsMost = eventsFactor*k.result.Events + eventsSpare
	k.reduce()
	k.settleChoices()
	if err := ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
		k.ctx = context.WithoutCancel(ctx) // the time is over: the best so far is the smallest
	} else if err != nil {
		return nil, err
	}
	return k.capsule(s, failure)
}

// bare is s without what no run depends on.
func bare(s *scenarios.Scenario) *scenarios.Scenario {
	c := copyOf(s)
	c.Labels, c.Goal, c.Notes, c.Seeds, c.Expect, c.File = nil, "", nil, 1, scenarios.Expect{}, ""
	return c
}

// Runs of smaller scenarios may take longer, as a fault that ended something is gone. These bound by how much.
const (
	eventsFactor = 4
	eventsSpare  = 100_000
)

// shrinker is one search under way.
type shrinker struct {
	x    Explorer
	ctx  context.Context
	laws []fact.Law
	law  string
	// cause of the failure, where one law has several.
	cause string

	budget, runs int
	eventsMost   int64
	// seen are the scenarios that were tried, with their decisions.
	seen map[string]bool

	// best is the smallest scenario so far, as parsed from its own text; result is its run.
	best   *scenarios.Scenario
	seed   uint64
	listed bool
	picks  []Pick
	result result.Result
}

// spent reports whether the search must end.
func (k *shrinker) spent() bool { return k.runs >= k.budget || k.ctx.Err() != nil }

// reduce applies every reduction again and again until none helps.
func (k *shrinker) reduce() {
	for before := ""; !k.spent() && before != k.text(); {
		before = k.text()
		for _, reduction := range [...]func(*shrinker){
			(*shrinker).cutTail, (*shrinker).dropChances, (*shrinker).fixChances, (*shrinker).dropInjected,
			(*shrinker).dropSteps, (*shrinker).dropRows, (*shrinker).dropChurn, (*shrinker).dropNodes, (*shrinker).fewerPods,
			(*shrinker).usualConfig, (*shrinker).plainActions, (*shrinker).plainFaults, (*shrinker).waitForQuiet,
			(*shrinker).shortenTimes, (*shrinker).shortenEnd,
		} {
			if k.spent() {
				return
			}
			reduction(k)
		}
	}
}

// same reports whether a run broke the law for the cause of the failure that is made smaller.
func (k *shrinker) same(r result.Result) bool {
	return brokenLaw(r) == k.law && r.Failure.Cause == k.cause
}

func (k *shrinker) text() string { return string(k.best.Marshal()) }

// change tries the best scenario with something changed.
func (k *shrinker) change(edit func(*scenarios.Scenario)) bool {
	c := copyOf(k.best)
	edit(c)
	return k.try(c)
}

// try runs a scenario with the decisions of the present best one and keeps it when it breaks the law.
func (k *shrinker) try(s *scenarios.Scenario) bool {
	return k.tryChoices(s, k.seed, k.listed, k.picks)
}

// tryChoices runs a scenario. What is kept is what its text means, so that the capsule's run is this one.
func (k *shrinker) tryChoices(s *scenarios.Scenario, seed uint64, isListed bool, picks []Pick) bool {
	if k.spent() {
		return false
	}
	text := s.Marshal()
	key := strconv.FormatUint(seed, 10) + string(text)
	if isListed {
		key = fmt.Sprint(picks) + string(text)
	}
	if k.seen[key] {
		return false
	}
	k.seen[key] = true
	parsed, err := scenarios.Parse("", text)
	if err != nil {
		return false // two reductions that do not go together
	}
	bounded := copyOf(parsed)
	if k.eventsMost > 0 && (bounded.Limits.Events == 0 || bounded.Limits.Events > k.eventsMost) {
		bounded.Limits.Events = k.eventsMost
	}
	o := sim.Options{Seed: seed, Laws: k.laws}
	if isListed {
		o.Chooser = choosing(picks)
	}
	k.runs++
	r, err := k.x.run(k.ctx, bounded, o)
	if err != nil || k.ctx.Err() != nil || r.Verdict != result.Fail || !k.same(r) {
		return false
	}
	k.best, k.seed, k.listed, k.picks, k.result = parsed, seed, isListed, picks, r
	return true
}

// cut removes from list as much as it can: with makes the scenario that has only the given part of it.
func cut[T any](k *shrinker, list []T, with func(*scenarios.Scenario, []T)) {
	cutting(k, list, func(part []T) bool {
		return k.change(func(s *scenarios.Scenario) { with(s, part) })
	})
}

// cutting removes in ever smaller pieces, later things first, as long as keep agrees.
func cutting[T any](k *shrinker, list []T, keep func(part []T) bool) {
	for size := len(list); size > 0; size /= 2 {
		for end := len(list); end > 0 && !k.spent(); {
			start := max(0, end-size)
			if part := slices.Concat(list[:start], list[end:]); keep(part) {
				list = part
			}
			end = start
		}
	}
}

// least finds the smallest number from low to below now that still breaks the law, as far as halving finds it.
func (k *shrinker) least(low, now int, with func(*scenarios.Scenario, int)) {
	if now <= low || k.change(func(s *scenarios.Scenario) { with(s, low) }) {
		return
	}
	for now-low > 1 && !k.spent() {
		middle := low + (now-low)/2
		if k.change(func(s *scenarios.Scenario) { with(s, middle) }) {
			now = middle
		} else {
			low = middle
		}
	}
}

// smallSeeds are tried at the end: a failure that does not depend on chance is shown with a common seed.
const smallSeeds = 3

// listedMost bounds the decisions that a capsule lists: more do not help a reader.
const listedMost = 40

// settleChoices makes the decisions as simple as the scenario.
func (k *shrinker) settleChoices() {
	if k.listed {
		k.fewerPicks()
		return
	}
	for seed := uint64(1); seed <= smallSeeds && k.seed > smallSeeds; seed++ {
		k.tryChoices(k.best, seed, false, nil)
	}
	if k.seed <= smallSeeds || k.spent() {
		return
	}
	recorder := engine.Recording(engine.Seeded(k.seed))
	k.runs++
	if _, err := k.x.run(k.ctx, k.best, sim.Options{Seed: k.seed, Laws: k.laws, Chooser: recorder}); err != nil {
		return
	}
	if k.tryChoices(k.best, k.seed, true, nil) || !k.tryChoices(k.best, k.seed, true, notDefault(recorder.Picks())) {
		return
	}
	k.fewerPicks()
	if len(k.picks) > listedMost {
		k.listed, k.picks = false, nil
	}
}

// fewerPicks lists no decision that the failure does not need.
func (k *shrinker) fewerPicks() {
	cutting(k, k.picks, func(picks []Pick) bool { return k.tryChoices(k.best, k.seed, true, picks) })
}

// capsule runs the best scenario a last time, as Replay will, and packs it.
func (k *shrinker) capsule(from *scenarios.Scenario, failure result.Result) (*Capsule, error) {
	s := copyOf(k.best)
	s.Goal = words(fmt.Sprintf("Breaks %s: %s. Made smaller from %s with seed %d.", k.law, strings.TrimSuffix(k.result.Failure.What, "."), from.Name, failure.Seed))
	c := &Capsule{Version: k.x.Version, Seed: k.seed, Listed: k.listed, Picks: k.picks, Scenario: s}
	r, err := k.x.run(k.ctx, s, c.options(sim.Options{Laws: k.laws}))
	switch {
	case err != nil:
		return nil, err
	case k.ctx.Err() != nil:
		return nil, k.ctx.Err()
	case !k.same(r):
		return nil, fmt.Errorf("%w: %s of the smallest scenario", ErrNotAgain, k.law)
	}
	c.Verdict, c.Failure = r.Verdict, *r.Failure
	c.Failure.Before, c.Failure.After, c.Failure.Tail = "", "", nil
	if r.Digest != "" {
		if c.Digest, err = engine.ParseDigest(r.Digest); err != nil {
			return nil, err
		}
	}
	if _, err := Parse(c.String()); err != nil {
		return nil, fmt.Errorf("the smallest scenario's capsule: %w", err)
	}
	return c, nil
}

// words is text on one line with single spaces, as a comment in a file comes back.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
