package scenarios

import (
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// DefaultNodeInterconnect is where nodes live when neither nodeInterconnectCIDR nor contivCIDR is given. Contiv itself has
// no default: the range is the one of its deployment examples.
var DefaultNodeInterconnect = netip.MustParsePrefix("192.168.16.0/24")

// Contiv is the section as Contiv's own configuration, the interconnect's default filled in.
func (c IPAM) Contiv() contiv.IPAMConfig {
	one, six := c.blockBits()
	out := contiv.IPAMConfig{
		UseExternalIPAM:           c.Assigned(),
		ContivCIDR:                rangeText(c.ContivCIDR),
		ServiceCIDR:               c.ServiceCIDR.String(),
		PodSubnetCIDR:             c.PodSubnetCIDR.String(),
		PodSubnetOneNodePrefixLen: one,

		PodSubnetOneNodePrefixLenIPv6:     six,
		VPPHostSubnetOneNodePrefixLenIPv6: c.VPPHostSubnetOneNodePrefixLenIPv6,

		VPPHostSubnetCIDR:             c.VPPHostSubnetCIDR.String(),
		VPPHostSubnetOneNodePrefixLen: c.VPPHostSubnetOneNodePrefixLen,
		NodeInterconnectCIDR:          c.NodeInterconnectCIDR.String(),
		NodeInterconnectDHCP:          c.NodeInterconnectDHCP,
		VXLANCIDR:                     c.VXLANCIDR.String(),
		PodIfIPCIDR:                   rangeText(c.PodIfIPCIDR),
	}
	if c.DefaultGateway.IsValid() {
		out.DefaultGateway = c.DefaultGateway.String()
	}
	if out.NodeInterconnectCIDR == "" && out.ContivCIDR == "" {
		out.NodeInterconnectCIDR = DefaultNodeInterconnect.String()
	}
	return out
}

// Plan is every range of the cluster, defaults filled in. The error names the field that does not fit.
func (c IPAM) Plan() (contiv.Plan, error) { return c.Contiv().Resolve() }

// Resolved is the Plan of a configuration that was accepted.
func (c IPAM) Resolved() *contiv.Plan {
	plan, err := c.Plan()
	if err != nil {
		panic("scenarios: a plan that was accepted is none: " + err.Error())
	}
	return &plan
}

// Interconnect is where the nodes' own addresses are from, whether they follow from IDs or are leased; c has a Plan.
func (c IPAM) Interconnect() netip.Prefix {
	c.NodeInterconnectDHCP = false
	return c.Resolved().NodeInterconnect
}

// Dual reports whether the cluster has two address families.
func (c IPAM) Dual() bool { return c.PodSubnetCIDR.Second.IsValid() }

// IP6 reports whether the cluster's addresses, its primary ones where it has two families, are of IPv6.
func (c IPAM) IP6() bool {
	plan, err := c.Plan()
	return err == nil && plan.PodSubnet.Addr().Is6()
}

// hostIPsMost is the most of Topology.HostIPs.
const hostIPsMost = 8

// Management is the k-th address, with its subnet's length, of a machine's Linux side on the network that its administrators use. 10.20/14 and
// fd20::/16 are outside every default range of the plan.
func (s *Scenario) Management(number uint32, k int) netip.Prefix {
	a := netip.AddrFrom4([4]byte{10, byte(20+k) + hostIPsMost*byte(number>>16), byte(number >> 8), byte(number)})
	if s.Config.IPAM.IP6() {
		a = netip.AddrFrom16([16]byte{0xfd, 0x20, 3: byte(k), 12: byte(number >> 24), 13: byte(number >> 16), 14: byte(number >> 8), 15: byte(number)})
	}
	return netip.PrefixFrom(a, ManagementNetwork(a).Bits())
}

// ManagementNetwork is the subnet in which a machine with this management address is.
func ManagementNetwork(a netip.Addr) netip.Prefix {
	bits := 16
	if a.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(a, bits).Masked()
}

func rangeText(p netip.Prefix) string {
	if !p.IsValid() {
		return ""
	}
	return p.String()
}

// planField splits a plan's error into the field of IPAM that it starts with and the rest; "" when it starts otherwise.
func planField(err error) (field, message string) {
	text := strings.TrimPrefix(err.Error(), "failed to parse ")
	name, rest, _ := strings.Cut(text, " ")
	if _, ok := strictyaml.FieldNamed(ipamFields, name); ok {
		return name, rest
	}
	return "", err.Error()
}
