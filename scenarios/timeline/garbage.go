package timeline

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

const (
	// garbageTime is how long after a loss a runtime collects garbage: agents spare what is younger than a minute, as a list may be.
	garbageTime = 65 * time.Second
	// garbageAgain is when it tries again.
	garbageAgain = 10 * time.Second
	// garbageLost is when a request is known to have no answer: plugins give up after a minute.
	garbageLost = 2 * time.Minute
)

// loseSandboxes makes a runtime forget sandboxes, and collect garbage later.
func (p *Player) loseSandboxes(ctx context.Context, a scenarios.LoseSandboxes) error {
	lost := 0
	err := p.each(a.Node, a.Verb(), living, func(node string) error {
		left := a.Count
		list := p.candidates(node, "")
		for _, name := range p.choose(list, len(list)) {
			if left == 0 || !p.world.LoseSandbox(name, a) {
				continue
			}
			left--
			lost++
		}
		if left < a.Count && a.GC != scenarios.NoGarbage {
			p.owed[node]++
			p.collectLater(context.WithoutCancel(ctx), node, garbageTime)
		}
		return nil
	})
	return did(lost, a, err)
}

// collectLater sends GC after a while, until it succeeds or the node is gone.
func (p *Player) collectLater(ctx context.Context, node string, d time.Duration) {
	p.world.After(d, "garbage "+node, func() {
		if !p.present(node) {
			delete(p.owed, node)
			return
		}
		if !p.lives(node) {
			p.collectLater(ctx, node, garbageAgain)
			return
		}
		if back := p.setBack[node]; back > 0 { // after a crash what was lost may be as young as the agent's new life
			delete(p.setBack, node)
			p.collectLater(ctx, node, min(back, garbageTime))
			return
		}
		answered := false
		p.world.After(garbageLost, "garbage answered "+node, func() {
			if !answered { // it ended with its machine
				p.collectLater(ctx, node, 0)
			}
		})
		p.world.Ask(ctx, node, p.garbage(node), func(r Response) {
			answered = true
			if r.Code != 0 || !r.Known && !p.healed {
				p.swept[node] = p.swept[node] || r.Code == 0
				p.collectLater(ctx, node, garbageAgain)
				return
			}
			if p.owed[node]--; p.owed[node] <= 0 {
				delete(p.owed, node)
				delete(p.swept, node)
			}
		})
	})
}

// garbage is a GC with the attachments of every sandbox that a node has.
func (p *Player) garbage(node string) Request {
	r := Request{Command: "GC", Owner: ipam.Owner{Network: NetworkName, ContainerID: "all", IfName: "all"}}
	for _, s := range p.sandboxes(node) {
		r.Valid = append(r.Valid, s.Owner)
	}
	return r
}

// Owed is why the cluster is not quiet although nothing is under way, "" for nothing: a runtime has garbage to collect, or has not seen yet that a
// namespace is gone.
func (p *Player) Owed() string {
	if p.looks > 0 {
		return "a runtime looks later whether a sandbox still has its namespace"
	}
	for _, m := range p.machines(present) {
		if p.owed[m.Name] > 0 && (p.healed || !p.swept[m.Name]) {
			return m.Name + ": the runtime has lost sandboxes and collects garbage later"
		}
	}
	return ""
}
