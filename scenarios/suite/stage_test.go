package suite_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// stage is a World that does nothing by itself: what goes wrong on it is told by its scenario's name and actions.
type stage struct {
	name    string
	seed    uint64
	now     time.Duration
	watch   []func(fact.Fact) error
	digest  string
	pending error
	// quietAt is when the stage is quiet.
	quietAt time.Duration
	closing error
}

// stagesBuilt makes two runs of one scenario differ.
var stagesBuilt int

func newStage(_ context.Context, s *scenarios.Scenario, seed uint64) (result.World, error) {
	stagesBuilt++
	w := &stage{name: "stage", seed: seed, digest: fmt.Sprintf("%s-%d", s.Name, seed%1000)}
	switch s.Name {
	case "no-machine":
		return nil, fmt.Errorf("no machine for a stage: %w", result.ErrUnsupported)
	case "left-behind":
		w.closing = errors.New("namespace stage-1 is still there")
	case "never-the-same":
		w.digest += fmt.Sprintf("-%d", stagesBuilt%2)
	}
	return w, nil
}

func (w *stage) Name() string       { return w.name }
func (w *stage) Now() time.Duration { return w.now }

func (w *stage) Do(_ context.Context, a scenarios.Action) error {
	switch a := a.(type) {
	case scenarios.RemoveNode:
		return w.tell(fact.Fact{Node: string(a.Node), What: fact.NodeGone{}})
	case scenarios.CrashNode:
		if w.seed > 1000 {
			return w.tell(fact.Fact{Node: string(a.Node), What: fact.NodeGone{}})
		}
	case scenarios.GC:
		return fmt.Errorf("%s: %w", a, result.ErrUnsupported)
	case scenarios.CrashDisk:
		return errors.New("the disk is not to be crashed")
	}
	return nil
}

func (w *stage) tell(f fact.Fact) error {
	f.At = w.now
	for _, watch := range w.watch {
		if err := watch(f); err != nil {
			return err
		}
	}
	return nil
}

func (w *stage) Supports(a scenarios.Action) bool {
	return a.Verb() != scenarios.StopStore{}.Verb() && a.Verb() != scenarios.WipeStore{}.Verb()
}

func (w *stage) Advance(_ context.Context, at time.Duration) error { w.now = at; return nil }
func (w *stage) Heal(context.Context) error                        { return nil }

func (w *stage) Settle(_ context.Context, limit time.Duration) error {
	if w.quietAt > w.now+limit {
		w.now += limit
		return w.pending
	}
	w.now = max(w.now, w.quietAt)
	return nil
}

func (w *stage) Snapshot(context.Context) (fact.Snapshot, error) {
	return fact.Snapshot{At: w.now, Settled: w.now >= w.quietAt, Nodes: []fact.NodeState{{Name: "node-1"}, {Name: "node-2"}}}, nil
}

func (w *stage) Watch(fn func(fact.Fact) error) { w.watch = append(w.watch, fn) }
func (w *stage) Evidence() []fact.Evidence      { return nil }
func (w *stage) Close() error                   { return w.closing }
func (w *stage) Digest() string                 { return w.digest }
func (w *stage) Events() int64                  { return 7 }
func (w *stage) Tail(int) []string              { return []string{"6 10s the event before", "7 12s the bad one"} }

// nodesStay is the law that judges the stage: nodes never leave.
func nodesStay() fact.Law {
	return fact.Law{
		Name: "nodes-stay", Why: "A stage without its nodes has nothing to show.", When: fact.Always,
		Watch: func() fact.Watcher { return new(goneNodes) },
	}
}

type goneNodes int64

func (g *goneNodes) Checks() int64 { return int64(*g) }

func (g *goneNodes) Observe(f *fact.Fact) error {
	if _, ok := f.What.(fact.Configured); ok {
		return nil // the run itself tells it
	}
	*g++
	if _, ok := f.What.(fact.NodeGone); ok {
		return &fact.Violation{Law: "nodes-stay", At: f.At, Node: f.Node, What: f.Node + " left", Before: "2 nodes", After: "1 node"}
	}
	return nil
}
