package cmd

import (
	"context"
	"fmt"
	"hash/maphash"
	"runtime"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// verified runs everything twice, on one processor and on several, and turns any difference into an error that names
// the first event that differs and what class of cause is behind it: promise 1 of ARCHITECTURE.md.
func verified(run RunFunc) RunFunc {
	return func(ctx context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		many := max(runtime.NumCPU(), 2)
		before := runtime.GOMAXPROCS(1)
		defer runtime.GOMAXPROCS(before)
		tell, one := o.Events, &trail{}
		o.Events = func(seq int64, at time.Duration, line []byte) {
			one.add(seq, at, line)
			if tell != nil {
				tell(seq, at, line)
			}
		}
		first, err := run(ctx, s, o)
		if err != nil {
			return first, err
		}
		runtime.GOMAXPROCS(many)
		o.OnMark, o.AtEnd = nil, nil
		other := &trail{against: one}
		o.Events = other.add
		second, err := run(ctx, s, o)
		if err != nil {
			return first, err
		}
		same := first.Digest == second.Digest && first.Events == second.Events && first.Verdict == second.Verdict
		if same && other.differs == 0 {
			return first, nil
		}
		first.Verdict = result.Error
		first.Error = fmt.Sprintf("two runs of one seed differ: %d events, digest %s on 1 processor; %d events, digest %s on %d",
			first.Events, first.Digest, second.Events, second.Digest, many)
		if other.differs == 0 {
			if first.Events != second.Events {
				first.Error += fmt.Sprintf("; they agree until event %d, with which one of them ends", min(first.Events, second.Events))
			}
			return first, nil
		}
		// Which of the two is odd? The first again, unchanged, says whether the number of processors has anything to do
		// with it.
		runtime.GOMAXPROCS(1)
		again := &trail{against: one, want: other.differs}
		o.Events = again.add
		if _, err := run(ctx, s, o); err != nil {
			return first, err
		}
		first.Error += "; " + difference(other, again)
		return first, nil
	}
}

// difference is the first event that differs between two runs, and the class of its cause.
func difference(other, again *trail) string {
	where := fmt.Sprintf("the first event that differs is %d: ", other.differs)
	if again.differs != 0 && again.differs <= other.differs {
		return where + fmt.Sprintf("%q on several processors; on one processor it is another each time, now %q: something beside the seed decides (map order, a clock, chance)",
			other.line, again.lineAt())
	}
	return where + fmt.Sprintf("%q on one processor, %q on several; on one processor it is always the same: goroutines race%s",
		again.lineAt(), other.line, kindOfDifference(again.lineAt(), other.line))
}

// kindOfDifference says in what two lines differ, where it is one thing.
func kindOfDifference(a, b string) string {
	atA, lineA, _ := strings.Cut(a, " ")
	atB, lineB, _ := strings.Cut(b, " ")
	switch {
	case lineA == lineB && atA != atB:
		return ", about when the same thing happens"
	case atA == atB:
		return ", about what happens at one instant"
	}
	return ""
}

// trail keeps eight bytes of each event of a run, so that another run can be held against it at once, however long both
// are.
type trail struct {
	sums []uint64
	// against, where set, is the run that this one is held against; differs is the first event that is another, 0 for
	// none so far, and line that event's.
	against *trail
	differs int64
	line    string
	// want is an event whose line is kept, too.
	want     int64
	wantLine string
}

var trailSeed = maphash.MakeSeed()

func (t *trail) add(seq int64, at time.Duration, line []byte) {
	var h maphash.Hash
	h.SetSeed(trailSeed)
	maphash.WriteComparable(&h, at)
	_, _ = h.Write(line) // never fails
	sum := h.Sum64()
	if t.against == nil {
		t.sums = append(t.sums, sum)
		return
	}
	text := func() string { return scenarios.FormatDuration(at) + " " + string(line) }
	if seq == t.want {
		t.wantLine = text()
	}
	if t.differs == 0 && (seq > int64(len(t.against.sums)) || t.against.sums[seq-1] != sum) {
		t.differs, t.line = seq, text()
	}
}

// lineAt is the line of the wanted event, or of the first that differs.
func (t *trail) lineAt() string {
	if t.wantLine != "" {
		return t.wantLine
	}
	return t.line
}
