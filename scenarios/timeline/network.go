package timeline

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// server reports whether an end of a connection is not a node.
func server(e scenarios.Endpoint) bool { return e == scenarios.APIServer || e == scenarios.Store }

func partitionNeed(a scenarios.Partition) Need {
	if a.OneWay && !server(a.Between[0]) && !server(a.Between[1]) {
		return OneWayFabric
	}
	return serverNeed(a.Between)
}

func slowLinkNeed(a scenarios.SlowLink) Need {
	if !server(a.Between[0]) && !server(a.Between[1]) {
		return SlowFabric
	}
	if server(a.Between[0]) != server(a.Between[1]) {
		return SlowServers
	}
	return serverNeed(a.Between)
}

func serverNeed(pair [2]scenarios.Endpoint) Need {
	if server(pair[0]) && server(pair[1]) {
		return ServerLink
	}
	return Nothing
}

// ends resolves both ends of a connection to names.
func (p *Player) ends(pair [2]scenarios.Endpoint, verb string) (out [2]scenarios.Endpoint, err error) {
	for i, e := range pair {
		if server(e) {
			out[i] = e
			continue
		}
		list, err := p.targets(scenarios.NodeRef(e), verb, present)
		if err != nil {
			return out, err
		}
		out[i] = scenarios.Endpoint(list[0])
	}
	return out, nil
}

// StrangerMAC is that of whoever claims nodes' addresses. No link has it, so that what is sent there gets nowhere.
var StrangerMAC = [6]byte{0x02, 0x5e, 0, 0, 0, 1}

// claimEvery is how often a stranger says that it has a node's address.
const claimEvery = time.Second

func (p *Player) claimAddress(_ context.Context, a scenarios.ClaimAddress) error {
	nodes, err := p.targets(a.Node, a.Verb(), living)
	if err != nil {
		return err
	}
	over := false
	var claim func(node string) error
	claim = func(node string) error {
		if over {
			return nil
		}
		p.world.After(claimEvery, "a stranger claims "+node+"'s address again", func() { p.fail(claim(node)) })
		return p.world.(Claimants).Claim(node)
	}
	for _, node := range nodes {
		if err := claim(node); err != nil {
			return err
		}
		p.until(a.For, "the stranger with "+node+"'s address is gone", func() {
			over = true
			p.fail(p.world.(Claimants).EndClaim(node))
		})
	}
	return nil
}

func (p *Player) partition(_ context.Context, a scenarios.Partition) error {
	ends, err := p.ends(a.Between, a.Verb())
	if err != nil {
		return err
	}
	if err := p.world.Cut(ends[0], ends[1], a.OneWay); err != nil {
		return err
	}
	p.until(a.For, "mend "+string(ends[0])+" "+string(ends[1]), func() { p.fail(p.world.Mend(ends[0], ends[1])) })
	return nil
}

func (p *Player) slowLink(_ context.Context, a scenarios.SlowLink) error {
	ends, err := p.ends(a.Between, a.Verb())
	if err != nil {
		return err
	}
	if err := p.world.Slow(ends[0], ends[1], Link{Delay: a.Delay, Loss: a.Loss, Duplicate: a.Duplicate}); err != nil {
		return err
	}
	p.until(a.For, "usual link "+string(ends[0])+" "+string(ends[1]), func() { p.fail(p.world.Slow(ends[0], ends[1], Link{})) })
	return nil
}
