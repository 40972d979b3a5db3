package timeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Network and IfName complete the owners of all sandboxes.
const (
	NetworkName = "vppdrill"
	IfName      = "eth0"
	// otherNetwork is one that no sandbox is attached to.
	otherNetwork = "vppdrill-other"
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
					p.world.Tell(fact.Fact{Node: node, What: fact.DelRefused{Owner: owner, Why: r.Message}})
				}
			})
		}
		return nil
	})
}

// gc sends GC with the attachments of every sandbox that exists, or existed when the list was made; or with none, for a network that has none.
func (p *Player) gc(ctx context.Context, a scenarios.GC) error {
	ctx = context.WithoutCancel(ctx) // of a list that grows old
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		r := p.garbage(node)
		if a.Other {
			r.Owner.Network, r.Valid = otherNetwork, nil
		}
		send := func() {
			if p.lives(node) {
				p.world.Ask(ctx, node, r, nil)
			}
		}
		if a.Age == 0 {
			send()
			return nil
		}
		p.until(a.Age, "gc "+node, send)
		return nil
	})
}

// present reports whether a node is there.
func (p *Player) present(node string) bool {
	return slices.ContainsFunc(p.world.Machines(), func(m Machine) bool { return m.Name == node })
}

// lives reports whether a machine is there and has power.
func (p *Player) lives(node string) bool {
	return slices.ContainsFunc(p.world.Machines(), func(m Machine) bool { return m.Name == node && m.On })
}
