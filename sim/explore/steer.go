package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Steered is a search that varies what came by something new. It hands out runs in batches: what a batch holds follows
// from the batches before it, the seed and the corpus alone, so that any number of workers finds the same.
type Steered struct {
	Explorer
	profile gen.Profile
	// plain: every scenario follows from its seed alone, and from around.
	plain bool
	// around is what the scenarios of a plain search are variations of, and aroundSeed the seed that it is run with; nil
	// where they are new ones.
	around     *scenarios.Scenario
	aroundSeed uint64
	// next is the seed of the next run.
	next    uint64
	corpus  []*Member
	waiting []*Member
	batch   []*Trial
	total   Coverage
}

// Member is a scenario of a corpus, with the seed that it is run with.
type Member struct {
	Scenario *scenarios.Scenario
	Seed     uint64
	// Kept: a failure was once found with it, so that it stays whatever else covers the same.
	Kept bool
	// seen is what its run came by, events how long that took; nil before it was run.
	seen   Coverage
	events int64
}

// Trial is one run of a batch.
type Trial struct {
	Member
	x      *Steered
	result result.Result
	done   bool
}

// batchSize is how many runs are handed out between two looks at what is new. Few workers wait for its last.
const batchSize = 32

// Steer starts a search of random scenarios of a profile, which takes its draws from seeds from `from` on. Each member
// of the corpus is run first.
func (x Explorer) Steer(profile gen.Profile, from uint64, corpus []*Member) *Steered {
	return &Steered{Explorer: x, profile: profile, next: from, waiting: slices.Clone(corpus), total: Coverage{}}
}

// Draw starts a search that varies nothing: each seed from `from` on draws its scenario.
func (x Explorer) Draw(profile gen.Profile, from uint64) *Steered {
	return &Steered{Explorer: x, profile: profile, next: from, plain: true, total: Coverage{}}
}

// Around starts a search of variations of the scenario that the seed around draws: what a run does slightly differently
// when its scenario is known.
func (x Explorer) Around(profile gen.Profile, around, from uint64) *Steered {
	return x.variations(profile, gen.Draw(engine.Seeded(around), profile, nameOf(profile, around)), around, from)
}

// Variations starts a search of variations of a written scenario.
func (x Explorer) Variations(s *scenarios.Scenario, seed, from uint64) *Steered {
	return x.variations(gen.Like(s), s, seed, from)
}

// variations starts a search in which each seed from `from` on varies a scenario. Half of the variations run with the
// scenario's seed, so that they begin like its run.
func (x Explorer) variations(profile gen.Profile, around *scenarios.Scenario, seed, from uint64) *Steered {
	s := x.Draw(profile, from)
	s.around, s.aroundSeed = around, seed
	return s
}

// nameOf is the name of the random scenario that a seed draws.
func nameOf(profile gen.Profile, seed uint64) string {
	return fmt.Sprintf("random-%s-%d", profile.Name, seed)
}

// Batch returns the next runs, most of them at most. Learn counts those that have been run.
func (s *Steered) Batch(most int) []*Trial {
	s.batch = nil
	for len(s.batch) < min(batchSize, most) {
		t := &Trial{x: s}
		if len(s.waiting) > 0 {
			t.Member = *s.waiting[0]
			s.waiting = s.waiting[1:]
		} else {
			t.Member = s.draw(s.next)
			s.next++
		}
		s.batch = append(s.batch, t)
	}
	return slices.Clone(s.batch)
}

// draw makes the run of a seed: a third of the scenarios are new ones, the others variations of members. A variation of
// around may run with the seed of that.
func (s *Steered) draw(seed uint64) Member {
	c, name := engine.Seeded(seed), nameOf(s.profile, seed)
	if s.around != nil {
		name = fmt.Sprintf("%s-%d", s.around.Name, seed)
		if c.Pick("same chance", 2) == 0 {
			seed = s.aroundSeed
		}
		return Member{Scenario: gen.Vary(c, s.profile, s.around, gen.Draw(c, s.profile, name), name), Seed: seed}
	}
	if s.plain || len(s.corpus) == 0 || c.Pick("fresh", 3) == 0 {
		return Member{Scenario: gen.Draw(c, s.profile, name), Seed: seed}
	}
	// The youngest members know what is newest.
	pick := func() *scenarios.Scenario {
		n := len(s.corpus)
		if young := n/4 + 1; c.Pick("young", 2) == 0 {
			return s.corpus[n-1-c.Pick("member", young)].Scenario
		}
		return s.corpus[c.Pick("member", n)].Scenario
	}
	return Member{Scenario: gen.Vary(c, s.profile, pick(), pick(), name), Seed: seed}
}

// Run runs one trial; several may run at the same time.
func (t *Trial) Run(ctx context.Context, o sim.Options) (result.Result, error) {
	w := &witness{Coverage{}}
	o.Seed, o.Witness = t.Seed, w
	r, err := t.x.run(ctx, t.Scenario, o)
	if err == nil && ctx.Err() == nil {
		w.ended(r)
		t.seen, t.events, t.result, t.done = w.seen, r.Events, r, true
	}
	return r, err
}

// Learn counts what the batch came by and takes into the corpus what came by something new. A run that was interrupted,
// or that broke something, teaches nothing.
func (s *Steered) Learn() {
	for _, t := range s.batch {
		if !t.done {
			continue
		}
		news := s.total.Add(t.seen)
		s.total.exercised(t.result)
		if s.plain {
			continue
		}
		if t.Kept || news > 0 && t.result.Verdict == result.Pass {
			m := t.Member
			s.corpus = append(s.corpus, &m)
		}
	}
	s.batch = nil
}

// Coverage is what all runs so far came by.
func (s *Steered) Coverage() Coverage { return s.total }

// Corpus is a smallest part of the members that comes by all that they came by, as far as taking the one with the most
// that is new, and of those the shortest, finds it.
func (s *Steered) Corpus() []*Member {
	left := slices.Clone(s.corpus)
	var kept []*Member
	seen := Coverage{}
	take := func(i int) {
		seen.Add(left[i].seen)
		kept = append(kept, left[i])
		left = slices.Delete(left, i, i+1)
	}
	for i := 0; i < len(left); {
		if left[i].Kept {
			take(i)
		} else {
			i++
		}
	}
	slices.SortStableFunc(left, func(a, b *Member) int { return cmp.Compare(a.events, b.events) })
	for {
		best, most := -1, 0
		for i, m := range left {
			if n := seen.news(m.seen); n > most {
				best, most = i, n
			}
		}
		if best < 0 {
			return kept
		}
		take(best)
	}
}

// news counts what is in another Coverage and not in this one.
func (c Coverage) news(other Coverage) (n int) {
	for g, names := range other { // in any order: it is a sum
		for name := range names { // in any order: it is a sum
			if !c.Has(g, name) {
				n++
			}
		}
	}
	return n
}

// Reduced is a member for a corpus made of a capsule: its scenario, which names operations where the failure was found
// by chance, with a seed with which it breaks the same law. It says false where only the capsule's listed choices do.
func (x Explorer) Reduced(ctx context.Context, capsule []byte, laws []fact.Law) (*Member, bool) {
	c, err := Parse(string(capsule))
	if err != nil {
		return nil, false
	}
	const seeds = 10
	for seed := range uint64(seeds) {
		if seed == 0 {
			seed = c.Seed
		}
		r, err := x.run(ctx, c.Scenario, sim.Options{Seed: seed, Laws: laws})
		if err == nil && brokenLaw(r) == c.Failure.Law {
			return &Member{Scenario: c.Scenario, Seed: seed, Kept: true}, true
		}
	}
	return nil, false
}
