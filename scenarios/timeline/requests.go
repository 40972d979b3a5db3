package timeline

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Network and IfName complete the owners of all sandboxes.
const (
	NetworkName = "vppdrill"
	IfName      = "eth0"
)

// repeatDel sends DEL again for sandboxes that are long gone, or never were. The specification wants success; a law judges it.
func (p *Player) repeatDel(ctx context.Context, a scenarios.RepeatDel) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		past := p.world.Past(node)
		for i := range a.Count {
			owner := ipam.Owner{Network: NetworkName, ContainerID: fmt.Sprintf("%064x", i+1), IfName: IfName}
			if len(past) > 0 {
				owner = past[p.pick("past sandbox", len(past))]
			}
			p.world.Ask(ctx, node, Request{Command: "Del", Owner: owner}, func(r Response) {
				if r.Known && r.Code != 0 {
					p.world.Tell(scenarios.Fact{Kind: scenarios.FactDelRefused, Node: node, Owner: owner, Text: r.Message})
				}
			})
		}
		return nil
	})
}

// checkPods sends CHECK for every pod that has an address. What the agent answers is its own affair: the pod may be on its
// way out.
func (p *Player) checkPods(ctx context.Context, a scenarios.CheckPods) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		for _, s := range p.world.Sandboxes(node) {
			if s.Addr.IsValid() {
				p.world.Ask(ctx, node, Request{Command: "Check", Owner: s.Owner, Netns: s.Netns, Addr: s.Addr}, nil)
			}
		}
		return nil
	})
}

// gc sends GC with the attachments of every sandbox that exists.
func (p *Player) gc(ctx context.Context, a scenarios.GC) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		r := Request{Command: "GC", Owner: ipam.Owner{Network: NetworkName, ContainerID: "all", IfName: "all"}}
		for _, s := range p.world.Sandboxes(node) {
			r.Valid = append(r.Valid, s.Owner)
		}
		p.world.Ask(ctx, node, r, nil)
		return nil
	})
}
