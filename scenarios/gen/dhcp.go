package gen

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// drawDHCP has some clusters lease their nodes' addresses, from a server that goes away and changes its mind.
func (d drawer) drawDHCP(s *scenarios.Scenario) {
	if !d.coin("dhcp", 6) {
		return
	}
	s.Config.IPAM.NodeInterconnectDHCP = true
	s.Config.DHCP.Lease = one(d, "lease", scenarios.DHCPLeaseLeast, 10*time.Minute)
	if d.coin("router", 2) {
		s.Config.DHCP.Router = netip.MustParseAddr("192.168.16.1")
	}
	for i := range d.c.Pick("items about dhcp", 4) {
		var a scenarios.Action = scenarios.StopDHCP{For: d.span()}
		if d.coin("another address", 2) {
			a = scenarios.ChangeNodeAddress{Node: scenarios.AnyNode, Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, 16, byte(20 + i)}), 24)}
		}
		at := d.between("dhcp at", time.Second, max(2*time.Second, s.Duration-time.Second))
		s.Timeline = append(s.Timeline, scenarios.Step{Trigger: scenarios.AtTime, Time: at, Optional: true, Action: a})
	}
	slices.SortStableFunc(s.Timeline, func(a, b scenarios.Step) int { return cmp.Compare(a.Time, b.Time) })
}
