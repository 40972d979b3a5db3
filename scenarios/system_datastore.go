package scenarios

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// Datastore is AWS VPC CNI: an ipamd on each node asks EC2.
const Datastore System = "datastore"

type datastoreRules struct{}

var datastoreSystem = AddressSystem{Name: Datastore, Rules: datastoreRules{}, Draws: datastoreRules{}, Attachment: struct{ Store, API int64 }{0, 6}, Daemon: "aws-node",
	Requests: []string{"describe-enis", "read-imds", "set-up-eni", "assign-units", "unassign-units", "create-eni", "delete-eni"}}

func (datastoreRules) Traits(c IPAM) Traits {
	return Traits{Daemons: true, EC2: true, Single: true, Ranges: RangesComeAndGo, NoDual: "AWS VPC CNI gives a pod an address of IPv4 or of IPv6, never of both (ENABLE_IPv4 and ENABLE_IPv6 exclude each other)", Rest: max(c.Datastore.Cooling, c.ReuseDelay),
		NoWanted: "AWS VPC CNI gives the address that its interfaces have to spare"}
}

func (datastoreRules) Check(s *Scenario, p contiv.Plan) *InputError {
	c := s.Config.IPAM
	return s.checkEC2(c, p, "config.ipam.datastore.prefixDelegation", c.Datastore.PrefixDelegation)
}

// Zones of subnets that are drawn, without and with custom networking.
var (
	drawnZones  = []VPCSubnet{{CIDR: netip.MustParsePrefix("10.1.0.0/20")}, {CIDR: netip.MustParsePrefix("10.1.16.0/20")}}
	drawnCustom = []VPCSubnet{
		{CIDR: netip.MustParsePrefix("10.200.0.0/24"), Pods: netip.MustParsePrefix("10.1.0.0/20")},
		{CIDR: netip.MustParsePrefix("10.200.1.0/24"), Pods: netip.MustParsePrefix("10.1.64.0/20")}}
)

func (datastoreRules) Draw(d Chooser, c *IPAM) bool {
	c.PodSubnetOneNodePrefixLen = 0
	c.Datastore.Cooling = One(d, "cooling", time.Second, 30*time.Second)
	c.Datastore.WarmIP = One(d, "warm ip", 0, 3, 20)
	c.Datastore.MetadataLag = One(d, "metadata lag", time.Second, time.Minute)
	c.Datastore.Requests = One(d, "requests", 0, 2)
	c.Datastore.PrefixDelegation = d.Pick("prefix delegation", 2) == 0
	c.Datastore.TrunkENI = d.Pick("trunk", 4) == 0
	c.Datastore.Subnets = One(d, "subnets", nil, nil, drawnZones, drawnCustom)
	return len(c.Datastore.Subnets) > 0
}

// Life implements Draws: an interface more when pods come, and one back when they have gone.
func (datastoreRules) Life(c *IPAM, pod PodWiring) int {
	c.PodSubnetOneNodePrefixLen = 0
	c.Datastore.InstanceType, c.Datastore.Cooling, c.Datastore.WarmIP, c.Datastore.WarmPrefix = "t3.nano", time.Second, 3, 0
	if pod != PodVETH {
		return 20
	}
	// A VPP has room for 15 AF_PACKET interfaces; single addresses need fewer pods for an interface more.
	c.Datastore.InstanceType, c.Datastore.PrefixDelegation, c.Datastore.WarmPrefix = "t3.small", false, 1
	return 5
}
