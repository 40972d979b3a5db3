package timeline

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// damage is a sandbox whose wiring was broken by hand and, as far as anybody knows, has not been put right.
type damage struct {
	node string
	pod  fact.PodState
	what scenarios.Breakage
}

// breakWiringNeeds are what breaking pods' wiring needs.
var breakWiringNeeds = []func(scenarios.BreakWiring) Need{
	func(a scenarios.BreakWiring) Need {
		switch a.What {
		case scenarios.BreakNamespace:
			return PodNamespaces
		case scenarios.BreakVPPInterface, scenarios.BreakVPPRoute, scenarios.BreakTrunk:
			return AgentAndVPP
		}
		return Nothing
	},
}

// breakWiring changes pods' wiring behind their agents' backs.
func (p *Player) breakWiring(ctx context.Context, a scenarios.BreakWiring) error {
	broken := 0
	spoil := func(node string, s fact.PodState) error {
		err := p.world.Break(ctx, node, s, a.What)
		if err == nil {
			broken++
			p.damaged = append(p.damaged, damage{node, s, a.What})
			switch a.What {
			case scenarios.BreakTrunk:
				p.world.Tell(fact.Fact{Node: node, What: fact.Disturbed{By: fact.LinkDeleted, Owner: ipam.Owner{}}})
			case scenarios.BreakNamespace:
				p.world.Tell(fact.Fact{Node: node, What: fact.Disturbed{Owner: s.Owner, By: fact.LinkDeleted}})
			}
		}
		if errors.Is(err, ErrNoTarget) {
			return nil
		}
		return err
	}
	answered := func(node string) []fact.PodState { // a namespace is there before its sandbox has an address
		return slices.DeleteFunc(p.sandboxes(node), func(s fact.PodState) bool { return !s.Addr.IsValid() && a.What != scenarios.BreakNamespace })
	}
	if a.Pod != "" {
		for _, m := range p.machines(living) {
			for _, s := range answered(m.Name) {
				if s.Pod == a.Pod {
					if err := spoil(m.Name, s); err != nil {
						return err
					}
				}
			}
		}
	} else if err := p.each(a.Node, a.Verb(), living, func(node string) error {
		list := answered(node)
		for range min(a.Count, len(list)) {
			i := p.pick("sandbox", len(list))
			s := list[i]
			list = slices.Delete(list, i, i+1)
			if err := spoil(node, s); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if broken == 0 {
		return fmt.Errorf("%s: %w: no sandbox with an address has %s to break", a.Verb(), ErrNoTarget, noun.A(string(a.What)))
	}
	return nil
}

// Notice lets runtimes see what was broken by hand, before anybody waits for quiet: they send CHECK for every pod of a node where anything was broken, as pods share
// interfaces and the one that was broken may be gone, upon which the agent puts right what it finds; sandboxes without a namespace
// they replace. Where a node has no pod left for which the agent would look, whoever broke what pods share restarts the agent.
func (p *Player) Notice() {
	list := p.damaged
	p.damaged = nil
	p.notice(list)
}

// noticePause is how long a runtime that cannot replace a sandbox yet, as its ADD is under way, waits until it looks again.
const noticePause = time.Second

func (p *Player) notice(list []damage) {
	asked := map[string]bool{}
	var later []damage
	for _, d := range list {
		switch {
		case !p.lives(d.node): // its pods died with it
		case d.what == scenarios.BreakNamespace:
			if !p.world.ReplaceSandbox(d.pod.Pod[len("default/"):]) && p.stands(d) {
				later = append(later, d)
			}
		case !asked[d.node]:
			asked[d.node] = true
			p.checkAll(d.node)
		}
	}
	if len(later) > 0 {
		p.looks++
		h := p.heals.add(func() { p.looks-- }, true)
		p.world.After(noticePause, "runtimes look for namespaces", func() {
			p.heals.run(h)
			p.notice(later)
		})
	}
}

// stands reports whether a sandbox that was broken is there still.
func (p *Player) stands(d damage) bool {
	return slices.ContainsFunc(p.sandboxes(d.node), func(s fact.PodState) bool { return s.Owner == d.pod.Owner })
}

// unknownContainer is CNI's code for a container that the plugin does not know, or no longer wants to (specification 1.1, "Error").
const unknownContainer = 3

// checkAll has a node's agent look at every pod that has an address. When it looked for none of them it is started anew.
func (p *Player) checkAll(node string) {
	list := slices.DeleteFunc(p.sandboxes(node), func(s fact.PodState) bool { return !s.Addr.IsValid() })
	left, looked := len(list), false
	restart := func() {
		p.world.Kill(node, Agent, Kill{Reason: "kill"})
		p.world.Start(node, Agent)
	}
	if left == 0 {
		restart()
	}
	for _, s := range list {
		p.world.Ask(context.Background(), node, Request{Command: "Check", Owner: s.Owner, Netns: s.Netns, Addr: s.Addr}, func(r Response) {
			left--
			looked = looked || r.Code != unknownContainer
			if left == 0 && !looked && p.lives(node) {
				restart()
			}
		})
	}
}

// sandboxes are those of a node, each once: a pod of two families is one sandbox with one attachment, whatever lists say that go by address.
func (p *Player) sandboxes(node string) []fact.PodState {
	return slices.DeleteFunc(p.world.Sandboxes(node), func(s fact.PodState) bool {
		_, second := s.Owner.First()
		return second
	})
}

// checkPods sends CHECK for every pod that has an address, and tells the laws what came of it.
func (p *Player) checkPods(ctx context.Context, a scenarios.CheckPods) error {
	asked := 0
	err := p.each(a.Node, a.Verb(), living, func(node string) error {
		for _, s := range p.sandboxes(node) {
			if s.Addr.IsValid() {
				asked++
				p.check(ctx, node, s)
			}
		}
		return nil
	})
	return did(asked, a, err)
}

// check sends one CHECK. Its answer says something only where nothing else is under way: then packets tell what is broken.
func (p *Player) check(ctx context.Context, node string, s fact.PodState) {
	before, certain := p.wiring(ctx, node, s.Owner)
	stood := "" // what was broken still when the agent took the CHECK on
	request := Request{Command: "Check", Owner: s.Owner, Netns: s.Netns, Addr: s.Addr}
	if before != "" { // a look at all nodes, for each CHECK
		request.Reached = func() { stood, _ = p.broken(ctx, node, s.Owner) }
	}
	p.world.Ask(ctx, node, request, func(r Response) {
		if !certain || !r.Known {
			return
		}
		f := fact.Fact{Node: node, What: fact.Checked{Owner: s.Owner, Pod: s.Pod, PodUID: s.UID, Addr: s.Addr,
			Code: r.Code, Answer: r.Message, Broken: before}}
		hand := slices.ContainsFunc(p.damaged, func(d damage) bool { return d.node == node })
		if before == "" {
			// What was broken by hand may be without a consequence, and pods come and go: then a refusal proves nothing.
			if after, certain := p.wiring(ctx, node, s.Owner); !certain || after != "" || hand || r.Mending {
				return
			}
		}
		// An agent that found it broken when it took the CHECK on owes a refusal, also where it has put it right by the time it answers:
		// otherwise one that says yes to all and mends what it sees would pass.
		if before != "" && r.Code == 0 && stood == "" {
			// A request waits for an agent that starts, which looks at everything and puts it right before it answers, and may have more
			// to do then.
			if after, certain := p.wiring(ctx, node, s.Owner); !certain || after == "" {
				return
			}
		}
		if before != "" && r.Code != 0 { // the agent knows by now, and puts it right where that is possible
			p.damaged = slices.DeleteFunc(p.damaged, func(d damage) bool {
				return d.node == node && d.pod.Owner == s.Owner && d.what != scenarios.BreakNamespace
			})
		}
		p.world.Tell(f)
	})
}

// wiring says what packets find broken about a sandbox, "" for nothing. It is certain where nothing is under way.
func (p *Player) wiring(ctx context.Context, node string, owner ipam.Owner) (wrong string, certain bool) {
	if !p.world.Quiet(ctx, node) {
		return "", false
	}
	return p.broken(ctx, node, owner)
}

// broken says what packets find broken about a sandbox at this instant, "" for nothing; not known without it or its node's tables.
func (p *Player) broken(ctx context.Context, node string, owner ipam.Owner) (wrong string, known bool) {
	if x, looks := p.world.(Inspector); looks {
		return x.Broken(ctx, node, owner)
	}
	snapshot, err := p.world.Snapshot(ctx)
	n, found := snapshot.Node(node)
	if err != nil || !found || n.VPP == nil || n.Linux == nil {
		return "", false
	}
	w := walk.New(snapshot)
	for i := range n.Pods {
		if s := &n.Pods[i]; (s.Owner == owner || s.Owner == owner.Second()) && s.Addr.IsValid() {
			if wrong, known = amiss(node, n, s, w), true; wrong != "" {
				return wrong, true
			}
		}
	}
	return "", known
}

// amiss says what packets find broken about an address of a sandbox, "" for nothing.
func amiss(node string, n *fact.NodeState, s *fact.PodState, w *walk.Walker) string {
	if to := w.Outcome(walk.FromTable(node, n.PodTable), walk.Packet{Dst: s.Addr}); !to.To(node, s.Netns) {
		return fmt.Sprintf("packets from VPP to %s do not arrive (%s)", s.Addr, to)
	}
	// Whether the gateway is an address that answers depends on the wiring.
	if step := w.Step(walk.FromPod(node, s.Netns), walk.Packet{Dst: s.Gateway}); step.Outcome.Kind != 0 || !step.Next.VPP || step.Next.Node != node {
		return fmt.Sprintf("what the pod sends to its gateway %s does not get into VPP (%s)", s.Gateway, step.Outcome)
	}
	if _, found := n.Linux.Route(s.Netns, elsewhere(s.Addr)); !found {
		return "the pod has no route to other networks"
	}
	return ""
}

// elsewhere is an address that no plan holds, of the family of like: TEST-NET-1 of RFC 5737, or 2001:db8::/32 of RFC 3849.
func elsewhere(like netip.Addr) netip.Addr {
	if like.Is6() {
		return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: 1})
	}
	return netip.AddrFrom4([4]byte{192, 0, 2, 1})
}

// pollStatus sends STATUS to agents, and tells the laws what came of it.
func (p *Player) pollStatus(ctx context.Context, a scenarios.PollStatus) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		before, certain := p.canAdd(ctx, node)
		owner := ipam.Owner{Network: NetworkName, ContainerID: "none", IfName: "none"}
		p.world.Ask(ctx, node, Request{Command: "Status", Owner: owner}, func(r Response) {
			after, still := p.canAdd(ctx, node)
			if certain && still && r.Known && before == after {
				p.world.Tell(fact.Fact{Node: node, What: fact.Status{Code: r.Code, Answer: r.Message, Broken: before}})
			}
		})
		return nil
	})
}

// canAdd says why a node could take no ADD, "" where it could. It is certain where nothing is under way.
func (p *Player) canAdd(ctx context.Context, node string) (why string, certain bool) {
	if x, looks := p.world.(Inspector); looks {
		why, known := x.CannotAdd(node)
		return why, known && p.paused[node] == 0 && p.world.Quiet(ctx, node)
	}
	snapshot, err := p.world.Snapshot(ctx)
	n, found := snapshot.Node(node)
	switch {
	case err != nil || !found || !n.MachineUp || !n.AgentUp || p.paused[node] > 0: // nobody can tell at once that VPP stands still
		return "", false
	case !n.VPPUp:
		return "VPP is down", true
	}
	return "", n.ID != 0 && len(n.Blocks) > 0 && p.world.Quiet(ctx, node)
}
