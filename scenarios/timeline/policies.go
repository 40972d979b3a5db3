package timeline

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
)

func (p *Player) changePolicy(_ context.Context, a scenarios.ChangePolicy) error {
	p.enforce(scenarios.Policy(a))
	return nil
}

func (p *Player) enforce(s scenarios.Policy) {
	p.policies[s.Name] = true
	p.world.SetPolicy(s)
}

func (p *Player) removePolicy(_ context.Context, a scenarios.RemovePolicy) error {
	if !p.policies[a.Policy] {
		return fmt.Errorf("%s: %w: there is no policy %s", a.Verb(), ErrNoTarget, a.Policy)
	}
	delete(p.policies, a.Policy)
	p.world.RemovePolicy(a.Policy)
	return nil
}

func (p *Player) labelPods(_ context.Context, a scenarios.LabelPods) error {
	list := p.candidates("", a.App)
	if a.Count > 0 {
		list = p.choose(list, a.Count)
	}
	p.world.LabelPods(list, a.Labels)
	return did(len(list), a, nil)
}

func (p *Player) labelNamespace(_ context.Context, a scenarios.LabelNamespace) error {
	p.world.LabelNamespace(a.Labels)
	return nil
}
