package timeline

import (
	"context"
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
)

func (p *Player) stopStore(_ context.Context, a scenarios.StopStore) error {
	p.world.StopStore(true)
	p.until(a.For, "start store", func() { p.world.StopStore(false) })
	return nil
}

func (p *Player) stopDHCP(_ context.Context, a scenarios.StopDHCP) error {
	p.world.StopDHCP(true)
	p.until(a.For, "start dhcp", func() { p.world.StopDHCP(false) })
	return nil
}

func (p *Player) wipeStore(context.Context, scenarios.WipeStore) error { return p.world.WipeStore() }

func (p *Player) compactStore(ctx context.Context, _ scenarios.CompactStore) error {
	return p.world.CompactStore(ctx)
}

func (p *Player) stopAPI(_ context.Context, a scenarios.StopAPI) error {
	p.world.StopAPI(true)
	p.until(a.For, "start api", func() { p.world.StopAPI(false) })
	return nil
}

// lagMost bounds how late a stale watch delivers; what was sent while it was stale still arrives that late.
const lagMost = 20 * time.Second

// staleWatch makes a node's agent see everything late.
func (p *Player) staleWatch(_ context.Context, a scenarios.StaleWatch) error {
	lag := a.For
	if lag == 0 || lag > lagMost {
		lag = lagMost
	}
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		p.world.LagWatches(node, lag)
		p.until(a.For, "fresh watch "+node, func() { p.world.LagWatches(node, 0) })
		return nil
	})
}

func (p *Player) gapWatch(ctx context.Context, a scenarios.GapWatch) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error { return p.world.GapWatches(ctx, node) })
}

func (p *Player) duplicateWatch(_ context.Context, a scenarios.DuplicateWatch) error {
	return p.each(a.Node, a.Verb(), living, func(node string) error { p.world.RepeatWatches(node, a.Count); return nil })
}

// changeCIDR gives the cluster other address ranges; agents learn of it each in its time.
func (p *Player) changeCIDR(ctx context.Context, a scenarios.ChangeCIDR) error {
	if restart, is := a.Restart(); is && !p.plan.Traits().ByID {
		return p.restartController(ctx, restart)
	}
	if err := p.SetPlan(ctx, a.Apply(p.plan)); err != nil {
		return fmt.Errorf("%s: %w", a.Verb(), err)
	}
	return nil
}

// SetPlan makes a plan the cluster's, if it is one.
func (p *Player) SetPlan(ctx context.Context, plan scenarios.IPAM) error {
	pools, err := agentconfig.Pools(plan)
	if err != nil {
		return err
	}
	p.plan = plan
	return p.world.SetPools(ctx, plan, pools)
}

func (p *Player) addRange(_ context.Context, a scenarios.AddRange) error {
	return p.world.AddRange(a.CIDR)
}

func (p *Player) removeRange(_ context.Context, a scenarios.RemoveRange) error {
	return p.world.RemoveRange(a.CIDR)
}

func loseLeaderNeed(a scenarios.LoseLeader) Need {
	if a.Asleep {
		return PausedControllers
	}
	return LeadingController
}

func (p *Player) loseLeader(_ context.Context, a scenarios.LoseLeader) error {
	return p.world.LoseLeader(a)
}

func (p *Player) restartController(_ context.Context, a scenarios.RestartController) error {
	return p.world.RestartController(a)
}

func (p *Player) setPodCIDR(ctx context.Context, a scenarios.SetPodCIDR) error {
	return p.each(a.Node, a.Verb(), present, func(node string) error { return p.world.SetPodCIDR(ctx, node, a.PodCIDR) })
}

func (p *Player) changeNodeAddress(ctx context.Context, a scenarios.ChangeNodeAddress) error {
	if cluster := p.s.Config.IPAM.NodeInterconnectCIDR; cluster.Addr().Is6() != a.Address.Addr().Is6() {
		return fmt.Errorf("%s: %s is not of the family of the cluster's node addresses", a.Verb(), a.Address)
	}
	return p.each(a.Node, a.Verb(), present, func(node string) error {
		for _, other := range p.machines(present) {
			if other.Name != node && p.given[other.Name] == a.Address.Addr() {
				return fmt.Errorf("%s was given %s before, and two nodes of one address have no way to each other", other.Name, a.Address.Addr())
			}
		}
		err := p.world.SetAddress(ctx, node, a.Address)
		if err == nil {
			p.given[node] = a.Address.Addr()
		}
		return err
	})
}

func (p *Player) changeManagement(ctx context.Context, a scenarios.ChangeManagement) error {
	return p.each(a.Node, a.Verb(), present, func(node string) error { return p.world.SetManagement(ctx, node, a.Addresses) })
}

// inject adds a fault for as long as the action says.
func (p *Player) inject(_ context.Context, a scenarios.Inject) error {
	node := ""
	if a.Node != "" && a.Node != scenarios.AllNodes {
		list, err := p.targets(a.Node, a.Verb(), present)
		if err != nil {
			return err
		}
		node = list[0]
	}
	end, err := p.world.Inject(a.Fault, node)
	if err == nil {
		p.until(a.For, "lift "+a.Fault, end)
	}
	return err
}
