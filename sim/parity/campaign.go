package parity

import (
	"context"

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
	// Progress is told how many sequences are done.
	Progress func(done int)
}

// Outcome is what a campaign found.
type Outcome struct {
	Sequences int            `json:"sequences"`
	Calls     int            `json:"calls"`
	Findings  []*Finding     `json:"-"`
	Gaps      map[string]int `json:"gaps"` // how often each was needed
}

// Run runs the campaign until it is done, findingsMax kinds of differences were found, or ctx ends. The findings are shrunk. An
// error says that VPP could not be run; what was found until then is there.
func (c Campaign) Run(ctx context.Context) (*Outcome, error) {
	out := &Outcome{Gaps: map[string]int{}}
	kinds := map[string]bool{}
	for seed := c.Seed; out.Sequences < c.Sequences && len(out.Findings) < findingsMax; seed++ {
		calls := Generate(seed, min(c.Chain, c.Sequences-out.Sequences), c.Calls)
		f, gaps, err := c.Sequence.Run(ctx, calls)
		if err != nil {
			return out, err
		}
		for _, g := range gaps {
			out.Gaps[g]++
		}
		if f != nil {
			f.Seed, calls = seed, f.Calls
		}
		out.count(calls)
		if f != nil && !kinds[f.Kind()] {
			kinds[f.Kind()] = true
			f, err = c.Sequence.Shrink(ctx, f)
			out.Findings = append(out.Findings, f) // as short as it got
			if err != nil {
				return out, err
			}
		}
		if c.Progress != nil {
			c.Progress(out.Sequences)
		}
	}
	return out, nil
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
