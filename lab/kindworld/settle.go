package kindworld

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const (
	// lookEvery is how often Settle asks, stillFor how long a cluster must look quiet: longer than what one node has
	// decided takes to reach the next by a watch.
	lookEvery = 20 * time.Millisecond
	stillFor  = 2 * time.Second
)

// Settle implements result.World.
func (w *World) Settle(ctx context.Context, limit time.Duration) error {
	if err := w.AwaitQuiet(ctx, max(limit, lab.SettleLeast), stillFor, lookEvery, w.nodeNames, func(context.Context) string { return w.quiet() }); err != nil {
		return err
	}
	return errors.Join(w.ping(ctx), w.Deliver())
}

// quiet says why the cluster was not quiet at the last look, or "".
func (w *World) quiet() string {
	if w.Play.Timed() {
		return "an action of the timeline is not over"
	}
	if len(w.backlog) > 0 {
		return fmt.Sprintf("the API server has not taken: %s: %v", w.backlog[0].what, w.backlog[0].why)
	}
	for _, n := range w.inOrder() {
		if why := w.pending(n); why != "" {
			return why
		}
	}
	for _, name := range sortedNames(w.pods.wanted) {
		if node := w.pods.wanted[name].Node; node == "" || w.node(node) != nil && w.node(node).up() != nil {
			return "pod " + name + " is to be created"
		}
	}
	for _, p := range w.pods.listed { //vppdrill:unordered any of them will do as a reason
		if why := w.unserved(&p); why != "" {
			return why
		}
	}
	if why := cmp.Or(w.unreleased(), w.ungiven()); why != "" {
		return why
	}
	return w.unsettledService()
}

// pending says why one node is not quiet, or "".
func (w *World) pending(n *node) string {
	m := n.up()
	switch {
	case m == nil && n.boot(0) > 0:
		return n.name + " boots"
	case m == nil && w.Play.Healed():
		return n.name + " is down"
	case m == nil:
		return "" // down on purpose: quiet as it gets
	case !n.vppUp && !n.vppHeld:
		return "VPP of " + n.name + " is starting"
	case n.last.agent == nil && !n.agentHeld:
		return "the agent of " + n.name + " is starting"
	case n.last.agent == nil || !n.vppUp:
		return ""
	}
	a := n.last.agent
	if a.Pending != "" {
		return n.name + ": " + a.Pending
	}
	if a.Trouble != "" && a.ID == 0 {
		return n.name + ": " + a.Trouble
	}
	for what := range n.told.waits { //vppdrill:unordered any of them will do as a reason
		return n.name + ": " + what
	}
	leased := 0
	for _, x := range n.last.sandboxes {
		own := 0
		for _, owner := range []ipam.Owner{ownerOf(x.id), ownerOf(x.id).Second()} {
			if _, held := n.told.leases[owner]; held {
				own++
			}
		}
		leased += own
		if own > 0 != x.ready {
			return fmt.Sprintf("%s: sandbox of %s comes or goes", n.name, x.pod)
		}
	}
	if leased != len(a.Leases) {
		return fmt.Sprintf("%s: %d leases for %d sandboxes", n.name, len(a.Leases), leased)
	}
	return ""
}

// full reports whether a node's agent has no address of some family left.
func (n *node) full() bool {
	a := n.last.agent
	if a == nil {
		return false
	}
	room := map[bool]int{}
	for _, b := range a.Blocks {
		free := 0
		if !b.Draining {
			free = 1 << min(b.Prefix.Addr().BitLen()-b.Prefix.Bits(), 30) // no node has so many pods
		}
		room[b.Prefix.Addr().Is6()] += free
	}
	for _, l := range a.Leases {
		room[l.Addr.Is6()]--
	}
	for _, addr := range a.Reserved {
		room[addr.Is6()]--
	}
	for _, left := range room { //vppdrill:unordered any of them will do
		if left <= 0 {
			return true
		}
	}
	return len(room) == 0
}

// unserved says why a pod is not at rest, or "".
func (w *World) unserved(p *v1.Pod) string {
	n := w.node(p.Spec.NodeName)
	switch {
	case p.DeletionTimestamp != nil && (n == nil || n.up() != nil):
		return "pod " + p.Name + " is going"
	case w.pods.going[p.Name]:
		return "pod " + p.Name + " is to go"
	case p.Spec.NodeName == "":
		if w.room() {
			return "pod " + p.Name + " waits for a node"
		}
		return ""
	case n == nil || n.up() == nil || !n.vppUp || n.last.agent == nil:
		return "" // it waits as long as it has to
	}
	for _, s := range n.told.pods() {
		if s.UID == string(p.UID) {
			return ""
		}
	}
	if n.full() {
		return ""
	}
	return "pod " + p.Name + " of " + n.name + " has no sandbox"
}

// room reports whether some node could take another pod.
func (w *World) room() bool {
	count := map[string]int{}
	for _, p := range w.pods.listed { //vppdrill:unordered it is a count
		count[p.Spec.NodeName]++
	}
	for _, n := range w.inOrder() {
		if n.up() != nil && !n.cordoned && count[n.name] < w.s.Topology.MaxPodsPerNode {
			return true
		}
	}
	return false
}

const (
	// pingedPairs bounds the pings of one check: all pairs of nine pods, a sample of more; pingPatience is for one of
	// them, tries of a tenth each. Kubelets, an API server and etcd on two processors were seen to leave VPP waiting for a
	// second.
	pingedPairs  = 72
	pingPatience = 20 * time.Second
	reachableLaw = "reachable"
)

// ping sends real packets between the pods: what the tables promise to the law, packets do.
func (w *World) ping(ctx context.Context) error {
	if w.s.Laws != nil && !slices.Contains(w.s.Laws, reachableLaw) {
		return nil
	}
	var places []probe.Place
	for _, n := range w.inOrder() {
		m := n.up()
		if m == nil || !n.vppUp {
			continue // nobody promises anything
		}
		for _, p := range n.told.pods() {
			places = append(places, probe.Place{Name: n.name + " " + p.Pod, Netns: m.netns(p.Netns), Addr: p.Addr})
		}
	}
	if len(places) < 2 {
		w.Record.Note(fmt.Sprintf("nothing was pinged: there are %d pods with an address", len(places)))
		return nil
	}
	pairs := probe.AllPairs(places, pingedPairs)
	failed := probe.Failed(probe.OfEachFamily(pairs, func(of []probe.Pair) []probe.Outcome {
		return probe.Mesh(ctx, of, int(w.s.Config.Wiring.MTU)-probe.PingHeaders(of[0].To.Addr), true, pingPatience)
	}))
	w.Record.Note(fmt.Sprintf("%d of %d pings of the MTU's size with DF answered", len(pairs)-len(failed), len(pairs)))
	if len(failed) == 0 || ctx.Err() != nil {
		return nil
	}
	return &fact.Violation{Law: reachableLaw, At: w.Now(),
		What: fmt.Sprintf("the cluster is quiet, but %d of %d real pings of the MTU's size with DF are not answered: %s", len(failed), len(pairs), failed[0].Error())}
}
