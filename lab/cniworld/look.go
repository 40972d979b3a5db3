package cniworld

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const (
	// lookEvery is how often Settle looks, stillFor how long a cluster must be quiet: longer than Linux takes to remove a
	// namespace's links.
	lookEvery = 20 * time.Millisecond
	stillFor  = 150 * time.Millisecond
	// pairsMost bounds the pings of one look: all pairs of nine pods, a sample of more.
	pairsMost = 72
)

// Settle implements result.World.
func (w *World) Settle(ctx context.Context, limit time.Duration) error {
	if err := w.AwaitQuiet(ctx, limit, stillFor, lookEvery, w.nodeNames, func(context.Context) string { return w.quiet() }); err != nil {
		return err
	}
	w.ping(ctx)
	return w.Deliver()
}

// quiet says why the cluster is not quiet, or "".
func (w *World) quiet() string {
	if w.Play.Timed() {
		return "an action of the timeline is not over"
	}
	if why := w.Play.Owed(); why != "" {
		return why
	}
	for _, n := range w.inOrder() {
		if !n.isUp() {
			if w.Play.Healed() {
				return n.name + " is down"
			}
			continue
		}
		n.kubelet.Lock()
		dead := n.kubelet.dead
		n.kubelet.Unlock()
		if dead {
			continue // as quiet as it gets
		}
		if why := n.kubelet.pending(); why != "" {
			return why
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.podsInOrder() {
		if p.Node == "" && !w.server.stopped.Load() && w.room() {
			return "pod " + p.key() + " waits for a node"
		}
	}
	return ""
}

// room reports whether some node could take another pod. w.mu is held.
func (w *World) room() bool {
	count := map[string]int{}
	for _, p := range w.pods { //vppdrill:unordered it is a count
		count[p.Node]++
	}
	for _, n := range w.nodes { //vppdrill:unordered it is a question about any of them
		if n.takes() && count[n.name] < w.s.Topology.MaxPodsPerNode {
			return true
		}
	}
	return false
}

// ping sends real packets between the pods and tells what became of them.
func (w *World) ping(ctx context.Context) {
	if w.s.Laws != nil && !slices.Contains(w.s.Laws, "pods-reach-pods") {
		return
	}
	var places []probe.Place
	at, shown := map[string]string{}, map[string]sandbox{}
	for _, n := range w.inOrder() {
		for _, s := range n.kubelet.known() {
			if s.exists && s.addr(0).IsValid() && n.isUp() {
				places = append(places, probe.Place{Name: s.pod.key(), Netns: s.netns, Addr: s.addr(0)})
				at[s.pod.key()], shown[s.pod.key()] = n.name, s
			}
		}
	}
	if len(places) < 2 {
		return
	}
	w.mu.Lock()
	reaches := w.reaches
	w.mu.Unlock()
	pairs := slices.DeleteFunc(probe.AllPairs(places, pairsMost), func(p probe.Pair) bool {
		from, to := shown[p.From.Name], shown[p.To.Name]
		if from.isolated(to) || to.isolated(from) {
			return true // a network without a router, whose range has changed
		}
		if at[p.From.Name] == at[p.To.Name] {
			return !reaches.within
		}
		return !reaches.across
	})
	for _, o := range probe.Mesh(ctx, pairs, pingBytes, false, patience(places...)) {
		why := ""
		if o.Err != nil {
			why = o.Err.Error()
		}
		w.Tell(fact.Fact{Node: at[o.From.Name], What: fact.Pinged{From: o.From.Name, To: o.To.Name, On: at[o.To.Name], Addr: o.To.Addr, Failed: why}}, "")
	}
}

// Snapshot implements result.World.
func (w *World) Snapshot(ctx context.Context) (fact.Snapshot, error) {
	quiet, before := w.quiet() == "", w.Events()
	s := fact.Snapshot{At: w.Now()}
	var errs []error
	for _, n := range w.inOrder() {
		on := n.isUp()
		state := fact.NodeState{Name: n.name, UID: n.uid, MachineUp: on, AgentUp: on, Pods: n.kubelet.sandboxes()}
		if on && w.o.Chain.booked() {
			leases := n.leases()
			state.Leases = func() iter.Seq[ipam.Lease] { return slices.Values(leases) }
		}
		if quiet && on {
			var err error
			state.Removed, state.Remains, err = n.left(ctx)
			errs = append(errs, err)
		}
		s.Nodes = append(s.Nodes, state)
	}
	slices.SortFunc(s.Nodes, func(a, b fact.NodeState) int { return strings.Compare(a.Name, b.Name) })
	s.Settled = quiet && w.quiet() == "" && w.Events() == before
	return s, errors.Join(errs...)
}

// Broken implements timeline.Inspector: the pod's own side as netlink shows it, and a packet to its gateway.
func (st stage) Broken(ctx context.Context, name string, owner ipam.Owner) (wrong string, known bool) {
	n := st.node(name)
	if n == nil || !n.isUp() {
		return "", false
	}
	s, found := n.kubelet.find(owner)
	if !found || !s.addr(0).IsValid() {
		return "", false
	}
	view, err := probe.Linux(n.open, []string{s.netns}, []string{lab.ManagementDevice})
	if s.netns == "" || errors.Is(err, os.ErrNotExist) {
		return "the pod has no namespace", true
	}
	if err != nil {
		return "", false
	}
	link, there := view.Link(s.netns, owner.IfName)
	switch {
	case !there:
		return fmt.Sprintf("the pod has no %s", owner.IfName), true
	case !link.Up:
		return fmt.Sprintf("the pod's %s is down", owner.IfName), true
	}
	for _, a := range s.addrs {
		if local, held := view.Local(s.netns, a.Addr()); !held || local != owner.IfName {
			return fmt.Sprintf("the pod's %s does not have %s", owner.IfName, a.Addr()), true
		}
	}
	n.mu.Lock()
	answers := n.gatewayAnswers
	n.mu.Unlock()
	if !answers || !s.gateway.IsValid() {
		return "", true
	}
	if _, found := view.Route(s.netns, elsewhere); !found && s.gateway.Is4() {
		return "the pod has no route to other networks", true
	}
	if o := probe.Ping(ctx, probe.Place{Netns: s.netns}, probe.Place{Addr: s.gateway}, pingBytes, false, patience(probe.Place{Addr: s.gateway})); o.Err != nil {
		return fmt.Sprintf("the pod does not reach its gateway %s: %v", s.gateway, o.Err), true
	}
	return "", true
}

// elsewhere is an address that no plan holds: TEST-NET-1 of RFC 5737.
var elsewhere = netip.AddrFrom4([4]byte{192, 0, 2, 1})
