package scenarios

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// NodeIPAM is Kubernetes' own: the controller manager gives each Node object its pod CIDRs.
const NodeIPAM System = "nodeipam"

type nodeIPAMRules struct{}

var nodeIPAMSystem = AddressSystem{Name: NodeIPAM, Rules: nodeIPAMRules{}, Draws: nodeIPAMRules{},
	Requests: []string{"node-list", "node-get", "node-touch", "node-patch", "node-condition", "alias-read", "alias-add",
		"route-list", "route-create", "route-delete"}}

func (nodeIPAMRules) Traits(c IPAM) Traits {
	t := Traits{Leader: true, IPv6: true, Dual: true, Ranges: RangesComeAndGo, Rest: c.ReuseDelay}
	if c.NodeIPAM.Allocator.InCloud() {
		t.Ranges = RangesStay
	}
	return t
}

// Check refuses what allocators with a cloud cannot do, which know one range from their start on, and what Kubernetes does not do in two families.
func (nodeIPAMRules) Check(s *Scenario, p contiv.Plan) *InputError {
	c := s.Config.IPAM
	if p.Second != nil {
		first, second := p.PodSubnet.Addr().BitLen()-p.PodSubnetOneNodePrefixLen, p.Second.PodSubnet.Addr().BitLen()-p.Second.PodSubnetOneNodePrefixLen
		switch {
		case first != second: // Kubernetes' ClusterCIDR has one perNodeHostBits
			return s.wrongAt("config.ipam.podSubnetOneNodePrefixLen", "leaves %d bits to hosts, and podSubnetOneNodePrefixLenIPv6 %d: Kubernetes leaves as many in both families",
				first, second)
		case c.NodeIPAM.Allocator.InCloud():
			return s.wrongAt("config.ipam.nodeipam.allocator", "%s gives one block to a node, and podSubnetCIDR %s has two families: RangeAllocator gives one of each",
				c.NodeIPAM.Allocator, c.PodSubnetCIDR)
		case len(c.Ranges) > 0:
			return s.wrongAt("config.ipam.ranges", "cannot be beside podSubnetCIDR %s: in two families blocks are carved from podSubnetCIDR as a whole, so leave it out", c.PodSubnetCIDR)
		}
	}
	if c.NodeIPAM.Allocator.InCloud() {
		if len(c.Ranges) > 1 {
			return s.wrongAt("config.ipam.ranges[1]", "%s has one range", c.NodeIPAM.Allocator)
		}
		for i, step := range s.Timeline {
			switch step.Action.(type) {
			case AddRange, RemoveRange:
				return s.wrongAt("timeline["+strconv.Itoa(i)+"]", "%s keeps the range that it started with; RangeAllocator has %s", c.NodeIPAM.Allocator, step.Action.Verb())
			}
		}
	}
	if err := s.checkCloudRoutes(p); err != nil {
		return err
	}
	for _, of := range p.Families() {
		if bits := of.PodSubnetOneNodePrefixLen - of.PodSubnet.Bits(); of.PodSubnet.Addr().Is6() && bits > clusterBitsMost {
			return s.wrongAt(lengthField(p, of), "/%d in %s: Kubernetes cuts a range of IPv6 into at most 2^%d blocks", of.PodSubnetOneNodePrefixLen, of.PodSubnet, clusterBitsMost)
		}
	}
	return s.checkBlockBits("config.ipam.podSubnetOneNodePrefixLen", p)
}

// checkCloudRoutes refuses a route controller beside an allocator that needs none, and names that cannot be told apart.
func (s *Scenario) checkCloudRoutes(p contiv.Plan) *InputError {
	const at = "config.ipam.nodeipam."
	c := s.Config.IPAM.NodeIPAM
	if !c.ConfigureCloudRoutes {
		return nil
	}
	if c.Allocator.InCloud() {
		return s.wrongAt(at+"configureCloudRoutes", "true: the alias ranges of %s need no routes; RangeAllocator's blocks do", c.Allocator)
	}
	if err := (nodeipam.RouteConfig{Cluster: c.ClusterName, CIDRs: []netip.Prefix{p.PodSubnet}}).Check(); err != nil {
		return s.wrongAt(at+"clusterName", "%s", err)
	}
	for i, r := range c.OtherRoutes {
		path := at + "otherRoutes[" + strconv.Itoa(i) + "]."
		switch {
		case r.Name == "":
			return s.wrongAt(path+"name", "is missing: routes of a cloud have names")
		case nodeipam.OwnRoute(c.ClusterName, r.Name):
			return s.wrongAt(path+"name", "%s: such names are of routes of this cluster, %s", r.Name, c.ClusterName)
		case slices.ContainsFunc(c.OtherRoutes[:i], func(o OtherRoute) bool { return o.Name == r.Name || o.Destination == r.Destination }):
			return s.wrongAt(path+"name", "%s: names and destinations of routes are there once", r.Name)
		case !r.Destination.IsValid():
			return s.wrongAt(path+"destination", "is missing")
		}
	}
	return nil
}

// clusterBitsMost is clusterSubnetMaxDiff of Kubernetes 1.36, pkg/controller/nodeipam/ipam/cidrset.
const clusterBitsMost = 16

func (nodeIPAMRules) Draw(d Chooser, c *IPAM) bool {
	c.PodSubnetOneNodePrefixLen = One(d, "prefix length", 24, 26, 28)
	c.NodeIPAM.Allocator = One(d, "allocator", RangeAllocator, RangeAllocator, CloudAllocator, IPAMFromCluster, IPAMFromCloud)
	return false
}

func (nodeIPAMRules) Life(c *IPAM, _ PodWiring) int {
	c.PodSubnetOneNodePrefixLen = 28
	return 3
}
