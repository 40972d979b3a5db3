package lab

import (
	"context"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

var _ timeline.Claimants = stage{}

// claims is what a stranger on the wire has said.
type claims struct {
	// of are the nodes whose addresses are claimed, each with its own and those of the others.
	of map[string]usurped
	// probed is when VPPs that probe their neighbors have asked who has the addresses.
	probed time.Duration
}

type usurped struct {
	own   netip.Addr
	asked []netip.Addr
}

// probeSlack is how late VPP may probe neighbors whose time is over, and how long answers take.
const probeSlack = 15 * time.Second

// Claim implements timeline.Claimants. Whose addresses are whose is looked up when a claim begins.
func (st stage) Claim(node string) error {
	c, ok := st.claims.of[node]
	if !ok {
		s, err := st.look(context.Background(), false)
		if err != nil {
			return err
		}
		for _, n := range s.Nodes {
			switch a := n.Address.Addr(); {
			case !a.Is4():
			case n.Name == node:
				c.own = a
			default:
				c.asked = append(c.asked, a)
			}
		}
		if st.claims.of == nil {
			st.claims.of = map[string]usurped{}
		}
		st.claims.of[node] = c
	}
	if !c.own.IsValid() {
		return nil
	}
	netns, link := st.fabric.(Wired).OnWire()
	return probe.Claim(netns, link, timeline.StrangerMAC[:], c.own, c.asked)
}

// EndClaim implements timeline.Claimants.
func (st stage) EndClaim(node string) error {
	delete(st.claims.of, node)
	if age := st.scenario().Config.Wiring.NeighborAge; age > 0 {
		st.claims.probed = st.World.Now() + age + probeSlack
	}
	return nil
}
