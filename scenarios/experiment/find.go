package experiment

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// Found is where a condition ends at one point.
type Found struct {
	// Point's Number.
	Point int `json:"point"`
	// Level is the last for which the condition holds, Next the first behind it for which it does not. Of a search that did not end they
	// are the nearest that are known, "" for none.
	Level string `json:"level"`
	Next  string `json:"next"`
	// Tried is every level that was run, in their order.
	Tried []Tried `json:"tried"`
	// Interrupted: the search did not end, and the level that is wanted lies between Level and Next.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Tried is one level with its runs.
type Tried struct {
	Level string `json:"level"`
	// Held of Runs fulfilled the condition; Low and High are Wilson's interval of the share at the confidence that was asked for.
	Held int     `json:"held"`
	Runs int     `json:"runs"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Holds: the interval lies above the share that was asked for, or, where the seeds are too few for that, all of them held. Undecided:
	// it still held that share when there were no more seeds, which counts as not holding.
	Holds     bool `json:"holds"`
	Undecided bool `json:"undecided,omitempty"`
}

// Search is how far the search at one point is.
type Search struct {
	Point *Point
	// Level is under way, with what came of its Runs so far; it gets Most at most.
	Level Tried
	Most  int
	// Holds and Fails are the nearest levels at which the condition is known to hold and not to, "" for none.
	Holds, Fails string
	// Left is how many levels come behind this one at most.
	Left int
}

// text is the question in words.
func (f Find) text() string {
	field, word := f.Field()
	text := fmt.Sprintf("the %s %s of %s for which %s in ", word, field, f.Within, f.Where)
	if f.few() {
		return text + fmt.Sprintf("all of %d runs of a level: to show it for %g%% of runs at %g%% confidence takes %d seeds", f.bound(), f.Share*100, f.Confidence*100, f.least())
	}
	return text + fmt.Sprintf("%g%% of runs, at %g%% confidence", f.Share*100, f.Confidence*100)
}

// most is how many seeds a level gets at most where nobody says.
const most = 100

// bound is how many seeds a level gets at most.
func (f Find) bound() int {
	switch {
	case f.Seeds > 0:
		return f.Seeds
	case f.Most > 0:
		return f.Most
	}
	return most
}

// least is how many runs show that the condition holds, if it holds in all of them.
func (f Find) least() int {
	z := zOf(f.Confidence)
	return sort.Search(math.MaxInt32, func(n int) bool { return n > 0 && surest(n, z) > f.Share })
}

// few: the seeds are too few to show the share at the confidence, whatever comes of them, so that all of them must hold.
func (f Find) few() bool { return f.bound() < f.least() }

// halvings is how many levels a bisection tries at most between two that are so far apart.
func halvings(gap int) int { return bits.Len(uint(max(gap-1, 0))) }

// Limits is what a search takes at most at each point: how many of how many levels it tries, and how many seeds each of them gets.
// Each level is one of the two ends or halves what is between them. Without a condition there is nothing to search, and all are 0.
func (f *File) Limits() (tried, of, seeds int) {
	if f.Find.Where == "" {
		return 0, 0, 0
	}
	list, err := levels(f.Find.Within)
	if err != nil {
		return 0, 0, 0 // Check refuses it
	}
	return 2 + halvings(len(list)-1), len(list), f.Find.bound()
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
		out.Found = append(out.Found, found)
		for _, t := range found.Tried {
			out.Runs += t.Runs
		}
		if err != nil {
			return err
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
	// holds and fails are the nearest levels of which it is known, the ends before they were tried.
	holds, fails int
}

// do finds the last level for which the condition holds, seen from the end at which it is easier: for the largest from below. What is
// known is there with an error, too.
func (b *bisection) do(ctx context.Context) (Found, error) {
	b.holds, b.fails = 0, len(b.levels)-1
	if b.f.Find.Smallest != "" {
		b.holds, b.fails = b.fails, b.holds
	}
	err := b.search(ctx)
	found := Found{Point: b.p.Number, Interrupted: err != nil}
	found.Level, found.Next = b.nearest()
	for i := range b.levels {
		if t, ok := b.tried[i]; ok {
			found.Tried = append(found.Tried, t)
		}
	}
	return found, err
}

// nearest are the levels at which the condition is known to hold and not to, "" for none.
func (b *bisection) nearest() (holds, fails string) {
	if b.tried[b.holds].Holds {
		holds = b.levels[b.holds]
	}
	if t, ok := b.tried[b.fails]; ok && !t.Holds {
		fails = b.levels[b.fails]
	}
	return holds, fails
}

// gap is how many steps lie between two levels.
func gap(a, b int) int { return max(a-b, b-a) }

func (b *bisection) search(ctx context.Context) error {
	between := halvings(gap(b.holds, b.fails))
	_, word := b.f.Find.Field()
	a, err := b.try(ctx, b.holds, 1+between)
	if err != nil {
		return err
	}
	if !a.Holds {
		return b.f.wrong("find.within", fmt.Sprintf("%s: %q does not hold even at %s (in %d of %d runs), so there is no %s", b.p.Label(), b.f.Find.Where,
			a.Level, a.Held, a.Runs, word), "")
	}
	z, err := b.try(ctx, b.fails, between)
	if err != nil {
		return err
	}
	if z.Holds {
		return b.f.wrong("find.within", fmt.Sprintf("%s: %q never changes: it holds at %s and at %s; widen the range", b.p.Label(), b.f.Find.Where, a.Level, z.Level), "")
	}
	for gap(b.holds, b.fails) > 1 {
		middle := (b.holds + b.fails) / 2
		t, err := b.try(ctx, middle, halvings(max(gap(b.holds, middle), gap(middle, b.fails))))
		if err != nil {
			return err
		}
		if t.Holds {
			b.holds = middle
		} else {
			b.fails = middle
		}
	}
	return nil
}

// A level gets two seeds first, which already decide where neither holds, and then up to each multiple of batch.
const (
	first = 2
	batch = 10
)

// try runs a level with ever more seeds until it is certain whether the condition holds there, at most left more come behind it.
func (b *bisection) try(ctx context.Context, index, left int) (Tried, error) {
	find := b.f.Find
	where, err := readCondition(find.Where)
	if err != nil {
		return Tried{}, err
	}
	field, _ := find.Field()
	s, err := With(b.p.Scenario, []Value{{field, b.levels[index]}})
	if err != nil {
		return Tried{}, b.f.wrong("find.within", fmt.Sprintf("%s %s: %v", b.p.Label(), b.levels[index], err), "")
	}
	t, key, bound := Tried{Level: b.levels[index]}, KeyOf(s), find.bound()
	for next := first; t.Runs < bound; next = t.Runs - t.Runs%batch + batch {
		b.tell(t, left)
		var jobs []job
		for seed := t.Runs; seed < min(next, bound); seed++ {
			jobs = append(jobs, job{s, key, uint64(seed + 1)})
		}
		runs, err := b.e.do(ctx, jobs)
		if err != nil {
			return t, err
		}
		for _, r := range runs {
			t.Runs++
			if where.holds(r.Figures) {
				t.Held++
			}
		}
		if find.judge(&t); !t.Undecided {
			break
		}
	}
	b.tried[index] = t
	return t, nil
}

// judge says what a level's runs amount to so far.
func (f Find) judge(t *Tried) {
	t.Low, t.High = Wilson(t.Held, t.Runs, zOf(f.Confidence))
	if f.few() {
		t.Holds = t.Held == t.Runs && t.Runs == f.bound()
		t.Undecided = t.Held == t.Runs && t.Runs < f.bound()
		return
	}
	t.Holds, t.Undecided = t.Low > f.Share, t.Low <= f.Share && t.High >= f.Share
}

// tell says how far the search is.
func (b *bisection) tell(t Tried, left int) {
	if b.e.Searching == nil {
		return
	}
	now := Search{Point: b.p, Level: t, Most: b.f.Find.bound(), Left: left}
	now.Holds, now.Fails = b.nearest()
	b.e.Searching(now)
}
