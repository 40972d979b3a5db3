package scenarios

import "github.com/vppdrill/vppdrill/ipam/contiv"

// Contiv cuts blocks by node ID, or takes them from Node objects with useExternalIPAM.
const Contiv System = "contiv"

type contivRules struct{}

var contivSystem = AddressSystem{Name: Contiv, Rules: contivRules{}, Draws: contivRules{}, Daemon: "contiv-vswitch"}

func (contivRules) Traits(c IPAM) Traits {
	return Traits{ByID: true, IPv6: true, Dual: true, Rest: c.ReuseDelay}
}

func (contivRules) Check(*Scenario, contiv.Plan) *InputError { return nil }

// Draw implements Draws: what is Contiv's own is drawn for every cluster.
func (contivRules) Draw(Chooser, *IPAM) bool { return false }

// Life implements Draws.
func (contivRules) Life(c *IPAM, _ PodWiring) int {
	c.PodSubnetOneNodePrefixLen = 26
	return 1
}
