package lab

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
)

// setPools makes a configuration the cluster's address plan, and returns when the API server has it.
func (p *controlPlane) setPools(ctx context.Context, c scenarios.IPAM) error {
	room, err := agentconfig.Pools(c)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.generation++
	p.pools = room
	pools := agent.PublishedPools{Generation: p.generation, IPAMConfig: c.Contiv()}
	p.heardPools = nodeagent.HeardPools(agent.Pools{Generation: p.generation})
	p.mu.Unlock()
	if err := p.objects.PutPools(ctx, pools); err != nil {
		return fmt.Errorf("API server: pools: %w", err)
	}
	return nil
}

// rearranged reports whether the address ranges are others than at the start.
func (p *controlPlane) rearranged() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.generation > 1
}

// publishNode writes a node's object as it is now. Writers take turns, so that what was last is what stays.
func (w *World) publishNode(ctx context.Context, n *node) error {
	n.publishing.Lock()
	defer n.publishing.Unlock()
	if n.registration.none.Load() {
		return nil // its kubelet says it all when it registers it anew
	}
	n.mu.Lock()
	w.assign(n, n.podCIDRs)
	object := etcd.Node{UID: n.uid(), PodCIDRs: slices.Clone(n.podCIDRs), Addresses: slices.Clone(n.management), Zone: w.scenario().Topology.Zones.Of(n.name)}
	n.mu.Unlock()
	p := w.control
	p.mu.Lock()
	p.heardNodes[n.name] = nodeagent.HeardNode(agent.NodeSeen{Name: n.name, UID: object.UID, PodCIDRs: object.PodCIDRs, Addresses: object.Addresses, Zone: object.Zone})
	p.mu.Unlock()
	if err := p.objects.PutNode(ctx, n.name, object); err != nil {
		return fmt.Errorf("API server: node %s: %w", n.name, err)
	}
	return nil
}

// returned takes a block off the list of a node that it was taken back from, and whose agent has given it up: an
// administrator may give it to another one.
func (w *World) returned(p netip.Prefix) {
	for _, n := range w.inOrder() {
		n.mu.Lock()
		held := slices.ContainsFunc(n.blocks, func(b ipam.Block) bool { return b.Prefix == p })
		now := slices.DeleteFunc(slices.Clone(n.assigned), func(b ipam.Block) bool { return b.Draining && b.Prefix == p && !held })
		w.assigned(n, now)
		n.mu.Unlock()
	}
}

// assign tells what the API server says of a node's blocks, where that is new. Blocks that were replaced are taken back
// while pods have their addresses. Where nobody assigns blocks a node's follow from its ID, whatever its object says.
// n.mu is held.
func (w *World) assign(n *node, blocks []netip.Prefix) {
	if !w.scenario().Config.IPAM.Assigned() || w.cloud != nil || w.source.asked() { // EC2 and PoolNodes say themselves what is assigned
		return
	}
	var now []ipam.Block
	for _, p := range blocks {
		now = append(now, ipam.Block{Prefix: p})
	}
	for _, b := range n.assigned {
		if len(blocks) > 0 && !slices.Contains(blocks, b.Prefix) {
			now = append(now, ipam.Block{Prefix: b.Prefix, Draining: true})
		}
	}
	w.assigned(n, now)
}

// assigned tells a node's blocks where they are new. n.mu is held.
func (w *World) assigned(n *node, now []ipam.Block) {
	if !slices.Equal(now, n.assigned) {
		n.assigned = now
		w.Record.Tell(fact.Fact{Node: n.name, What: fact.Assigned{Blocks: now}}, fmt.Sprintf("%s assigned %v", n.name, prefixes(now)))
	}
}

// deleteNode takes a node's object away.
func (p *controlPlane) deleteNode(ctx context.Context, name string) error {
	p.mu.Lock()
	delete(p.heardNodes, name)
	p.mu.Unlock()
	if err := p.objects.DeleteNode(ctx, name); err != nil {
		return fmt.Errorf("API server: node %s: %w", name, err)
	}
	return nil
}

// heard is what an agent that has heard of everything tells: nodeagent.State.Heard.
func (p *controlPlane) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []string{p.heardPools}
	for _, line := range p.heardNodes { //vppdrill:unordered sorted below
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}
