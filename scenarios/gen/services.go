package gen

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// drawServices has VPP serve services in some clusters whose hosts are joined with it: pods of the churn and of the start, and hosts,
// come and go as endpoints, fail their probes, and services change and vanish.
func (d drawer) drawServices(s *scenarios.Scenario) {
	if s.Config.Wiring.Host == scenarios.HostNone || !d.coin("services", 5) {
		return
	}
	s.Config.Wiring.Services = scenarios.ServedByVPP
	s.Config.Wiring.LocalEndpoints = one[uint32](d, "local weight", 1, 1, 3, 200)
	for i := range 1 + d.c.Pick("services at the start", len(serviceNames)) {
		s.Services = append(s.Services, d.service(i))
	}
	for range d.c.Pick("items about services", 6) {
		at := d.between("services at", time.Second, max(2*time.Second, s.Duration-time.Second))
		s.Timeline = append(s.Timeline, scenarios.Step{Trigger: scenarios.AtTime, Time: at, Optional: true, Action: d.aboutServices()})
	}
	slices.SortStableFunc(s.Timeline, func(a, b scenarios.Step) int { return cmp.Compare(a.Time, b.Time) })
}

// serviceNames are those of all drawn services; each has an address and a node port of its own.
var serviceNames = [...]string{"web", "dns", "api"}

// service draws what the i-th service is.
func (d drawer) service(i int) scenarios.Service {
	s := scenarios.Service{Name: serviceNames[i], ClusterIP: netip.AddrFrom4([4]byte{10, 96, 0, byte(10 + i)}),
		Protocol: one(d, "protocol", scenarios.TCP, scenarios.UDP), Port: uint32(80 + i), TargetPort: one[uint32](d, "target port", 8080, 9090)}
	switch d.c.Pick("endpoints", 5) {
	case 0:
		s.Hosts = scenarios.AllNodes
	case 1:
		s.App = "per-node"
	default:
		s.App = "churn"
	}
	if d.coin("node port", 2) {
		s.NodePort = uint32(30080 + i)
	}
	if d.coin("affinity", 4) {
		s.Affinity = time.Minute
	}
	if d.coin("outer address", 4) {
		s.External = netip.AddrFrom4([4]byte{20, 20, 20, byte(20 + i)})
	}
	s.ExternalPolicy = one(d, "external policy", scenarios.ClusterWide, scenarios.ClusterWide, scenarios.NodeLocal)
	s.InternalPolicy = one(d, "internal policy", scenarios.ClusterWide, scenarios.ClusterWide, scenarios.ClusterWide, scenarios.NodeLocal)
	return s
}

// aboutServices draws one thing that happens to a service.
func (d drawer) aboutServices() scenarios.Action {
	switch d.c.Pick("about services", 4) {
	case 0:
		return scenarios.RemoveService{Service: one(d, "service", serviceNames[:]...)}
	case 1:
		return scenarios.SetReady{App: one(d, "app", "churn", "per-node"), Count: 1 + d.c.Pick("pods", 4), Ready: d.coin("ready", 2)}
	}
	return scenarios.ChangeService(d.service(d.c.Pick("service", len(serviceNames))))
}
