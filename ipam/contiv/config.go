package contiv

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Defaults of Contiv-VPP 2.1 for IPv4 clusters. An IPv6 cluster has only the prefix lengths as defaults.
const (
	DefaultServiceCIDR   = "10.96.0.0/12"
	DefaultPodSubnetCIDR = "10.1.0.0/16"
	DefaultVPPHostCIDR   = "172.30.0.0/16"
	DefaultVXLANCIDR     = "192.168.30.0/24"
	// DefaultOneNodePrefixLen4 and DefaultOneNodePrefixLen6 leave each node 256 addresses.
	DefaultOneNodePrefixLen4 = 24
	DefaultOneNodePrefixLen6 = 120
)

// IPAMConfig is the ipam section of a scenario or of an agent's configuration, with Contiv's own keys. Empty fields
// have the defaults above; every range may be written with host bits, which are dropped. Resolve turns it into a Plan.
//
// In a cluster of two families PodSubnetCIDR is a pair, 10.1.0.0/16,fd00:1::/64, whose first one is the primary
// family's; the other ranges and the gateway may be pairs too.
type IPAMConfig struct {
	// UseExternalIPAM leaves picking addresses to another IPAM plugin; the node's block is then its Kubernetes podCIDR.
	UseExternalIPAM bool `json:"useExternalIPAM,omitempty" yaml:"useExternalIPAM,omitempty"`
	// ContivCIDR is one range of at least 18 host bits that every range except the service range is cut from.
	ContivCIDR string `json:"contivCIDR,omitempty" yaml:"contivCIDR,omitempty"`
	// ServiceCIDR is the range of cluster IPs.
	ServiceCIDR string `json:"serviceCIDR,omitempty" yaml:"serviceCIDR,omitempty"`
	// NodeInterconnectDHCP says that node addresses come from DHCP: no interconnect range, no default gateway.
	NodeInterconnectDHCP bool `json:"nodeInterconnectDHCP,omitempty" yaml:"nodeInterconnectDHCP,omitempty"`
	// PodSubnetCIDR is split into one block of PodSubnetOneNodePrefixLen per node.
	PodSubnetCIDR             string `json:"podSubnetCIDR,omitempty" yaml:"podSubnetCIDR,omitempty"`
	PodSubnetOneNodePrefixLen int    `json:"podSubnetOneNodePrefixLen,omitempty" yaml:"podSubnetOneNodePrefixLen,omitempty"`
	// PodSubnetOneNodePrefixLenIPv6 and VPPHostSubnetOneNodePrefixLenIPv6 are IPv6's in clusters of two families.
	PodSubnetOneNodePrefixLenIPv6     int `json:"podSubnetOneNodePrefixLenIPv6,omitempty" yaml:"podSubnetOneNodePrefixLenIPv6,omitempty"`
	VPPHostSubnetOneNodePrefixLenIPv6 int `json:"vppHostSubnetOneNodePrefixLenIPv6,omitempty" yaml:"vppHostSubnetOneNodePrefixLenIPv6,omitempty"`
	// VPPHostSubnetCIDR is split into one link between VPP and the host per node.
	VPPHostSubnetCIDR             string `json:"vppHostSubnetCIDR,omitempty" yaml:"vppHostSubnetCIDR,omitempty"`
	VPPHostSubnetOneNodePrefixLen int    `json:"vppHostSubnetOneNodePrefixLen,omitempty" yaml:"vppHostSubnetOneNodePrefixLen,omitempty"`
	// NodeInterconnectCIDR holds one address per node; empty without a default.
	NodeInterconnectCIDR string `json:"nodeInterconnectCIDR,omitempty" yaml:"nodeInterconnectCIDR,omitempty"`
	// VXLANCIDR holds one address per node for the VXLAN bridge domain's virtual interface.
	VXLANCIDR string `json:"vxlanCIDR,omitempty" yaml:"vxlanCIDR,omitempty"`
	// DefaultGateway is an address of the interconnect that no node may get.
	DefaultGateway string `json:"defaultGateway,omitempty" yaml:"defaultGateway,omitempty"`
	// PodIfIPCIDR is the node-local range of the VPP ends of pod interfaces (Contiv 2.x); the same on every node.
	PodIfIPCIDR string `json:"podIfIPCIDR,omitempty" yaml:"podIfIPCIDR,omitempty"`
	// SRv6 holds the ranges that segment identifiers are made from (Contiv 3.x, IPv6 only).
	SRv6 SRv6Config `json:"srv6,omitzero" yaml:"srv6,omitempty"`
}

// Resolve parses and validates the section: every field, the split lengths, one family, and no two ranges that overlap.
// An error names the field and the value as written.
func (c IPAMConfig) Resolve() (Plan, error) {
	p, err := c.parse()
	if err != nil {
		return Plan{}, err
	}
	if err := p.Check(); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// parse is Resolve without the checks that concern more than one field.
func (c IPAMConfig) parse() (Plan, error) {
	first, second, err := c.Families()
	if err != nil {
		return Plan{}, err
	}
	p, err := first.parseFamily()
	if err != nil || second == (IPAMConfig{}) {
		return p, err
	}
	other, err := second.parseFamily()
	p.Second = &other
	return p, err
}

// parseFamily is parse of a section of one family.
func (c IPAMConfig) parseFamily() (Plan, error) {
	var p Plan
	var err error
	if c.ContivCIDR != "" {
		if err = c.refuseBesideContivCIDR(); err != nil {
			return Plan{}, err
		}
		p, err = DissectContivCIDR(c)
	} else {
		p, err = c.parseRanges()
	}
	if err != nil {
		return Plan{}, err
	}
	p.External, p.DHCP = c.UseExternalIPAM, c.NodeInterconnectDHCP
	service := c.ServiceCIDR
	if service == "" && p.PodSubnet.Addr().Is4() {
		service = DefaultServiceCIDR
	}
	if p.Service, err = parseRange("serviceCIDR", service); err != nil {
		return Plan{}, err
	}
	if c.PodIfIPCIDR != "" {
		if p.PodIf, err = parseRange("podIfIPCIDR", c.PodIfIPCIDR); err != nil {
			return Plan{}, err
		}
	}
	if c.DefaultGateway != "" && !c.NodeInterconnectDHCP {
		gateway, err := netip.ParseAddr(c.DefaultGateway)
		if err != nil {
			return Plan{}, fmt.Errorf("failed to parse defaultGateway %q: %w", c.DefaultGateway, err)
		}
		p.DefaultGateway = space.NormalAddr(gateway)
	}
	if _, err = c.SRv6.Resolve(); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// parseRanges reads the ranges of a configuration without a contivCIDR.
func (c IPAMConfig) parseRanges() (Plan, error) {
	var p Plan
	var err error
	pods := c.PodSubnetCIDR
	if pods == "" {
		pods = DefaultPodSubnetCIDR
	}
	if p.PodSubnet, err = parseRange("podSubnetCIDR", pods); err != nil {
		return Plan{}, err
	}
	host, vxlan, length := c.VPPHostSubnetCIDR, c.VXLANCIDR, DefaultOneNodePrefixLen6
	if p.PodSubnet.Addr().Is4() {
		length = DefaultOneNodePrefixLen4
		if host == "" {
			host = DefaultVPPHostCIDR
		}
		if vxlan == "" {
			vxlan = DefaultVXLANCIDR
		}
	}
	if p.VPPHostSubnet, err = needRange("vppHostSubnetCIDR", host); err != nil {
		return Plan{}, err
	}
	if p.VXLAN, err = needRange("vxlanCIDR", vxlan); err != nil {
		return Plan{}, err
	}
	if !c.NodeInterconnectDHCP {
		if p.NodeInterconnect, err = parseRange("nodeInterconnectCIDR", c.NodeInterconnectCIDR); err != nil {
			return Plan{}, err
		}
	}
	p.PodSubnetOneNodePrefixLen = orDefault(c.PodSubnetOneNodePrefixLen, length)
	p.VPPHostSubnetOneNodeLen = orDefault(c.VPPHostSubnetOneNodePrefixLen, length)
	if err = p.checkSplits(""); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// refuseBesideContivCIDR names the first range that contivCIDR would have silently replaced.
func (c IPAMConfig) refuseBesideContivCIDR() error {
	for _, f := range [...]struct{ name, value string }{
		{"podSubnetCIDR", c.PodSubnetCIDR}, {"vppHostSubnetCIDR", c.VPPHostSubnetCIDR}, {"vxlanCIDR", c.VXLANCIDR},
	} {
		if f.value != "" {
			return fmt.Errorf("%s %q: contivCIDR %q decides this range already, give one of them", f.name, f.value, c.ContivCIDR)
		}
	}
	for _, f := range [...]struct {
		name  string
		value int
	}{
		{"podSubnetOneNodePrefixLen", c.PodSubnetOneNodePrefixLen},
		{"vppHostSubnetOneNodePrefixLen", c.VPPHostSubnetOneNodePrefixLen},
	} {
		if f.value != 0 {
			return fmt.Errorf("%s %d: contivCIDR %q decides this length already, give one of them", f.name, f.value, c.ContivCIDR)
		}
	}
	return nil
}

// parseRange reads one range; empty text is the zero Prefix.
func parseRange(field, text string) (netip.Prefix, error) {
	if text == "" {
		return netip.Prefix{}, nil
	}
	p, err := space.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("failed to parse %s %q: %w", field, text, err)
	}
	return p, nil
}

func needRange(field, text string) (netip.Prefix, error) {
	if text == "" {
		return netip.Prefix{}, fmt.Errorf("%s is empty: an IPv6 cluster has no default for it", field)
	}
	return parseRange(field, text)
}

func orDefault(value, otherwise int) int {
	if value == 0 {
		return otherwise
	}
	return value
}
