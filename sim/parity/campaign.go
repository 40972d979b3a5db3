package parity

import (
	"context"
	"runtime"
	"sync"

	"go.fd.io/govpp/api"
)

// findingsMax is how many kinds of differences a campaign shrinks before it ends.
const findingsMax = 5

// Campaign compares the model with real VPPs on many random sequences.
type Campaign struct {
	Sequence
	// Seed is the first one; each chain of sequences on one pair of VPPs has its own, one more than the last.
	Seed uint64
	// Sequences are how many in all, Calls how long one is, Chain how many follow each other on the same VPPs.
	Sequences, Calls, Chain int
	// Workers are how many chains run side by side; 0 is one for each processor.
	Workers int
	// Progress receives the number of finished sequences.
	Progress func(done int)
}

// Outcome is what a campaign found.
type Outcome struct {
	Sequences int            `json:"sequences"`
	Calls     int            `json:"calls"`
	Packets   int            `json:"packets"` // that were sent into both VPPs
	Findings  []*Finding     `json:"-"`
	Gaps      map[string]int `json:"gaps"` // how often each was needed
}

// chain is one run of sequences behind each other.
type chain struct {
	seed    uint64
	calls   []api.Message
	finding *Finding
	report  Report
	err     error
}

// Run runs the campaign until it is done, findingsMax kinds of differences were found, or ctx ends. The findings are
// shrunk. An error says that VPP could not be run; what was found until then is there. The outcome does not depend on
// Workers.
func (c Campaign) Run(ctx context.Context) (*Outcome, error) {
	out := &Outcome{Gaps: map[string]int{}}
	kinds := map[string]bool{}
	seed := c.Seed
	for out.Sequences < c.Sequences && len(out.Findings) < findingsMax { // again where chains were broken off
		var plan []*chain
		for left := c.Sequences - out.Sequences; left > 0; left -= c.Chain {
			plan = append(plan, &chain{seed: seed, calls: Generate(seed, min(c.Chain, left), c.Calls)})
			seed++
		}
		if err := c.follow(ctx, plan, out, kinds); err != nil {
			return out, err
		}
	}
	return out, nil
}

// follow runs a plan's chains side by side and looks at them in their order.
func (c Campaign) follow(ctx context.Context, plan []*chain, out *Outcome, kinds map[string]bool) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	todo := make(chan int, len(plan))
	done := make([]chan struct{}, len(plan))
	for i := range plan {
		todo <- i
		done[i] = make(chan struct{})
	}
	close(todo)
	for range min(workers, len(plan)) {
		running.Go(func() {
			for i := range todo {
				p := plan[i]
				p.finding, p.report, p.err = c.Sequence.Run(ctx, p.calls)
				close(done[i])
			}
		})
	}
	for i, p := range plan {
		<-done[i]
		if err := c.take(ctx, p, out, kinds); err != nil || len(out.Findings) == findingsMax {
			return err
		}
	}
	return nil
}

// take adds a chain to the outcome and shrinks what it found.
func (c Campaign) take(ctx context.Context, p *chain, out *Outcome, kinds map[string]bool) error {
	if p.err != nil {
		return p.err
	}
	for _, g := range p.report.Gaps {
		out.Gaps[g]++
	}
	out.Packets += p.report.Packets
	f := p.finding
	if f != nil {
		f.Seed, p.calls = p.seed, f.Calls
	}
	out.count(p.calls)
	var err error
	if f != nil && !kinds[f.Kind()] {
		kinds[f.Kind()] = true
		f, err = c.Sequence.Shrink(ctx, f)
		out.Findings = append(out.Findings, f) // as short as it got
	}
	if c.Progress != nil {
		c.Progress(out.Sequences)
	}
	return err
}

// count adds what was performed; a sequence that was broken off counts.
func (o *Outcome) count(calls []api.Message) {
	for i, m := range calls {
		if m != nil {
			o.Calls++
		}
		if m == nil || i == len(calls)-1 {
			o.Sequences++
		}
	}
}
