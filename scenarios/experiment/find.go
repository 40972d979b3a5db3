package experiment

import (
	"context"
	"fmt"
)

// Found is where a condition ends at one point.
type Found struct {
	// Point's Number.
	Point int `json:"point"`
	// Level is the last for which the condition holds, Next the first behind it for which it does not.
	Level string `json:"level"`
	Next  string `json:"next"`
	// Tried is every level that was run, in their order.
	Tried []Tried `json:"tried"`
}

// Tried is one level with its runs.
type Tried struct {
	Level string `json:"level"`
	// Held of Runs fulfilled the condition; Low and High are Wilson's interval of the share at the confidence that was asked for.
	Held int     `json:"held"`
	Runs int     `json:"runs"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Holds: the interval lies above the share that was asked for. Undecided: it still held that share when there were no more seeds,
	// which counts as not holding.
	Holds     bool `json:"holds"`
	Undecided bool `json:"undecided,omitempty"`
}

// text is the question in words.
func (f Find) text() string {
	field, word := f.Field()
	return fmt.Sprintf("the %s %s of %s for which %s in %g%% of runs, at %g%% confidence", word, field, f.Within, f.Where, f.Share*100, f.Confidence*100)
}

// find bisects the levels of every point.
func (f *File) find(ctx context.Context, e *Engine, out *Outcome) error {
	list, err := levels(f.Find.Within)
	if err != nil {
		return f.wrong("find.within", err.Error(), "")
	}
	for _, p := range out.Points {
		b := bisection{f: f, e: e, p: p, levels: list, tried: map[int]Tried{}}
		found, err := b.do(ctx)
		if err != nil {
			return err
		}
		out.Found = append(out.Found, found)
		for _, t := range found.Tried {
			out.Runs += t.Runs
		}
	}
	return nil
}

// bisection is one point's.
type bisection struct {
	f      *File
	e      *Engine
	p      *Point
	levels []string
	tried  map[int]Tried
}

// do finds the last level for which the condition holds, seen from the end at which it is easier: for the largest from below.
func (b *bisection) do(ctx context.Context) (Found, error) {
	holds, fails := 0, len(b.levels)-1
	if b.f.Find.Smallest != "" {
		holds, fails = fails, holds
	}
	for _, end := range [...]int{holds, fails} {
		if err := b.try(ctx, end); err != nil {
			return Found{}, err
		}
	}
	_, word := b.f.Find.Field()
	switch a, z := b.tried[holds], b.tried[fails]; {
	case !a.Holds:
		return Found{}, b.f.wrong("find.within", fmt.Sprintf("%s: %q does not hold even at %s (in %d of %d runs), so there is no %s", b.p.Label(), b.f.Find.Where,
			a.Level, a.Held, a.Runs, word), "")
	case z.Holds:
		return Found{}, b.f.wrong("find.within", fmt.Sprintf("%s: %q never changes: it holds at %s and at %s; widen the range", b.p.Label(), b.f.Find.Where, a.Level, z.Level), "")
	}
	for holds-fails > 1 || fails-holds > 1 {
		middle := (holds + fails) / 2
		if err := b.try(ctx, middle); err != nil {
			return Found{}, err
		}
		if b.tried[middle].Holds {
			holds = middle
		} else {
			fails = middle
		}
	}
	found := Found{Point: b.p.Number, Level: b.levels[holds], Next: b.levels[fails]}
	for i := range b.levels {
		if t, ok := b.tried[i]; ok {
			found.Tried = append(found.Tried, t)
		}
	}
	return found, nil
}

// batch is how many seeds a level gets at a time.
const batch = 10

// try runs a level with ever more seeds until it is certain whether the condition holds there.
func (b *bisection) try(ctx context.Context, index int) error {
	find := b.f.Find
	where, err := readCondition(find.Where)
	if err != nil {
		return err
	}
	field, _ := find.Field()
	s, err := With(b.p.Scenario, []Value{{field, b.levels[index]}})
	if err != nil {
		return b.f.wrong("find.within", fmt.Sprintf("%s %s: %v", b.p.Label(), b.levels[index], err), "")
	}
	t, key := Tried{Level: b.levels[index]}, KeyOf(s)
	for t.Runs < find.Most {
		var jobs []job
		for seed := t.Runs; seed < min(t.Runs+batch, find.Most); seed++ {
			jobs = append(jobs, job{s, key, uint64(seed + 1)})
		}
		runs, err := b.e.do(ctx, jobs)
		if err != nil {
			return err
		}
		for _, r := range runs {
			t.Runs++
			if where.holds(r.Figures) {
				t.Held++
			}
		}
		t.Low, t.High = Wilson(t.Held, t.Runs, zOf(find.Confidence))
		t.Holds, t.Undecided = t.Low > find.Share, t.Low <= find.Share && t.High >= find.Share
		if !t.Undecided {
			break
		}
	}
	b.tried[index] = t
	return nil
}
