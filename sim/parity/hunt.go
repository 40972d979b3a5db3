package parity

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"go.fd.io/govpp/api"
)

// Hunt loads standalone real VPPs with more and more objects of one kind, each count on a fresh one, and watches for
// death, silence and leftovers. It has found that VPP 25.10 hangs at 16 AF_PACKET interfaces.
type Hunt struct {
	// Path is VPP's binary.
	Path string
	// Most is the largest count; a load whose objects cost much ends earlier by itself.
	Most int
	// Only names the loads to try; none: all.
	Only []string
	// Tell receives each trial at its end.
	Tell func(Trial)
}

// Trial is one load and count.
type Trial struct {
	Load  string `json:"load"`
	Count int    `json:"count"`
	// Verdict is one of the words below, Why what happened where it is not Fine.
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`
	// Added is how long adding all took, Slowest the longest answer of all.
	Added   time.Duration `json:"added"`
	Slowest time.Duration `json:"slowest"`
	// Held is what all objects together took; Left is what more was held after the last round than after the first, when
	// all were gone.
	Held Vitals `json:"held"`
	Left Vitals `json:"left"`
}

// Verdicts of a trial.
const (
	Fine    = "fine"
	Died    = "died"
	Silent  = "silent"
	Refused = "refused"
	Leaks   = "leaks"
)

const (
	// rounds is how often a trial adds and removes everything. The first one grows what VPP never shrinks.
	rounds = 4
	// sure is how many rounds must each have grown before that is called a leak: frames under way at the end of a round
	// make buffers rise three times in a row by chance (seen: 0, 69, 140, 208).
	sure = 12
	// leakBytes is how much of the heap each object may leave behind a round: nothing, as far as VPP's 10 KB let one see.
	leakBytes, heapStep = 8, 10 << 10
)

// steps are the counts that are tried.
var steps = []int{4, 16, 64, 256, 1024, 4096, 16384, 65536}

// hunted is a VPP under a load.
type hunted struct {
	p       *process
	room    *testbed
	count   int
	slowest time.Duration
	// on is what the load's objects stand on.
	on uint32
}

// errRefused is VPP's own answer, errSilent none.
var (
	errRefused = errors.New("VPP refuses")
	errSilent  = errors.New("no answer within " + answerMax.String())
)

// LoadNames are the loads' names in the order in which they are tried.
func LoadNames() (names []string) {
	for _, l := range loads {
		names = append(names, l.name)
	}
	return names
}

// Run tries all loads. After a count that VPP fails, the load is not tried with more. The error says that nothing could
// be tried.
func (h Hunt) Run(ctx context.Context) ([]Trial, error) {
	var out []Trial
	for _, l := range loads {
		if len(h.Only) > 0 && !slices.Contains(h.Only, l.name) {
			continue
		}
		for _, n := range steps {
			if n > min(h.Most, l.most) {
				break
			}
			t, err := h.try(ctx, l, n)
			if err != nil {
				return out, err
			}
			out = append(out, t)
			if h.Tell != nil {
				h.Tell(t)
			}
			if t.Verdict != Fine && t.Verdict != Leaks {
				break
			}
		}
	}
	return out, ctx.Err()
}

// try is one trial on a VPP and a namespace of its own.
func (h Hunt) try(ctx context.Context, l load, n int) (Trial, error) {
	t := Trial{Load: l.name, Count: n, Verdict: Fine}
	room, err := newTestbed()
	if err != nil {
		return t, err
	}
	defer room.close()
	p, err := start(ctx, room, h.Path, huntedHeap)
	if err != nil {
		return t, err
	}
	defer p.stop()
	v := &hunted{p: p, room: room, count: n}
	err = v.load(ctx, l, &t)
	t.Slowest = v.slowest
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return t, ctx.Err()
	case errors.Is(err, errRefused):
		t.Verdict, t.Why = Refused, err.Error()
	case errors.Is(err, errSilent):
		t.Verdict, t.Why = Silent, err.Error()
		if how := p.end(); how != "does not answer" {
			t.Verdict, t.Why = Died, err.Error()+": "+how
		}
	default:
		return t, fmt.Errorf("%s: %w", l.name, err)
	}
	return t, nil
}

// load adds and removes everything some times, and compares what is held.
func (h *hunted) load(ctx context.Context, l load, t *Trial) error {
	if l.prepare != nil {
		if err := l.prepare(ctx, h); err != nil {
			return err
		}
	}
	fresh, err := h.vitals(ctx)
	if err != nil {
		return err
	}
	var empty []Vitals
	why := ""
	for round := 0; round < rounds || why != "" && round < sure; round++ {
		begun := time.Now()
		for i := range h.count {
			if err := l.add(ctx, h, i); err != nil {
				return fmt.Errorf("round %d, object %d: %w", round+1, i+1, err)
			}
		}
		if round == 0 {
			t.Added = time.Since(begun)
			held, err := h.vitals(ctx)
			if err != nil {
				return err
			}
			t.Held = held.minus(fresh)
		}
		if l.stress != nil {
			if err := l.stress(ctx, h); err != nil {
				return fmt.Errorf("round %d, all %d there: %w", round+1, h.count, err)
			}
		}
		for i := range h.count {
			if err := l.remove(ctx, h, i); err != nil {
				return fmt.Errorf("round %d, removing object %d: %w", round+1, i+1, err)
			}
		}
		now, err := h.vitals(ctx)
		if err != nil {
			return err
		}
		empty = append(empty, now)
		why = leaks(empty, h.count)
	}
	t.Left = empty[len(empty)-1].minus(empty[0])
	if why != "" {
		t.Verdict, t.Why = Leaks, why
	}
	return nil
}

// leaks says what grew with every round after the first, "" for nothing.
func leaks(empty []Vitals, count int) string {
	if len(empty) < 2 {
		return ""
	}
	grew := func(of func(Vitals) int64, least int64) bool {
		for i := 1; i < len(empty); i++ {
			if of(empty[i])-of(empty[i-1]) < least {
				return false
			}
		}
		return true
	}
	last := empty[len(empty)-1].minus(empty[0])
	n := int64(len(empty) - 1)
	switch {
	case grew(func(v Vitals) int64 { return int64(v.Descriptors) }, 1):
		return fmt.Sprintf("%d open files more in %d rounds", last.Descriptors, n)
	case grew(func(v Vitals) int64 { return int64(v.Buffers) }, 1):
		return fmt.Sprintf("%d buffers more in %d rounds", last.Buffers, n)
	case grew(func(v Vitals) int64 { return v.Heap }, max(int64(count)*leakBytes, 2*heapStep)):
		return fmt.Sprintf("%d bytes of heap more for each object and round", last.Heap/n/int64(count))
	}
	return ""
}

func (v Vitals) minus(x Vitals) Vitals {
	return Vitals{v.Heap - x.Heap, v.Buffers - x.Buffers, v.Descriptors - x.Descriptors}
}

// ask sends one request and notes how long the answer takes.
func (h *hunted) ask(ctx context.Context, m, reply api.Message) error {
	bounded, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	begun := time.Now()
	err := h.p.conn.Invoke(bounded, m, reply)
	h.slowest = max(h.slowest, time.Since(begun))
	var refused api.VPPApiError
	switch {
	case err == nil:
		if v := reflect.ValueOf(reply).Elem().FieldByName("Retval"); v.IsValid() && v.Int() != 0 {
			return fmt.Errorf("%w %s: %w", errRefused, m.GetMessageName(), api.RetvalToVPPApiError(int32(v.Int())))
		}
		return nil
	case errors.As(err, &refused):
		return fmt.Errorf("%w %s: %w", errRefused, m.GetMessageName(), refused)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%s: %w", m.GetMessageName(), errSilent)
}
