package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/relay"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// stopStore and stopAPI switch a server off and on: nothing gets through to it or from it. rewire makes it so.
func (p *plane) stopStore(stop bool) {
	p.mu.Lock()
	p.storeStop = stop
	p.mu.Unlock()
}

func (p *plane) stopAPI(stop bool) {
	p.mu.Lock()
	p.apiStop = stop
	p.mu.Unlock()
}

// rewire cuts or mends every node's ways as the servers' switches say.
func (w *World) rewire() {
	w.plane.mu.Lock()
	store, api := w.plane.storeStop, w.plane.apiStop
	w.plane.mu.Unlock()
	for _, n := range w.inOrder() {
		n.wires.store.Set(relay.Link{Cut: store}, relay.Link{Cut: store})
		n.wires.api.Set(relay.Link{Cut: api}, relay.Link{Cut: api})
	}
}

// mend makes a node's ways as usual.
func (w wires) mend() {
	w.store.Set(relay.Link{}, relay.Link{})
	w.api.Set(relay.Link{}, relay.Link{})
}

// way finds the relay between two ends of which one is a server; there reports that the first end is the node.
func (w *World) way(pair [2]scenarios.Endpoint, verb string) (r *relay.Relay, there bool, err error) {
	server := func(e scenarios.Endpoint) bool { return e == scenarios.APIServer || e == scenarios.Store }
	from, to := pair[0], pair[1]
	there = server(to)
	if !there {
		from, to = to, from
	}
	if server(from) || !server(to) {
		return nil, false, nil
	}
	list, err := w.targets(scenarios.NodeRef(from), verb, present)
	if err != nil {
		return nil, false, err
	}
	if to == scenarios.Store {
		return list[0].wires.store, there, nil
	}
	return list[0].wires.api, there, nil
}

// partition cuts a node off a server in the control plane, or two nodes off each other in the fabric.
func (w *World) partition(p scenarios.Partition) error {
	r, there, err := w.way(p.Between, p.Verb())
	if err != nil {
		return err
	}
	if r == nil {
		return w.partitionFabric(p)
	}
	cut := relay.Link{Cut: true}
	switch {
	case !p.OneWay:
		r.Set(cut, cut)
	case there:
		r.Set(cut, relay.Link{})
	default:
		r.Set(relay.Link{}, cut)
	}
	w.until(p.For, func() { r.Set(relay.Link{}, relay.Link{}); w.schedule() })
	return nil
}

// partitionFabric drops every frame between two nodes.
func (w *World) partitionFabric(p scenarios.Partition) error {
	var ends [2]string
	for i, e := range p.Between {
		if e == scenarios.APIServer || e == scenarios.Store || p.OneWay {
			return fmt.Errorf("%s: %w in this direction or between servers", p.Verb(), scenarios.ErrUnsupported)
		}
		list, err := w.targets(scenarios.NodeRef(e), p.Verb(), living)
		if err != nil {
			return err
		}
		ends[i] = list[0].name
	}
	w.cuts = append(w.cuts, ends)
	if err := w.ground.Cut(w.cuts); err != nil {
		w.cuts = w.cuts[:len(w.cuts)-1]
		return err
	}
	w.until(p.For, func() {
		if i := slices.Index(w.cuts, ends); i >= 0 {
			w.cuts = slices.Delete(w.cuts, i, i+1)
			w.fail(w.ground.Cut(w.cuts))
		}
	})
	return nil
}

// healCuts forgets the cuts of a node that has left.
func (w *World) healCuts(name string) {
	w.cuts = slices.DeleteFunc(w.cuts, func(c [2]string) bool { return c[0] == name || c[1] == name })
}

// slowLink makes what a node and a server say to each other late. Their connection is TCP's: nothing of it is lost or comes
// twice, a loss costs a retransmission, and a duplicate is thrown away.
func (w *World) slowLink(a scenarios.SlowLink) error {
	r, _, err := w.way(a.Between, a.Verb())
	if err != nil {
		return err
	}
	if r == nil {
		return fmt.Errorf("%s between nodes: %w: this kernel need not have netem", a.Verb(), scenarios.ErrUnsupported)
	}
	l := relay.Link{Delay: w.real(a.Delay), Loss: a.Loss}
	r.Set(l, l)
	w.until(a.For, func() { r.Set(relay.Link{}, relay.Link{}) })
	return nil
}

// gapWatch makes a node's watches lose their place: while its connections are down, the history that they would go on from
// is compacted. Both servers get a change first, so that there is something to have missed.
func (w *World) gapWatch(ctx context.Context, n *node) error {
	there, back := n.wires.api.Links()
	storeThere, storeBack := n.wires.store.Links()
	cut := relay.Link{Cut: true}
	n.wires.api.Set(cut, cut)
	n.wires.store.Set(cut, cut)
	n.wires.api.Reset()
	n.wires.store.Reset()
	defer func() {
		n.wires.api.Set(there, back)
		n.wires.store.Set(storeThere, storeBack)
	}()
	if err := w.publishNode(ctx, n); err != nil {
		return err
	}
	if err := w.plane.api.Compact(ctx); err != nil {
		return err
	}
	return w.plane.store.Compact(ctx)
}

// repeatDel sends DEL again for sandboxes that are long gone, or never were.
func (w *World) repeatDel(ctx context.Context, n *node, count int) error {
	n.kubelet.mu.Lock()
	past := slices.Clone(n.kubelet.past)
	n.kubelet.mu.Unlock()
	for range count {
		owner := ipam.Owner{Network: cniNetwork, ContainerID: containerID(), IfName: ifName}
		if len(past) > 0 {
			owner = past[w.rand.IntN(len(past))]
		}
		r, err := n.cni(ctx, "Del", owner, wire.Request{Version: wire.Version, Command: wire.Del, Network: owner.Network,
			ContainerID: owner.ContainerID, IfName: owner.IfName})
		if err == nil && r.Code != 0 {
			w.record.tell(scenarios.Fact{Kind: scenarios.FactDelRefused, Node: n.name, Owner: owner, Text: r.Message},
				n.name+" refused a repeated DEL: "+r.Message)
		}
	}
	return nil
}

// checkPods sends CHECK for every pod that has an address.
func (n *node) checkPods(ctx context.Context) error {
	for _, p := range n.kubelet.sandboxes() {
		if p.Addr.IsValid() {
			// What the agent answers is its own affair: the pod may be on its way out.
			_, _ = n.cni(ctx, "Check", p.Owner, wire.Request{Version: wire.Version, Command: wire.Check, Network: p.Owner.Network,
				ContainerID: p.Owner.ContainerID, IfName: p.Owner.IfName, Netns: p.Netns, Addr: p.Addr})
		}
	}
	return nil
}

// gc sends GC with the attachments of every sandbox that exists.
func (n *node) gc(ctx context.Context) error {
	req := wire.Request{Version: wire.Version, Command: wire.GC, Network: cniNetwork}
	for _, p := range n.kubelet.sandboxes() {
		req.Valid = append(req.Valid, wire.Attachment{ContainerID: p.Owner.ContainerID, IfName: p.Owner.IfName})
	}
	_, _ = n.cni(ctx, "GC", ipam.Owner{Network: cniNetwork, ContainerID: "all", IfName: "all"}, req) // as with CHECK
	return nil
}
