package suite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/zeebo/xxh3"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// The names of the report entries of a spec.
const (
	// EntryRun is attached once per run; its value is a RunEntry.
	EntryRun = "vppdrill run"
	// EntryTail is attached to a broken law; its value holds the last event lines up to the bad one.
	EntryTail = "vppdrill events"
)

// RunEntry is what a report keeps of one run. Its JSON names are a promise.
type RunEntry struct {
	Seed           uint64         `json:"seed"`
	Verdict        result.Verdict `json:"verdict"`
	Digest         string         `json:"digest"`
	Events         int64          `json:"events"`
	VirtualSeconds float64        `json:"virtualSeconds"`
	Replay         string         `json:"replay"`
}

// String is one line.
func (r RunEntry) String() string {
	return fmt.Sprintf("seed %d: %s, %d events, digest %s, %g virtual s", r.Seed, r.Verdict, r.Events, r.Digest,
		r.VirtualSeconds)
}

// rehearse is the body of a spec: every seed in turn, until one does not pass.
func (o *Options) rehearse(ctx context.Context, s *scenarios.Scenario) {
	for _, seed := range o.seedsOf(s, ginkgo.GinkgoRandomSeed()) {
		first := o.attempt(ctx, s, seed)
		o.conclude(s, &first)
		if !o.Twice {
			continue
		}
		second := o.attempt(ctx, s, seed)
		if first.Digest == "" || second.Digest != first.Digest || second.Events != first.Events ||
			second.Verdict != first.Verdict {
			ginkgo.Fail(differing(&first, &second))
		}
	}
}

// attempt does one run and attaches it to the report. A World that cannot be built, or that leaves something behind,
// ends the spec.
func (o *Options) attempt(ctx context.Context, s *scenarios.Scenario, seed uint64) result.Result {
	replay := o.Replay(s, seed)
	// Shown with every failure, so that a panic or a timeout can be replayed as well.
	ginkgo.By("seed " + strconv.FormatUint(seed, 10) + ": " + replay)
	res, err := o.run(ctx, s, result.Options{Seed: seed, Replay: replay, OnMark: step})
	if err != nil {
		if o.SkipUnsupported && errors.Is(err, result.ErrUnsupported) {
			ginkgo.Skip(err.Error())
		}
		var b block
		b.WriteString(err.Error())
		b.add("replay", replay)
		ginkgo.Fail(b.String())
	}
	if f := res.Failure; f != nil && o.retest != nil {
		if _, ours := check.ByName(f.Law); !ours {
			res.Replay = o.retest(s) // vppdrill run lacks the law, and passes
		}
	}
	attach(s, EntryRun, RunEntry{
		Seed: seed, Verdict: res.Verdict, Digest: res.Digest, Events: res.Events,
		VirtualSeconds: res.VirtualSeconds, Replay: res.Replay,
	})
	return res
}

// conclude ends the spec when a run did not pass.
func (o *Options) conclude(s *scenarios.Scenario, r *result.Result) {
	switch {
	case r.Verdict == result.Pass:
	case o.SkipUnsupported && skippable(r):
		ginkgo.Skip(r.Error)
	default:
		if r.Failure != nil && len(r.Failure.Tail) > 0 {
			attach(s, EntryTail, strings.Join(r.Failure.Tail, "\n"))
		}
		ginkgo.Fail(describe(r))
	}
}

// attach adds an entry to the report that people see of failures and with -ginkgo.v.
func attach(s *scenarios.Scenario, name string, value any) {
	ginkgo.AddReportEntry(name, ginkgo.ReportEntryVisibilityFailureOrVerbose, value, placeOf(s))
}

// run builds a World, drives it and closes it, whatever happens.
func (o *Options) run(ctx context.Context, s *scenarios.Scenario, how result.Options) (res result.Result, err error) {
	w, err := o.Factory(ctx, s, how.Seed)
	if err != nil {
		return res, fmt.Errorf("build a world for %s: %w", s.Name, err)
	}
	defer func() {
		closing := w.Close()
		switch {
		case closing == nil:
		case err == nil && res.Verdict == result.Pass:
			err = fmt.Errorf("close the world of %s: %w", s.Name, closing)
		default:
			ginkgo.By(fmt.Sprintf("close the world of %s: %s", s.Name, closing)) // what failed before is what matters
		}
	}()
	if name := w.Name(); name != o.World {
		return res, fmt.Errorf("the factory built a world called %s for specs labeled %s; see Options.World", name, o.World)
	}
	return result.Run(ctx, w, s, o.Laws, how), nil
}

// step shows a mark of the timeline as a step of the spec, at its virtual time.
func step(m result.Mark) {
	text := m.Text
	if m.Node != "" && !strings.Contains(text, m.Node) {
		text = m.Node + " " + text
	}
	ginkgo.By(scenarios.FormatDuration(seconds(m.AtSeconds)) + " " + text)
}

// seedsOf are the seeds of a scenario: its own first, whatever Ginkgo's is.
func (o *Options) seedsOf(s *scenarios.Scenario, random int64) []uint64 {
	seeds := append([]uint64(nil), o.Seeds...)
	if o.Seeds == nil {
		for seed := range max(s.Seeds, 1) {
			seeds = append(seeds, uint64(seed)+1)
		}
	}
	for i := range o.Drawn {
		seeds = append(seeds, xxh3.HashStringSeed(s.Name+" "+strconv.Itoa(i), uint64(random)))
	}
	return seeds
}

// skippable reports whether nothing is wrong with a run but that its World could not do an action.
func skippable(r *result.Result) bool {
	for _, law := range r.Laws {
		if law.Violations > 0 {
			return false
		}
	}
	return len(r.Unsupported) > 0 && r.Failure == nil
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Microsecond)
}
