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

// finish fills in the result, whatever happened before.
func (r *run) finish(ctx context.Context, started time.Time) Result {
	out := &r.result
	r.end(ctx)
	if rec, ok := r.world.(recorder); ok {
		out.Digest, out.Events = rec.Digest(), rec.Events()
	}
	out.Laws = r.judge.results()
	out.Addresses = r.held.list()
	out.Exercised = r.exercised()
	r.verdict()
	if r.failure != nil && r.over() {
		out.VirtualSeconds = r.world.Now().Seconds() // what broke long after the end belongs to the picture
	}
	r.marks.end(time.Duration(out.VirtualSeconds * float64(time.Second)))
	out.Timeline = r.marks.list()
	out.PeakRSSBytes = peakRSS()
	out.WallSeconds = time.Since(started).Seconds()
	return *out
}

// end takes what the run amounts to at this moment, once.
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
			_ = r.looking.at(snapshot) // what fell here has been judged
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

// verdict decides how the run ended. An expected violation turns it round.
func (r *run) verdict() {
	out, want := &r.result, r.s.Expect.Violation
	switch {
	case r.err != nil:
		out.Verdict, out.Error = Error, oneline.Text(r.err.Error())
	case r.failure != nil && r.failure.Law != want: // whatever else could not be done: this law is broken
		out.Verdict, out.Error = Fail, oneline.Text(r.failure.Error())
		r.noteFailure()
	case len(out.Unsupported) > 0:
		out.Verdict, out.Error = Error, fmt.Sprintf("world %s cannot do %s", out.World, strings.Join(r.refused, ", "))
	case r.failure != nil:
		out.Verdict = Pass
		r.noteFailure()
	case want != "":
		out.Verdict, out.Error = Fail, fmt.Sprintf("law %s was expected to be broken and held", want)
	case out.Error != "":
		out.Verdict = Fail
	case r.idleLaw() != "":
		out.Verdict, out.Error = Fail, fmt.Sprintf("law %s is asked for by name and found nothing to judge", r.idleLaw())
	default:
		out.Verdict = Pass
	}
}

// idleLaw is the first law that the scenario names and that had no occasion, "" for none.
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
	f := &Failure{Law: v.Law, What: v.What, Cause: cmp.Or(v.Cause, nameless(v.What)), Node: v.Node, Follows: r.marks.before(v.At), AtSeconds: v.At.Seconds(), Before: v.Before, After: v.After, Way: v.Way}
	if rec, ok := r.world.(recorder); ok {
		f.Event, f.Tail = rec.Events(), rec.Tail(r.o.TailLines)
		if n := len(f.Tail); n > 0 {
			f.Line = f.Tail[n-1]
		}
	}
	r.result.Failure = f
	r.marks.failure(v)
}

// peakRSS is the process's peak resident set in bytes, 0 where the system does not tell. It covers every run of the
// process so far.
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
