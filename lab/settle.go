package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// lookEvery is how often Settle looks, stillFor how long a lab must be quiet: longer than what one node has decided
	// takes to reach the next, which knows of it by a watch.
	lookEvery = 40 * time.Millisecond
	stillFor  = 200 * time.Millisecond
)

// Settle implements result.World.
func (w *World) Settle(ctx context.Context, limit time.Duration) error {
	if err := w.AwaitQuiet(ctx, limit, stillFor, lookEvery, w.nodeNames, w.quiet); err != nil {
		return w.unlessStarved(err)
	}
	w.tellRemovals()
	return errors.Join(w.unlessStarved(errors.Join(w.checkTraffic(ctx), w.checkServices(ctx), w.checkPolicies(ctx))), w.Deliver())
}

// quiet says why the lab is not quiet, or "". It asks every agent.
func (w *World) quiet(ctx context.Context) string {
	nodes := w.inOrder()
	if w.Play.Timed() {
		return "an action of the timeline is not over"
	}
	if why := w.Play.Owed(); why != "" {
		return why
	}
	if w.Now() < w.claims.probed {
		return "VPPs that have a stranger's MAC for a node's address need not have probed their neighbors yet"
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	stored, err := w.control.storeRevision(asking)
	if err != nil {
		return "the store does not tell its revision: " + err.Error()
	}
	if !w.servicesTold() {
		return "the API server has not heard of every endpoint"
	}
	if !w.policiesTold() {
		return "the API server has not heard of every policy and of what it selects"
	}
	if why := w.source.pending(); why != "" {
		return why
	}
	heard := slices.Concat(w.control.heard(), w.services.heard(), w.policies.heard())
	slices.Sort(heard)
	why := make([]string, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { why[i] = n.pending(ctx, heard, stored) })
	}
	wg.Wait()
	if i := slices.IndexFunc(why, func(s string) bool { return s != "" }); i >= 0 {
		return why[i]
	}
	if why := w.unreleased(); why != "" {
		return why
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pods.inOrder(func(p *pod) bool { return p.node == "" }) {
		if w.room() {
			return "pod " + p.key() + " waits for a node"
		}
	}
	return ""
}

// room reports whether some node could take another pod. w.mu is held.
func (w *World) room() bool {
	count := map[string]int{}
	for _, p := range w.pods.byName { //vppdrill:unordered it is a count
		count[p.node]++
	}
	for _, n := range w.nodes { //vppdrill:unordered it is a question about any of them
		if n.takesPods() && count[n.name] < w.scenario().Topology.MaxPodsPerNode {
			return true
		}
	}
	return false
}

// pending says why one node is not quiet, or "".
func (n *node) pending(ctx context.Context, heard []string, stored int64) string {
	n.mu.Lock()
	up, vpp, agent := n.up, n.vpp, n.agent
	n.mu.Unlock()
	switch {
	case !up && n.w.Play.Healed():
		return n.name + " is down"
	case !up:
		return "" // down on purpose: quiet as it gets
	case vpp.proc == nil && !vpp.held:
		return "VPP of " + n.name + " is starting"
	case agent.proc == nil && !agent.held:
		return "the agent of " + n.name + " is starting"
	case agent.paused:
		return "" // it tells nothing, and pods wait as long as they have to
	}
	if agent.proc != nil {
		s, err := n.poll(ctx)
		if err != nil {
			return fmt.Sprintf("the agent of %s does not tell its state: %v", n.name, err)
		}
		switch {
		case vpp.proc == nil:
			// Nothing can be done without VPP.
		case !s.VPPUp:
			return "the agent of " + n.name + " is not connected to VPP"
		case s.Pending != "":
			return n.name + ": " + s.Pending
		case s.Daemon != "" && (n.w.source == nil || n.relays.api.hears()):
			return n.name + ": " + s.Daemon
		case s.Short && n.kubelet.starved():
			return n.name + ": ipamd is short of addresses that pods wait for, and looks at its pool every 5 s"
		}
		if why := n.unleased(&s); vpp.proc != nil && why != "" {
			return why
		}
		if n.relays.api.hears() && !slices.Equal(s.Heard, heard) {
			return n.name + " has not heard of every node and range"
		}
		if n.relays.store.hears() && s.StoreRevision != stored {
			return fmt.Sprintf("%s has heard of revision %d of the store, which is at %d", n.name, s.StoreRevision, stored)
		}
	}
	if agent.proc == nil || vpp.proc == nil {
		return "" // pods wait as long as they have to
	}
	n.resting()
	return n.kubelet.pending()
}
