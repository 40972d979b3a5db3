package kindworld

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/configured"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// snapshotTries is how often a snapshot is taken anew because the cluster has changed meanwhile.
const snapshotTries = 5

// Snapshot implements result.World. VPP and Linux are dumped only where the cluster is quiet before and after.
func (w *World) Snapshot(ctx context.Context) (fact.Snapshot, error) {
	var s fact.Snapshot
	for range snapshotTries {
		quiet := w.quiet() == ""
		before := w.Events()
		var err error
		if s, err = w.snapshot(ctx, quiet); err != nil {
			return s, err
		}
		if !quiet {
			break
		}
		w.lookAround(ctx)
		if s.Settled = w.quiet() == "" && w.Events() == before; s.Settled {
			break
		}
	}
	return s, nil
}

func (w *World) snapshot(ctx context.Context, deep bool) (fact.Snapshot, error) {
	s := fact.Snapshot{At: w.Now()}
	nodes := w.inOrder()
	s.Nodes = make([]fact.NodeState, len(nodes))
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { s.Nodes[i], errs[i] = stage{w}.state(ctx, n, deep) })
	}
	wg.Wait()
	slices.SortFunc(s.Nodes, func(a, b fact.NodeState) int { return strings.Compare(a.Name, b.Name) })
	s.Services = w.serviceStates(s.Nodes)
	s.HeldIDs = w.heldIDs()
	for i := range s.Nodes {
		s.Nodes[i].Blocked = w.blockedBy(&s.Nodes[i])
		s.FreeBlock = s.FreeBlock || s.Nodes[i].Waiting > 0 && w.blocks.free()
	}
	return s, errors.Join(errs...)
}

// state is one node's part of a snapshot; deep also of its dataplane.
func (st stage) state(ctx context.Context, n *node, deep bool) (fact.NodeState, error) {
	wires := st.agents
	wires.ApplyDefaults()
	m := wires.Mode()
	n.mu.Lock()
	out := fact.NodeState{Name: n.name, UID: n.uid, Management: slices.Clone(n.management), MachineUp: n.on, MainTable: m.MainTable, PodTable: m.PodTable}
	n.mu.Unlock()
	on := n.up()
	out.VPPUp, out.AgentUp = on != nil && n.vppUp, on != nil && n.last.agent != nil
	out.Pods, out.Assigned = n.told.pods(), n.told.assigned
	out.Waiting = st.waiting(n)
	out.Resting, _ = n.told.rests.At(st.World.Now())
	if out.AgentUp {
		lab.Claim(&out, n.last.agent, m)
	}
	if !deep || on == nil {
		return out, nil
	}
	var spaces []string
	for _, p := range out.Pods {
		spaces = append(spaces, p.Netns)
	}
	l, err := probe.Linux(on.netns, spaces, []string{uplink, management})
	if err != nil {
		return out, fmt.Errorf("%s: %w", n.name, err)
	}
	out.Linux = l
	if !out.VPPUp {
		return out, nil
	}
	c, err := vppproc.Dial(on.root() + vppDir)
	if err != nil {
		out.VPPUp = false // it died this moment
		return out, nil
	}
	defer c.Close()
	if out.VPP, err = probe.VPP(ctx, c, uplink); err != nil {
		return out, fmt.Errorf("%s: %w", n.name, err)
	}
	beside, err := probe.Settings(ctx, c)
	if err != nil {
		return out, fmt.Errorf("%s: %w", n.name, err)
	}
	beside.Rearranged = st.generation > 1
	if out.AgentUp {
		shown := out
		out.Settings = configured.Of(st.s, &shown, beside)
	}
	out.Crowded, err = lab.Crowded(ctx, c, out.VPP)
	return out, err
}

// waiting counts the pods of a node that have no sandbox.
func (w *World) waiting(n *node) (count int) {
	has := map[string]bool{}
	for _, p := range n.told.pods() {
		has[p.UID] = true
	}
	for _, p := range w.pods.listed { //vppdrill:unordered it is a count
		if p.Spec.NodeName == n.name && p.DeletionTimestamp == nil && !has[string(p.UID)] {
			count++
		}
	}
	return count
}
