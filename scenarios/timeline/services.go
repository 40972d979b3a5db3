package timeline

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
)

func (p *Player) changeService(_ context.Context, a scenarios.ChangeService) error {
	p.serve(scenarios.Service(a))
	return nil
}

func (p *Player) serve(s scenarios.Service) {
	p.services[s.Name] = true
	p.world.SetService(s.Complete())
}

func (p *Player) removeService(_ context.Context, a scenarios.RemoveService) error {
	if !p.services[a.Service] {
		return fmt.Errorf("%s: %w: there is no service %s", a.Verb(), ErrNoTarget, a.Service)
	}
	delete(p.services, a.Service)
	p.world.RemoveService(a.Service)
	return nil
}

func (p *Player) setReady(_ context.Context, a scenarios.SetReady) error {
	list := p.candidates("", a.App)
	if a.Count > 0 {
		list = p.choose(list, a.Count)
	}
	p.world.SetReady(list, a.Ready)
	return did(len(list), a, nil)
}
