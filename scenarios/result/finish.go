package result

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// finish completes the result, even after an error.
func (r *run) finish(ctx context.Context, started time.Time) Result {
	out := &r.result
	r.end(ctx)
	if rec, ok := r.world.(Recorder); ok {
		out.Digest, out.Events = rec.Digest(), rec.Events()
	}
	out.Laws = r.judge.results()
	out.Addresses = r.held.list()
	out.Exercised = r.exercised()
	r.verdict()
	if r.failure != nil && r.over() {
		out.VirtualSeconds = r.world.Now().Seconds() // the result includes a violation long after the end
	}
	r.marks.end(time.Duration(out.VirtualSeconds * float64(time.Second)))
	out.Timeline = r.marks.list()
	out.PeakRSSBytes = peakRSS()
	out.WallSeconds = time.Since(started).Seconds()
	return *out
}

// end computes the run's summary at this moment, once.
func (r *run) end(ctx context.Context) {
	if r.ended {
		return
	}
	r.ended = true
	out, now := &r.result, r.world.Now()
	out.VirtualSeconds, out.Summary = now.Seconds(), r.tally.summary(now)
	if r.sampler != nil {
		out.Series = r.sampler.series(r.tally, now)
	}
	if r.looking != nil {
		out.Story = &r.looking.story
		out.Story.Starts = r.tally.lives.quantiles(now)
	}
	if snapshot, err := r.world.Snapshot(ctx); err == nil {
		if r.looking != nil {
			_ = r.looking.at(snapshot) // a panic here has been judged
		}
		out.Nodes = len(snapshot.Nodes)
		for _, n := range snapshot.Nodes {
			out.Pods += len(n.Pods)
		}
		if r.o.AtEnd != nil {
			r.o.AtEnd(snapshot)
		}
	}
}

// verdict decides the run's verdict. An expected violation inverts it.
func (r *run) verdict() {
	out, want := &r.result, r.s.Expect.Violation
	switch {
	case r.err != nil:
		out.Verdict, out.Error = Error, oneline.Text(r.err.Error())
	case r.failure != nil && r.failure.Law != want: // the broken law counts more than unsupported actions
		out.Verdict, out.Error = Fail, oneline.Text(r.failure.Error())
		r.noteFailure()
	case len(out.Unsupported) > 0:
		out.Verdict, out.Error = Error, fmt.Sprintf("world %s cannot do %s", out.World, strings.Join(r.refused, ", "))
	case r.failure != nil:
		out.Verdict = Pass
		r.noteFailure()
	case want != "":
		out.Verdict, out.Error = Fail, fmt.Sprintf("expected law %s to be broken, but it held", want)
	case out.Error != "":
		out.Verdict = Fail
	case r.idleLaw() != "":
		out.Verdict, out.Error = Fail, fmt.Sprintf("the scenario names law %s, which found nothing to judge", r.idleLaw())
	default:
		out.Verdict = Pass
	}
}

// idleLaw is the first law that the scenario names and that had no occasion, or "".
func (r *run) idleLaw() string {
	for _, l := range r.result.Laws {
		if r.s.Laws != nil && l.Idle() {
			return l.Name
		}
	}
	return ""
}

func (r *run) noteFailure() {
	if r.result.Failure != nil {
		return
	}
	v := r.failure
	f := &Failure{Law: v.Law, What: v.What, Cause: cmp.Or(v.Cause, nameless(v.What)), Node: v.Node,
		Follows: r.marks.before(v.At), AtSeconds: v.At.Seconds(), Before: v.Before, After: v.After, Way: v.Way}
	if rec, ok := r.world.(Recorder); ok {
		f.Event, f.Tail = rec.Events(), rec.Tail(r.o.TailLines)
		if n := len(f.Tail); n > 0 {
			f.Line = f.Tail[n-1]
		}
	}
	r.result.Failure = f
	r.marks.failure(v)
}

// peakRSS is the process's peak resident set in bytes, or 0 if unknown. It covers every run of the process so far.
func peakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, ok := strings.Cut(string(status), "VmHWM:")
	if !ok {
		return 0
	}
	text, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	kilobytes, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}
