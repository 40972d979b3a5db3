package parity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
)

// Sequence compares two VPPs on the same calls: every answer, and what dumps show at the end.
type Sequence struct {
	// Model and Real make a fresh subject each.
	Model, Real func(context.Context) (Subject, error)
}

// Finding is a difference that a sequence ends in.
type Finding struct {
	Seed  uint64
	Calls []api.Message
	transcript.Difference
	// Gaps were needed on the way.
	Gaps []string
}

// Kind names the subject of a difference, so that it is reported once.
func (f *Finding) Kind() string {
	var words []string
	name, _, _ := strings.Cut(f.Request, " ")
	words = append(words, name)
	for _, side := range [][]string{f.Want, f.Got} {
		if len(side) == 0 {
			words = append(words, "-")
			continue
		}
		for w := range strings.FieldsSeq(side[0]) {
			if strings.HasPrefix(w, "retval=") || strings.HasPrefix(w, "route.src=") || !strings.Contains(w, "=") {
				words = append(words, w)
			}
		}
	}
	return strings.Join(words, " ")
}

// String is the calls as a transcript, and what differs.
func (f *Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# seed %d, %d calls\n", f.Seed, len(f.Calls))
	for _, m := range f.Calls {
		if m != nil {
			b.WriteString("> " + transcript.Text(m) + "\n")
		}
	}
	b.WriteString("# differs (- VPP, + model):\n" + f.Difference.String() + "\n")
	return b.String()
}

// Report is what a run needed and did beside its answers.
type Report struct {
	// Gaps are the names of the gaps that were needed, once for each time.
	Gaps []string
	// Packets are how many were sent into both.
	Packets int
}

// Run performs calls on fresh subjects. After them, and wherever a call is nil, it looks at everything and sends
// packets. It returns the first difference or nil. An error says that there was nothing to compare: a VPP did not
// start, or the context ended.
func (s Sequence) Run(ctx context.Context, calls []api.Message) (*Finding, Report, error) {
	var report Report
	m, err := s.Model(ctx)
	if err != nil {
		return nil, report, err
	}
	defer m.Close()
	r, err := s.Real(ctx)
	if err != nil {
		return nil, report, err
	}
	defer r.Close()
	compare := func(q api.Message) (*transcript.Difference, error) {
		got, err := m.Ask(ctx, q)
		if err != nil {
			return nil, err
		}
		line := transcript.Text(q)
		want, err := r.Ask(ctx, q)
		if silent, is := errors.AsType[*silentError](err); is {
			return &transcript.Difference{Request: line, Want: []string{"(VPP " + silent.end + ")"}, Got: transcript.Lines(got)}, nil
		}
		if err != nil {
			return nil, err
		}
		d, used := transcript.Compare(line, transcript.Lines(want), transcript.Lines(got))
		report.Gaps = append(report.Gaps, used...)
		return d, nil
	}
	look := func() (*transcript.Difference, error) {
		shows, err := dumps(ctx, m)
		for _, q := range shows {
			if d, err := compare(q); d != nil || err != nil {
				return d, err
			}
		}
		if err != nil {
			return nil, err
		}
		d, sent, err := probe(ctx, m, r)
		report.Packets += sent
		if silent, is := errors.AsType[*silentError](err); is {
			return &transcript.Difference{Request: "(packets)", Want: []string{"(VPP " + silent.end + ")"}}, nil
		}
		return d, err
	}
	for i, q := range append(slices.Clone(calls), nil) {
		ask := look
		if q != nil {
			ask = func() (*transcript.Difference, error) { return compare(q) }
		}
		if d, err := ask(); d != nil || err != nil {
			return finding(calls[:min(i+1, len(calls))], d, report.Gaps), report, err
		}
	}
	return nil, report, nil
}

func finding(calls []api.Message, d *transcript.Difference, gaps []string) *Finding {
	if d == nil {
		return nil
	}
	return &Finding{Calls: calls, Difference: *d, Gaps: gaps}
}

// shrinkTime is what one difference may take to get shorter: a VPP that dies of one run in ten makes hundreds of calls an hour's work.
const shrinkTime = 3 * time.Minute

// Shrink leaves calls out of a finding as long as a difference of the same kind remains: halves first, then ever
// smaller parts, at last single calls until none can go, each also with the interfaces behind it renumbered. After
// shrinkTime it returns what it has.
func (s Sequence) Shrink(ctx context.Context, f *Finding) (*Finding, error) {
	kind, end := f.Kind(), time.Now().Add(shrinkTime)
	for size := max(len(f.Calls)/2, 1); size > 0; {
		shorter := false
		for at := 0; at+size <= len(f.Calls); {
			if time.Now().After(end) {
				return f, nil
			}
			g, err := s.without(ctx, f, at, size)
			if err != nil {
				return f, err
			}
			if g == nil || g.Kind() != kind {
				at += size
				continue
			}
			g.Seed = f.Seed
			f, shorter = g, true
		}
		if size == 1 && shorter {
			continue // one that had to stay may go now
		}
		size /= 2
	}
	return f, nil
}

// without runs a finding's calls without some of them. What made an interface takes its index away from all behind it:
// where that is too much, they are tried once more with the indices above it one lower.
func (s Sequence) without(ctx context.Context, f *Finding, at, size int) (*Finding, error) {
	calls := append(slices.Clone(f.Calls[:at]), f.Calls[at+size:]...)
	g, err := s.retry(ctx, calls)
	if err != nil || g != nil && g.Kind() == f.Kind() || size > 1 {
		return g, err
	}
	index, made := s.made(ctx, f.Calls[:at+1])
	if !made {
		return g, nil
	}
	for i := at; i < len(calls); i++ {
		if calls[i] != nil {
			calls[i] = renumbered(calls[i], index)
		}
	}
	return s.retry(ctx, calls)
}

// retry runs calls unless they would run into a known gap: a difference must not shrink to one that is explained.
func (s Sequence) retry(ctx context.Context, calls []api.Message) (*Finding, error) {
	if !clearOfGaps(calls) {
		return nil, nil
	}
	f, _, err := s.Run(ctx, calls)
	return f, err
}

// made returns the index of the interface that the last of calls makes on the model.
func (s Sequence) made(ctx context.Context, calls []api.Message) (uint32, bool) {
	m, err := s.Model(ctx)
	if err != nil {
		return 0, false
	}
	defer m.Close()
	for i, q := range calls {
		if q == nil {
			continue
		}
		answers, err := m.Ask(ctx, q)
		if err != nil {
			return 0, false
		}
		if i == len(calls)-1 {
			return transcript.Created(answers)
		}
	}
	return 0, false
}

// renumbered is a request with every interface index above one lower by one.
func renumbered(m api.Message, above uint32) api.Message {
	out, err := transcript.Parse(transcript.Renumber(transcript.Text(m), above))
	if err != nil {
		return m
	}
	return out
}

// RealVPPs starts a VPP for every call of the function that it returns, which may be called side by side: each VPP is
// in a testbed that no other one is in. end ends the testbeds; no VPP may be left by then.
func RealVPPs(path string) (fresh func(context.Context) (Subject, error), end func(), err error) {
	first, err := newTestbed()
	if err != nil {
		return nil, nil, err
	}
	free := &testbeds{free: []*testbed{first}}
	return func(ctx context.Context) (Subject, error) {
		r, err := free.take()
		if err != nil {
			return nil, err
		}
		p, err := start(ctx, r, path, comparedHeap)
		if err != nil {
			free.leave(r)
			return nil, err
		}
		c, err := overConnection(p, func() { free.leave(r) })
		if err != nil {
			p.stop()
			free.leave(r)
			return nil, err
		}
		return c, nil
	}, free.close, nil
}
