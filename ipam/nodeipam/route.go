package nodeipam

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Route is a route of a cloud's network, as the cloud shows it.
type Route struct {
	// Name is the cloud's key of it.
	Name string
	// Destination is a CIDR as it stands there: perhaps unreadable.
	Destination string
	// Node is the node whose machine it leads to; empty where the cloud knows none.
	Node string
	// Blackhole: the machine that it leads to is gone.
	Blackhole bool
}

// Upstream's defaults: --cluster-name and --route-reconciliation-period of the controller manager.
const (
	DefaultClusterName = "kubernetes"
	DefaultRoutePeriod = 10 * time.Second
)

// RouteConfig is what a RouteController is started with.
type RouteConfig struct {
	// Cluster tells this cluster's routes from others' in one network: small letters, digits and single dashes that begin
	// with a letter, at most clusterNameMax of them.
	Cluster string
	// CIDRs are the cluster's: routes to others are nobody's business here.
	CIDRs []netip.Prefix
	// Period is between the beginnings of two passes; 0 is 10 s.
	Period time.Duration
}

const (
	// routeSeparator is between a cluster and the rest of a route's name. No name of a cluster has it, so that the routes
	// of cluster "a" are not taken for those of "a-b". (Google's provider separates by one dash, and takes them.)
	routeSeparator = "--"
	// routeNameMax is Google's longest name of a resource; a UID of Kubernetes has 36 characters.
	routeNameMax = 63
	// routeNameIPv6 ends the name of a node's IPv6 route: names are keys.
	routeNameIPv6  = "-ipv6"
	clusterNameMax = routeNameMax - len(routeSeparator) - 36 - len(routeNameIPv6)
)

// Check refuses what New and NewRouteController refuse of it.
func (c RouteConfig) Check() error {
	outside := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	switch {
	case c.Cluster == "" || c.Cluster[0] < 'a' || c.Cluster[0] > 'z' || strings.ContainsFunc(c.Cluster, outside) || strings.Contains(c.Cluster+"-", routeSeparator):
		return fmt.Errorf("cluster name %q: want small letters, digits and single dashes, beginning with a letter: names of routes begin with it", c.Cluster)
	case len(c.Cluster) > clusterNameMax:
		return fmt.Errorf("cluster name %q has %d characters, at most %d fit into the name of a route", c.Cluster, len(c.Cluster), clusterNameMax)
	case len(c.CIDRs) == 0:
		return errors.New("RouteController: Must specify clusterCIDR")
	case c.Period < 0:
		return fmt.Errorf("route reconciliation period %s must not be negative", c.Period)
	}
	return nil
}

// RouteName is the name of the route to a CIDR of a node with that UID.
func RouteName(cluster, uid string, cidr netip.Prefix) string {
	name := cluster + routeSeparator + uid
	if cidr.Addr().Is6() {
		name += routeNameIPv6
	}
	return name
}

// OwnRoute reports whether a name is one of this cluster's.
func OwnRoute(cluster, name string) bool {
	before, _, found := strings.Cut(name, routeSeparator)
	return found && before == cluster
}

// owns finds the destination of a route that is this controller's to keep or delete.
func (c RouteConfig) owns(r Route) (netip.Prefix, bool) {
	if !OwnRoute(c.Cluster, r.Name) {
		return netip.Prefix{}, false
	}
	p, err := space.ParsePrefix(r.Destination)
	return p, err == nil && c.within(p)
}

// within reports whether a CIDR begins or ends inside the cluster's.
func (c RouteConfig) within(p netip.Prefix) bool {
	for _, of := range c.CIDRs {
		if of.Contains(p.Addr()) || of.Contains(space.Last(p)) {
			return true
		}
	}
	return false
}
