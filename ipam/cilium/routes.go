package cilium

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// RouteReport is what ReserveLocalRoutes found; destinations are in normal form, in the order of the routes.
type RouteReport struct {
	// Reserved destinations lie in an allocation range and lead elsewhere: none of their addresses is allocated any more.
	Reserved []netip.Prefix
	// Addresses is how many addresses of the allocation ranges those are together, at most 2^64-1; of destinations that
	// overlap, each counts.
	Addresses uint64
	// Covering destinations hold a whole allocation range. They conflict with nothing, because the range's own route is as
	// long or longer; one that is exactly as long is worth a warning.
	Covering []netip.Prefix
	// Ignored is how many routes concern no allocation range.
	Ignored int
}

// String is one line for the log.
func (r RouteReport) String() string {
	return fmt.Sprintf("%d routes reserve %d addresses, %d cover a range, %d ignored",
		len(r.Reserved), r.Addresses, len(r.Covering), r.Ignored)
}

// ReserveLocalRoutes blacklists the destinations of the node's routes that lie in an allocation range. It does nothing
// unless the configuration says BlacklistConflictingRoutes. It ignores the default route, routes of the host device and
// routes with neither source nor gateway. Call it again when routes have changed; nothing is ever taken back.
func (ipam *IPAM) ReserveLocalRoutes() (RouteReport, error) {
	if !ipam.cfg.BlacklistConflictingRoutes || ipam.cfg.Routes == nil || ipam.addressing == nil {
		return RouteReport{}, nil
	}
	routes, err := ipam.cfg.Routes()
	if err != nil {
		return RouteReport{}, fmt.Errorf("list local routes: %w", err)
	}
	defer ipam.lock()()
	var report RouteReport
	for _, r := range routes {
		ipam.reserve(r, &report)
	}
	return report, nil
}

func (ipam *IPAM) reserve(r Route, report *RouteReport) {
	dst := space.Normal(r.Dst)
	f := DeriveFamily(dst.Addr())
	if ipam.own(r) || dst.Bits() <= 0 || !r.Src.IsValid() && !r.Gw.IsValid() || ipam.allocator(f) == nil {
		report.Ignored++
		return
	}
	pool := ipam.cidr(f)
	switch {
	case space.Contains(dst, pool):
		report.Covering = append(report.Covering, dst)
	case space.Contains(pool, dst):
		ipam.blacklistNet(dst, "local route: "+dst.String())
		report.Reserved = append(report.Reserved, dst)
		report.Addresses += min(space.Count(dst), ^uint64(0)-report.Addresses)
	default:
		report.Ignored++
	}
}

func (ipam *IPAM) own(r Route) bool {
	device := ipam.cfg.HostDevice
	if device == "" {
		device = defaultHostDevice
	}
	return r.Link == device
}
