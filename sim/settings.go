package sim

import (
	"iter"

	"github.com/vppdrill/vppdrill/scenarios/configured"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// settings compares what a scenario configures with what a machine's VPP and Linux have.
func (m *machine) settings(n *fact.NodeState) iter.Seq[fact.Setting] {
	return configured.Of(m.w.s, n, configured.Beside{Rings: m.vpp.Rings, Neighbors: m.vpp.NeighborSettings, LeaseHostname: m.vpp.LeaseHostname, Rearranged: m.w.rearranged,
		NAT: func() (configured.NAT, bool) {
			nat, on := m.vpp.NATSettings()
			return configured.NAT(nat), on
		}})
}
