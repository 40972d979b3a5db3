package gen

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios"
)

// otherNICs are further interfaces of machines, otherNets the networks behind them.
var (
	otherNICs = []string{"GigabitEthernet0/9/0", "GigabitEthernet0/a/0"}
	otherNets = []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24"), netip.MustParsePrefix("10.78.0.0/25")}
)

// drawNICs gives some clusters' machines one or two interfaces beside the one to the interconnect: each node that is there from the start has an
// address on them, of its own, leased or none, or leaves them alone.
func (d drawer) drawNICs(s *scenarios.Scenario) {
	if i := &s.Config.IPAM; !d.coin("other NICs", 8) || len(s.Config.Nodes) > 0 || i.IP6() || i.Dual() {
		return
	}
	s.Topology.OtherNICs = otherNICs[:1+d.c.Pick("how many other NICs", len(otherNICs))]
	leases := !s.Config.HasDHCP() && !s.Config.IPAM.DefaultGateway.IsValid() && d.coin("leases of other NICs", 3)
	for n := range s.Topology.Nodes {
		settings := scenarios.NodeSettings{Name: fmt.Sprintf("node-%d", n+1)}
		for i, name := range s.Topology.OtherNICs {
			nic := scenarios.NICSettings{Name: name}
			switch one(d, "what an other NIC has", "address", "address", "lease", "nothing", "left alone") {
			case "address":
				a := otherNets[i].Addr().As4()
				a[3] = byte(n + 1)
				nic.IP = netip.PrefixFrom(netip.AddrFrom4(a), otherNets[i].Bits())
			case "lease":
				if nic.UseDHCP = leases && i == 0; nic.UseDHCP {
					s.Config.DHCP.OtherRange = otherNets[0]
				}
			case "left alone":
				continue
			}
			settings.Others = append(settings.Others, nic)
		}
		if len(settings.Others) > 0 {
			s.Config.Nodes = append(s.Config.Nodes, settings)
		}
	}
}
