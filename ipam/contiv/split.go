package contiv

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Layout of a contivCIDR, in host bits of the parts and their numbers counted in parts of the same size. From
// contiv/vpp 2.1.4 plugins/ipam (the pod interface range from its 2.0 configuration code).
const (
	splitHostBits = 18 // least host bits of a contivCIDR

	splitClusterBits = 16 // pods are part 0 of this size, VPP-host links part 1
	splitOneNodeBits = 7  // 512 nodes of 128 addresses
	splitNodeBits    = 9  // interconnect is part 256 of this size, VXLAN part 257
	splitPodIfBits   = 7  // VPP ends of pod interfaces are part 1032 of this size
)

// DissectContivCIDR cuts c.ContivCIDR into the cluster's ranges. c.NodeInterconnectCIDR replaces the computed
// interconnect and c.NodeInterconnectDHCP leaves it out; other fields are not looked at, and of the Plan only the
// ranges and lengths are set.
func DissectContivCIDR(c IPAMConfig) (Plan, error) {
	all, err := parseRange("contivCIDR", c.ContivCIDR)
	if err != nil {
		return Plan{}, err
	}
	if !all.IsValid() || space.HostBits(all) < splitHostBits {
		return Plan{}, fmt.Errorf("contivCIDR %q: ContivCIDR is not valid: it must provide at least 18bit space", c.ContivCIDR)
	}
	width := all.Addr().BitLen()
	// The parts below lie within 18 host bits, so no number can be outside.
	part := func(hostBits int, n uint64) netip.Prefix {
		p, err := space.Subnet(all, width-hostBits, n)
		if err != nil {
			panic(fmt.Sprintf("contiv: part %d of %d bits in %s: %v", n, hostBits, all, err))
		}
		return p
	}
	p := Plan{
		PodSubnet:                 part(splitClusterBits, 0),
		PodSubnetOneNodePrefixLen: width - splitOneNodeBits,
		VPPHostSubnet:             part(splitClusterBits, 1),
		VPPHostSubnetOneNodeLen:   width - splitOneNodeBits,
		NodeInterconnect:          part(splitNodeBits, 256),
		VXLAN:                     part(splitNodeBits, 257),
		PodIf:                     part(splitPodIfBits, 1032),
	}
	switch {
	case c.NodeInterconnectDHCP:
		p.NodeInterconnect = netip.Prefix{}
	case c.NodeInterconnectCIDR != "":
		if p.NodeInterconnect, err = parseRange("nodeInterconnectCIDR", c.NodeInterconnectCIDR); err != nil {
			return Plan{}, err
		}
	}
	return p, nil
}
