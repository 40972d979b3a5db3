package sim

import (
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// halfGiven is the family for want of whose addresses a life of an agent refused an ADD last, as its answer names it.
type halfGiven struct{ family string }

// before is how many addresses are free before an ADD of a pod that gets one of each family and that rests when it is given back, -1 for any other event.
func (g *halfGiven) before(p *process, ev agent.Event) int {
	if _, adds := ev.(agent.PodAdd); !adds || !p.m.w.s.Config.IPAM.Dual() || p.m.w.rest() == 0 {
		return -1
	}
	_, free := p.m.alloc.Capacity(p.ownNow())
	return free
}

// after tells of an ADD for which an address of one family is taken and given back, as there is none of the other: it rests, and after some tries there is
// none of either. An agent learns only from such an ADD that the other family has become the scarce one.
func (g *halfGiven) after(p *process, free int, effects []agent.Effect) {
	for _, e := range effects {
		a, answers := e.(agent.Answer)
		family, _, named := strings.Cut(a.Message, ": ")
		if !answers || !a.Exhausted || !named || family != "ipv4" && family != "ipv6" {
			continue
		}
		last := g.family
		g.family = family
		if _, left := p.m.alloc.Capacity(p.ownNow()); free >= 0 && left < free && last == family {
			p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "an address for an ADD that is refused (" + a.Message + ")",
				Broken: "is taken and given back, although the ADD refused before was told that " + family + " has none"})
		}
	}
}
