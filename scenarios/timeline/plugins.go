package timeline

import (
	"context"

	"github.com/vppdrill/vppdrill/scenarios"
)

func (p *Player) killPlugin(_ context.Context, a scenarios.KillPlugin) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		p.world.KillPlugin(node, a)
		return nil
	})
}

func (p *Player) killRuntime(_ context.Context, a scenarios.KillRuntime) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		p.world.Kill(node, Runtime, Kill{Hold: true})
		p.until(a.For, "start runtime "+node, func() { p.world.Start(node, Runtime) })
		return nil
	})
}

func (p *Player) fillDisk(_ context.Context, a scenarios.FillDisk) error {
	return p.each(a.Node, a.Verb(), present, func(node string) error {
		if err := p.world.FillDisk(node, true); err != nil {
			return err
		}
		p.until(a.For, "empty disk "+node, func() { p.fail(p.world.FillDisk(node, false)) })
		return nil
	})
}

func (p *Player) loseState(_ context.Context, a scenarios.LoseState) error {
	return p.each(a.Node, a.Verb(), present, func(node string) error { return p.world.LoseState(node, a.What) })
}
