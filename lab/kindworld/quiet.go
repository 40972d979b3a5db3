package kindworld

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Soak lets time pass after the end of a run, for package result.
func (w *World) Soak(ctx context.Context) (stirred bool, err error) {
	return w.SoakFor(ctx, w.Snapshot, func(ctx context.Context) (fact.Snapshot, error) { return w.snapshot(ctx, true) })
}

// remember keeps what a node's VPP and Linux hold while its agent is stopped cleanly.
func (st stage) remember(n *node) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	s, err := st.state(ctx, n, true)
	if err != nil {
		st.Record.Note(n.name + ": " + err.Error())
		return
	}
	n.before = &s
}

// compare tells what the agent of a node has written since it was stopped, as soon as it has nothing to do any more.
func (w *World) compare(ctx context.Context, n *node) {
	if n.before == nil || n.up() == nil || n.told.life.IsZero() || n.last.agent == nil || n.last.agent.Pending != "" || !n.vppUp {
		return
	}
	before := *n.before
	n.before = nil
	now, err := stage{w}.state(ctx, n, true)
	if err != nil {
		w.Record.Note(n.name + ": " + err.Error())
		return
	}
	for _, f := range lab.Stirs(fact.Snapshot{Nodes: []fact.NodeState{before}}, fact.Snapshot{Nodes: []fact.NodeState{now}}) {
		write, _ := f.What.(fact.VPPWrite)
		w.Record.Tell(f, n.name+" writes: "+write.Call)
	}
}

// quarantine is how long the ID of a node that has left stays unused.
func (w *World) quarantine() time.Duration {
	c := w.agents
	c.ApplyDefaults()
	return c.NodeIDQuarantine
}
