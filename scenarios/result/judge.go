package result

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// judge holds a run's laws and their state.
type judge struct {
	laws []judged
	// idle: nothing ran, so nothing was judged.
	idle bool
}

// judged is one law's state.
type judged struct {
	law     fact.Law
	watcher fact.Watcher
	// missing is the evidence that the world does not deliver.
	missing []fact.Evidence
	// checks counts snapshots with something to judge, occasions the things judged in them.
	checks, occasions int64
	broken            int64
}

// newJudge prepares laws for a world with this evidence.
func newJudge(laws []fact.Law, delivered []fact.Evidence) *judge {
	j := &judge{laws: make([]judged, len(laws)), idle: true}
	for i, law := range laws {
		l := &j.laws[i]
		l.law, l.missing = law, law.Missing(delivered)
		if law.Watch != nil && len(l.missing) == 0 {
			l.watcher = law.Watch()
		}
	}
	return j
}

// demanded returns an error if the scenario names a law that cannot be judged here, else nil.
func (j *judge) demanded(s *scenarios.Scenario, world string) error {
	for i := range j.laws {
		l := &j.laws[i]
		if len(l.missing) == 0 || s.Laws == nil && s.Expect.Violation != l.law.Name {
			continue
		}
		r := LawResult{Status: NotJudgedStatus, Missing: l.missing}
		return fmt.Errorf("the scenario names law %s, which world %s cannot judge: %s", l.law.Name, world, r.StatusText())
	}
	return nil
}

// observe passes a fact to all watchers and yields the violations.
func (j *judge) observe(f *fact.Fact) iter.Seq[*fact.Violation] {
	return func(yield func(*fact.Violation) bool) {
		for i := range j.laws {
			l := &j.laws[i]
			if l.watcher == nil {
				continue
			}
			if err := l.watcher.Observe(f); err != nil && !yield(asViolation(err, l.law.Name, f.At, f.Node)) {
				return
			}
		}
	}
}

// check judges a snapshot by the wanted laws and returns the first violation.
func (j *judge) check(snapshot fact.Snapshot, wanted func(fact.Law) bool) *fact.Violation {
	for i := range j.laws {
		l := &j.laws[i]
		// settle itself counts LawSettles
		if l.law.Check == nil || len(l.missing) > 0 || l.law.Name == LawSettles || !wanted(l.law) {
			continue
		}
		occasions, err := l.law.Check(snapshot)
		if occasions > 0 || err != nil {
			l.checks++
			l.occasions += max(1, occasions)
		}
		if err != nil {
			return asViolation(err, l.law.Name, snapshot.At, "")
		}
	}
	return nil
}

// recovering is check for snapshots whose views may panic.
func (j *judge) recovering(snapshot fact.Snapshot, wanted func(fact.Law) bool) (err error) {
	if snapshot.Recover != nil {
		defer snapshot.Recover(&err)
	}
	if v := j.check(snapshot, wanted); v != nil {
		return v
	}
	return nil
}

// find returns a law of this run by name, or nil.
func (j *judge) find(name string) *judged {
	for i := range j.laws {
		if j.laws[i].law.Name == name {
			return &j.laws[i]
		}
	}
	return nil
}

func (j *judge) results() []LawResult {
	out := make([]LawResult, 0, len(j.laws))
	for _, l := range j.laws {
		r := LawResult{Name: l.law.Name, Rule: l.law.Rule, Why: l.law.Why, Status: HeldStatus, Missing: l.missing, Checks: l.checks,
			Occasions: l.occasions, Violations: l.broken}
		if l.watcher != nil {
			r.Checks += l.watcher.Checks()
			r.Occasions += l.watcher.Checks()
		}
		switch {
		case r.Violations > 0:
			r.Status = BrokenStatus
			r.Checks, r.Occasions = max(1, r.Checks), max(1, r.Occasions)
		case len(r.Missing) > 0 || j.idle:
			r.Status = NotJudgedStatus
		}
		out = append(out, r)
	}
	return out
}

// asViolation converts a law's error to a Violation.
func asViolation(err error, law string, at time.Duration, node string) *fact.Violation {
	var v *fact.Violation
	if errors.As(err, &v) {
		return v
	}
	return &fact.Violation{Law: law, At: at, Node: node, What: err.Error()}
}

// checkNow judges the current instant by every applicable law. Laws for settled clusters apply only to settled ones.
func (r *run) checkNow(ctx context.Context) {
	if !r.over() {
		r.look(ctx, func(l fact.Law, settled bool) bool {
			return (l.When == fact.Always || settled) && !(r.proven && slices.Contains(l.Needs, fact.VPPTables))
		})
	}
}

// checkAlways judges, after each action, laws that hold at every instant and have no watcher.
func (r *run) checkAlways(ctx context.Context) {
	if r.over() {
		return
	}
	unwatched := func(l fact.Law, _ bool) bool { return l.When == fact.Always && l.Watch == nil }
	needed := false
	for i := range r.judge.laws {
		l := r.judge.laws[i].law
		needed = needed || l.Check != nil && unwatched(l, false) && len(r.judge.laws[i].missing) == 0
	}
	if needed {
		r.look(ctx, unwatched)
	}
}

// look judges a snapshot of the current instant by some laws.
func (r *run) look(ctx context.Context, wanted func(l fact.Law, settled bool) bool) {
	snapshot, err := r.world.Snapshot(ctx)
	if err != nil {
		r.broken(fmt.Errorf("snapshot at %s: %w", scenarios.FormatDuration(r.world.Now()), err))
		return
	}
	if r.looking != nil {
		r.broken(r.looking.at(snapshot))
	}
	r.broken(r.judge.recovering(snapshot, func(l fact.Law) bool { return wanted(l, snapshot.Settled) }))
}
