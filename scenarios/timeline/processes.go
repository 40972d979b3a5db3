package timeline

import (
	"context"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

func (p *Player) killAgent(ctx context.Context, a scenarios.KillAgent) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		how := Kill{Hold: true, Reason: p.stopReason(ctx, node)}
		if a.ReturnNIC { // the next life begins by taking it again
			how.Reason, how.ReturnNIC = "return NIC", true
		}
		p.world.Kill(node, Agent, how)
		p.until(a.For, "start agent "+node, func() { p.world.Release(node) })
		return nil
	})
}

func (p *Player) restartAgent(ctx context.Context, a scenarios.RestartAgent) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		p.world.Kill(node, Agent, Kill{Reason: p.stopReason(ctx, node)})
		p.world.Start(node, Agent)
		return nil
	})
}

// changeVersion ends agents and starts others, node after node.
func (p *Player) changeVersion(ctx context.Context, a scenarios.ChangeVersion) error {
	list, err := p.targets(a.Node, a.Verb(), living)
	if err != nil {
		return err
	}
	for i, node := range list {
		change := func() {
			p.world.SetVersion(node, a.Version)
			p.world.Kill(node, Agent, Kill{Reason: "kill"})
			p.world.Start(node, Agent)
		}
		if wait := time.Duration(i) * a.Every; wait > 0 {
			p.later(wait, a.Verb()+" "+node, func() {
				if slices.ContainsFunc(p.world.Machines(), func(m Machine) bool { return m.Name == node && m.On }) {
					change()
				}
			})
		} else {
			change()
		}
	}
	return nil
}

// stopReason vouches for a clean stop where it is one: everything was quiet when it came, and nothing was broken by hand.
func (p *Player) stopReason(ctx context.Context, node string) string {
	if p.world.Quiet(ctx, node) && len(p.damaged) == 0 {
		return fact.CleanStop
	}
	return "kill"
}

func (p *Player) killVPP(_ context.Context, a scenarios.KillVPP) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		p.world.Kill(node, VPP, Kill{Hold: true})
		p.until(a.For, "start vpp "+node, func() { p.world.Release(node) })
		return nil
	})
}

func (p *Player) pauseAgent(_ context.Context, a scenarios.PauseAgent) error {
	return p.pause(a.Node, a.Verb(), Agent, a.For)
}

func (p *Player) pauseVPP(_ context.Context, a scenarios.PauseVPP) error {
	return p.pause(a.Node, a.Verb(), VPP, a.For)
}

func (p *Player) pauseKubelet(_ context.Context, a scenarios.PauseKubelet) error {
	return p.pause(a.Node, a.Verb(), Kubelet, a.For)
}

// pause stops a program where it is. One that is killed meanwhile starts anew, and is not paused.
func (p *Player) pause(ref scenarios.NodeRef, verb string, which Program, d time.Duration) error {
	return p.each(ref, verb, living, func(node string) error {
		if err := p.world.Pause(node, which, true); err != nil {
			return err
		}
		p.paused[node]++
		p.until(d, "resume "+node, func() { p.paused[node]--; p.fail(p.world.Pause(node, which, false)) })
		return nil
	})
}

func (p *Player) restartVPP(_ context.Context, a scenarios.RestartVPP) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		p.world.Kill(node, VPP, Kill{})
		p.world.Start(node, VPP)
		return nil
	})
}

func (p *Player) restartBoth(_ context.Context, a scenarios.RestartBoth) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		p.world.Kill(node, Agent, Kill{Reason: "with vpp"})
		p.world.Kill(node, VPP, Kill{})
		p.world.Start(node, VPP)
		p.world.Start(node, Agent)
		return nil
	})
}

// setClock moves the wall clocks of machines.
func (p *Player) setClock(_ context.Context, a scenarios.SetClock) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		if back := -a.By(); back > 0 && p.owed[node] > 0 {
			p.setBack[node] += back
		}
		p.world.SetClock(node, a.By())
		return nil
	})
}
