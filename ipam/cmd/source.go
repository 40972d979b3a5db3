package cmd

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// wiredKept is what the wiring of this project keeps of each block beside its first and last address: a gateway, which
// Cilium calls the router, and a NAT loopback. Of a delegated prefix, and of a CIDR of fewer than 16 addresses, it keeps none, because its gateway is
// outside.
const wiredKept = 2

// source is the configuration as package plan takes it.
func (s stage) source() (plan.Source, error) {
	c := s.section
	if s.contivs != nil {
		return s.contivs, nil
	}
	if c.Dual() {
		if !c.Traits().Dual {
			return nil, fmt.Errorf("podSubnetCIDR %s has two families, and system %s has one here; plan each by itself", c.PodSubnetCIDR, c.System)
		}
		for _, six := range []bool{c.PodSubnetCIDR.Addr().Is6(), !c.PodSubnetCIDR.Addr().Is6()} {
			if len(c.Ranges) > 0 && !slices.ContainsFunc(c.Ranges, func(r netip.Prefix) bool { return r.Addr().Is6() == six }) {
				return nil, fmt.Errorf("ranges: has none inside %s: pods get an address of each family of podSubnetCIDR, or none", c.PodSubnetCIDR.OfFamily(six))
			}
		}
		first, err := s.ofFamily(c.PodSubnetCIDR.Addr().Is6()).source()
		if err != nil {
			return nil, err
		}
		second, err := s.ofFamily(!c.PodSubnetCIDR.Addr().Is6()).source()
		if err != nil {
			return nil, err
		}
		return plan.Dual{First: first, Second: second}, nil
	}
	switch c.System {
	case scenarios.NodeIPAM:
		return s.nodeIPAM()
	case scenarios.Cilium:
		return s.cilium()
	case scenarios.Datastore:
		return s.datastore()
	case scenarios.Contiv, "":
		return plan.Contiv{Config: s.contiv()}, nil
	}
	ranges, bits, f, err := s.pods()
	if err != nil {
		return nil, err
	}
	return c.PlanSource(plan.Base{Ranges: ranges, BlockBits: bits, Keys: s.keys(), Fabric: f})
}

// contiv is the section as Contiv's own configuration.
func (s stage) contiv() contiv.IPAMConfig {
	c := s.section.IPAM.Contiv()
	c.PodSubnetOneNodePrefixLen, c.VPPHostSubnetOneNodePrefixLen = cmp.Or(s.section.PodSubnetOneNodePrefixLen, s.section.Traits().BlockBits), s.section.VPPHostSubnetOneNodePrefixLen
	c.NodeInterconnectDHCP = s.section.NodeInterconnectDHCP
	if p := s.section.PodIfIPCIDR; p.IsValid() {
		c.PodIfIPCIDR = p.String()
	}
	if s.section.PodSubnetCIDR.Addr().Is6() && !s.section.NodeInterconnectCIDR.IsValid() {
		c.NodeInterconnectCIDR = "" // the default is IPv4's
	}
	return c
}

// pods are the ranges that blocks are carved from, and the blocks' length, of a system that is configured by Contiv's
// keys.
func (s stage) pods() (ranges []netip.Prefix, bits int, f plan.Fabric, err error) {
	if !s.wired {
		all := s.section.PodSubnetCIDR
		if !all.IsValid() {
			all = scenarios.CIDR(netip.MustParsePrefix(contiv.DefaultPodSubnetCIDR))
		}
		bits = contiv.DefaultOneNodePrefixLen4
		if all.Addr().Is6() {
			bits = contiv.DefaultOneNodePrefixLen6
		}
		ranges, bits, f = []netip.Prefix{all.Prefix}, cmp.Or(s.section.PodSubnetOneNodePrefixLen, s.section.Traits().BlockBits, bits), s.fabric()
	} else {
		p, err := plan.Read(s.contiv())
		if err != nil {
			return nil, 0, plan.Fabric{}, err
		}
		ranges, bits, f = []netip.Prefix{p.PodSubnet}, p.PodSubnetOneNodePrefixLen, plan.FabricOf(p)
	}
	if len(s.section.Ranges) > 0 {
		ranges = s.section.Ranges
	}
	return ranges, bits, f, nil
}

// keys are the names of what pods returns.
func (s stage) keys() plan.Keys {
	k := plan.Keys{Range: "podSubnetCIDR", Length: "podSubnetOneNodePrefixLen"}
	if len(s.section.Ranges) > 0 {
		k.Range = "ranges"
	}
	return k
}

// fabric is what a document says of the ranges beside the pods': only what it gives, because another CNI may need none.
func (s stage) fabric() plan.Fabric {
	c := s.section
	length := contiv.DefaultOneNodePrefixLen4
	if c.VPPHostSubnetCIDR.Addr().Is6() {
		length = contiv.DefaultOneNodePrefixLen6
	}
	f := plan.Fabric{VPPHost: c.VPPHostSubnetCIDR.Prefix, VPPHostOneNode: cmp.Or(c.VPPHostSubnetOneNodePrefixLen, length),
		Interconnect: c.NodeInterconnectCIDR.Prefix, VXLAN: c.VXLANCIDR.Prefix, Gateway: c.DefaultGateway}
	for _, p := range slices.Concat([]netip.Prefix{c.ServiceCIDR.Prefix}, c.NodeIPAM.ServiceCIDRs) {
		if p.IsValid() {
			f.Services = append(f.Services, p)
		}
	}
	return f
}

func (s stage) nodeIPAM() (plan.Source, error) {
	ranges, bits, f, err := s.pods()
	if err != nil {
		return nil, err
	}
	own := s.section.NodeIPAM
	out := plan.NodeIPAM{Fabric: f}
	switch {
	case len(own.ClusterCIDRs) > 0 || len(own.ForNodes) > 0:
		out.Params.ClusterCIDRs = own.ClusterCIDRs
		if n := len(own.NodeMaskSizes); n > 0 && n != len(own.ClusterCIDRs) {
			return nil, fmt.Errorf("nodeipam.nodeMaskSizes has %d lengths for %d clusterCIDRs", n, len(own.ClusterCIDRs))
		}
		for i, p := range own.ClusterCIDRs {
			bits := 24 // the controller manager's defaults
			if p.Addr().Is6() {
				bits = 64
			}
			if len(own.NodeMaskSizes) > 0 {
				bits = own.NodeMaskSizes[i]
			}
			out.Params.NodeCIDRMaskSizes = append(out.Params.NodeCIDRMaskSizes, bits)
		}
	case len(ranges) == 1:
		out.Keys = s.keys()
		out.Params.ClusterCIDRs, out.Params.NodeCIDRMaskSizes = ranges, []int{bits}
	default:
		out.Keys = s.keys()
		for i, p := range ranges {
			c := nodeipam.ClusterCIDR{Name: fmt.Sprintf("range-%d", i), PerNodeHostBits: p.Addr().BitLen() - bits}
			if c.IPv4 = p; p.Addr().Is6() {
				c.IPv4, c.IPv6 = netip.Prefix{}, p
			}
			out.Params.MultiCIDRs = append(out.Params.MultiCIDRs, c)
		}
	}
	for _, c := range own.ForNodes {
		selector, err := nodeipam.ParseSelector(c.Selector)
		if err != nil {
			return nil, fmt.Errorf("nodeipam.forNodes %s: %w", c.Name, err)
		}
		out.Params.MultiCIDRs = append(out.Params.MultiCIDRs, nodeipam.ClusterCIDR{Name: c.Name, Selector: selector,
			PerNodeHostBits: c.PerNodeHostBits, IPv4: c.IPv4, IPv6: c.IPv6})
	}
	return out, nil
}

func (s stage) cilium() (plan.Source, error) {
	ranges, bits, f, err := s.pods()
	if err != nil {
		return nil, err
	}
	own := s.section.Cilium
	if own.Mode == scenarios.ENI || own.Mode == scenarios.CRD {
		return s.ciliumNodes(ranges, f)
	}
	out := plan.Cilium{Multi: own.Mode != scenarios.ClusterPool, Kept: own.KeptPerCIDR, Namespace: own.NamespacePool, Fabric: f}
	switch {
	case s.wired && out.Multi:
		out.Kept, out.Outside = wiredKept, true
	case s.wired:
		out.Kept = wiredKept - 1 // the router's is counted by itself
	}
	for _, p := range own.Pools {
		pool := plan.CiliumPool{Name: cmp.Or(p.Name, cilium.DefaultPool), PreAllocate: max(int(p.PreAllocate), 0)}
		pool.PoolSpec = cilium.PoolSpec{IPv4: p.IPv4, IPv6: p.IPv6, MaskSize4: p.MaskSizeIPv4, MaskSize6: p.MaskSizeIPv6}
		out.Pools = append(out.Pools, pool)
	}
	// A document's pools are all that there are; a scenario's come beside the default one.
	if len(out.Pools) > 0 && !s.wired {
		return out, nil
	}
	pool := plan.CiliumPool{Name: cilium.DefaultPool, PreAllocate: max(int(own.PreAllocate), 0)}
	for _, p := range ranges {
		if p.Addr().Is4() {
			pool.IPv4, pool.MaskSize4 = append(pool.IPv4, p), bits
		} else {
			pool.IPv6, pool.MaskSize6 = append(pool.IPv6, p), bits
		}
	}
	out.Pools, out.Keys = append([]plan.CiliumPool{pool}, out.Pools...), s.keys()
	return out, nil
}

// ciliumNodes is the source of the modes whose nodes get single addresses.
func (s stage) ciliumNodes(ranges []netip.Prefix, f plan.Fabric) (plan.Source, error) {
	own := s.section.Cilium
	marks := cilium.Watermarks{PreAllocate: int(own.PreAllocate), MinAllocate: own.MinAllocate, MaxAllocate: own.MaxAllocate, MaxAboveWatermark: own.MaxAboveWatermark}
	out := plan.CiliumNodes{Watermark: plan.Watermark{Marks: marks, ReleaseExcess: !own.KeepExcess, Prefixes: own.PrefixDelegation}, Keys: s.keys(), Fabric: f}
	if own.Mode == scenarios.CRD {
		out.Ranges = ranges
		return out, nil
	}
	z, err := s.sizing()
	if err != nil {
		return nil, err
	}
	out.ENIs, out.PerENI, out.Zones = z.ENIsMax, z.UnitsPerENI, s.zones(ranges)
	return out, nil
}

func (s stage) datastore() (plan.Source, error) {
	ranges, _, f, err := s.pods()
	if err != nil {
		return nil, err
	}
	z, err := s.sizing()
	if err != nil {
		return nil, err
	}
	z.SkipPrimary = s.section.Datastore.CustomNetworking()
	return plan.Datastore{Sizing: z, Zones: s.zones(ranges), Fabric: f}, nil
}

// zones are the subnets of instances.
func (s stage) zones(ranges []netip.Prefix) (list []plan.Zone) {
	for _, n := range s.section.Datastore.Subnets {
		list = append(list, plan.Zone{Subnet: n.CIDR, Pods: n.Pods, Taken: n.Taken})
	}
	if len(list) > 0 {
		return list
	}
	zone := plan.Zone{Name: "podSubnetCIDR", Subnet: ranges[0]}
	if zone.Usable = s.section.Ranges; len(zone.Usable) > 0 {
		zone.Subnet = allPods(s.section.IPAM)
	}
	return []plan.Zone{zone}
}

// sizing is what an instance keeps and may have.
func (s stage) sizing() (datastore.Sizing, error) {
	c := s.section.Datastore
	limits, ok := datastore.LimitsOf(c.InstanceType)
	if c.ENIs > 0 {
		limits.ENIs = c.ENIs
	}
	if c.IPsPerENI > 0 {
		limits.IPv4PerENI = c.IPsPerENI
	}
	if !ok && (c.ENIs == 0 || c.IPsPerENI == 0) {
		return datastore.Sizing{}, fmt.Errorf("datastore.instanceType %q is not known; give enis and ipsPerENI%s", c.InstanceType, cli.Hint(c.InstanceType, datastore.InstanceTypes()))
	}
	enis := limits.ENIs
	if c.MaxENI > 0 {
		enis = min(enis, c.MaxENI)
	}
	return datastore.Sizing{
		Targets: datastore.Targets{WarmIP: c.WarmIP, MinimumIP: c.MinimumIP, WarmENI: c.WarmENI, WarmPrefix: c.WarmPrefix},
		ENIsMax: enis, UnitsPerENI: limits.IPv4PerENI - 1, PrefixDelegation: c.PrefixDelegation, TrunkSlot: c.TrunkENI,
	}, nil
}
