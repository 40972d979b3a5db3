package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"os"
	"slices"
	"sort"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
)

// capsuleMagic is how a capsule's text begins.
var capsuleMagic = []byte("vppdrill capsule ")

// prefixes are a run's trail as hashes: the n-th says everything about the first n events, so that two trails are
// bisected.
type prefixes struct{ sums []uint64 }

// trailOf runs a capsule and hashes its trail.
func trailOf(ctx context.Context, c Config, capsule []byte, seed maphash.Seed) (*prefixes, error) {
	p := &prefixes{sums: []uint64{0}}
	var h maphash.Hash
	h.SetSeed(seed)
	_, err := c.Explorer.Walk(ctx, capsule, RunOptions{Laws: c.Laws()}, func(m Moment) {
		fmt.Fprintf(&h, "%d %s\n", m.At, m.Line)
		p.sums = append(p.sums, h.Sum64())
	})
	return p, errors.Join(err, ctx.Err())
}

// at is one run before an event: the event, and every node's state.
type at struct {
	line   string
	states map[string][]string
}

// stateAt runs a capsule up to an event.
func stateAt(ctx context.Context, c Config, capsule []byte, event int64) (found at, err error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	found = at{line: "the end", states: map[string][]string{}}
	_, err = c.Explorer.Walk(inner, capsule, RunOptions{Laws: c.Laws()}, func(m Moment) {
		if m.Seq > event {
			stop()
		}
		if m.Seq != event {
			return
		}
		found.line = fmt.Sprintf("event %d at %s: %s", m.Seq, scenarios.FormatDuration(m.At), m.Line)
		if s, stateErr := m.State(); stateErr == nil {
			for i := range s.Nodes {
				found.states[s.Nodes[i].Name] = s.Nodes[i].Lines()
			}
		}
		stop()
	})
	return found, errors.Join(err, ctx.Err())
}

// compareCapsules bisects two capsules' trails to the first event that differs and compares the states before it; false
// where they differ.
func compareCapsules(ctx context.Context, w io.Writer, c Config, a, b []byte) (same bool, err error) {
	if c.Explorer.Walk == nil {
		return false, errors.New("this build cannot walk through capsules")
	}
	seed := maphash.MakeSeed()
	first, err := trailOf(ctx, c, a, seed)
	if err != nil {
		return false, err
	}
	second, err := trailOf(ctx, c, b, seed)
	if err != nil {
		return false, err
	}
	shorter := min(len(first.sums), len(second.sums))
	differs := int64(sort.Search(shorter, func(n int) bool { return first.sums[n] != second.sums[n] }))
	if int(differs) == shorter && len(first.sums) == len(second.sums) {
		fmt.Fprintf(w, "the same %d events\n", shorter-1)
		return true, nil
	}
	x, err := stateAt(ctx, c, a, differs)
	if err != nil {
		return false, err
	}
	y, err := stateAt(ctx, c, b, differs)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(w, "the same %d events\nfirst   %s\nsecond  %s\n", differs-1, x.line, y.line)
	tellStates(w, x.states, y.states)
	return false, nil
}

// tellStates prints what differs between the states of two clusters.
func tellStates(w io.Writer, a, b map[string][]string) {
	if len(a) == 0 || len(b) == 0 { // one run has ended
		return
	}
	names := slices.Sorted(maps.Keys(a))
	for name := range b { //vppdrill:unordered sorted below
		if _, known := a[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	told := false
	for _, name := range names {
		went, came := fact.LinesWithout(a[name], b[name]), fact.LinesWithout(b[name], a[name])
		if len(went)+len(came) == 0 {
			continue
		}
		told = true
		fmt.Fprintf(w, "state of %s before it\n", name)
		for _, line := range went {
			fmt.Fprintf(w, "first   %s\n", line)
		}
		for _, line := range came {
			fmt.Fprintf(w, "second  %s\n", line)
		}
	}
	if !told {
		fmt.Fprintln(w, "before it all nodes hold the same: what decides is on its way, or outside of them")
	}
}

// capsuleIn is a file's text where it is a capsule; nil for any other, which may be gigabytes.
func capsuleIn(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	head := make([]byte, len(capsuleMagic))
	_, err = io.ReadFull(f, head)
	_ = f.Close() // it was only read
	if err != nil || !bytes.Equal(head, capsuleMagic) {
		return nil
	}
	text, err := inputfile.Read(name)
	if err != nil {
		return nil
	}
	return text
}

// diffCapsules compares two capsules where both files are some; done is false where they are not.
func diffCapsules(ctx context.Context, w io.Writer, c Config, a, b []byte) (done bool, err error) {
	switch one, other := a != nil, b != nil; {
	case !one && !other:
		return false, nil
	case one != other:
		return true, cli.BadInput(errors.New("one file is a capsule and the other is not"))
	}
	same, err := compareCapsules(ctx, w, c, a, b)
	if err != nil {
		return true, cli.BadInput(err)
	}
	if !same {
		return true, cli.Broken(nil)
	}
	return true, nil
}
