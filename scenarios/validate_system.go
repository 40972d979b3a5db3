package scenarios

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Bounds of the systems' blocks.
const (
	// AWS' subnets are /16 to /28; one of a single /28 has no room for a prefix beside AWS' own addresses.
	subnetBitsMin, subnetBitsMax = 16, 27
	// delegatedBits is the length of the prefixes that EC2 delegates.
	delegatedBits = 28
	// blockBitsMax leaves a block room for its network, gateway, NAT loopback and broadcast address and pods: with cilium and
	// nodeipam its 4 host bits are also what Kubernetes' ClusterCIDR demands.
	blockBitsMax = 28
	// Calico's IPPool has a blockSize of 20 to 32; below 8 addresses Contiv's own ranges, which agents check, make no sense.
	calicoBitsMin, calicoBitsMax = 20, 29
)

// singleBitsMax is the longest range that has an address beside its first and its last.
const singleBitsMax = 30

// checkSystem checks what belongs to one address management system.
func (s *Scenario) checkSystem(c IPAM) *InputError {
	if why := c.NoReuseDelay(); why != "" && c.ReuseDelay > 0 {
		return s.wrongAt("config.ipam.reuseDelay", "%s", why)
	}
	if c.System == Contiv {
		if len(c.Ranges) > 0 {
			return s.wrongAt("config.ipam.ranges", "contiv has none: a node's block follows from its ID")
		}
		return nil
	}
	if c.UseExternalIPAM {
		return s.wrongAt("config.ipam.useExternalIPAM", "is Contiv's; %s brings blocks of its own", c.System)
	}
	plan, err := c.Plan()
	if err != nil {
		return s.wrongAt("config.ipam", "%s", err)
	}
	if plan.Second != nil && c.System != NodeIPAM {
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s: %s gives addresses of one family here; contiv and nodeipam take two", c.PodSubnetCIDR, c.System)
	}
	if plan.Second != nil {
		first, second := plan.PodSubnet.Addr().BitLen()-plan.PodSubnetOneNodePrefixLen, plan.Second.PodSubnet.Addr().BitLen()-plan.Second.PodSubnetOneNodePrefixLen
		switch {
		case first != second: // Kubernetes' ClusterCIDR has one perNodeHostBits
			return s.wrongAt("config.ipam.podSubnetOneNodePrefixLen", "leaves %d bits to hosts, and podSubnetOneNodePrefixLenIPv6 %d: Kubernetes leaves as many in both families",
				first, second)
		case c.NodeIPAM.Allocator != RangeAllocator && c.NodeIPAM.Allocator != "":
			return s.wrongAt("config.ipam.nodeipam.allocator", "%s gives one block to a node, and podSubnetCIDR %s has two families: RangeAllocator gives one of each",
				c.NodeIPAM.Allocator, c.PodSubnetCIDR)
		case len(c.Ranges) > 0:
			return s.wrongAt("config.ipam.ranges", "has one family, and podSubnetCIDR %s two: blocks are carved from podSubnetCIDR there", c.PodSubnetCIDR)
		}
	}
	ip6 := plan.PodSubnet.Addr().Is6()
	crd := c.System == Cilium && c.Cilium.Mode == CRD
	if ip6 && (c.SingleAddresses() || c.System == Calico) {
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s: %s is here with IPv4 alone; contiv, nodeipam and cilium take IPv6", plan.PodSubnet, c.System)
	}
	for i, r := range c.Ranges {
		path := "config.ipam.ranges[" + strconv.Itoa(i) + "]"
		if err := s.checkRange(path, c, r); err != nil {
			return err
		}
		for _, earlier := range c.Ranges[:i] {
			if earlier.Overlaps(r) {
				return s.wrongAt(path, "%s overlaps %s", r, earlier)
			}
		}
	}
	if c.System == Cilium && c.Cilium.Mode == ClusterPool {
		for i, step := range s.Timeline {
			if _, ok := step.Action.(RemoveRange); ok {
				return s.wrongAt("timeline["+strconv.Itoa(i)+"]", "cluster-pool does not take ranges back")
			}
		}
	}
	if err := s.checkAliases(c); err != nil {
		return err
	}
	if err := s.checkPools(c, plan.PodSubnet, plan.PodSubnetOneNodePrefixLen); err != nil {
		return err
	}
	if c.System == Calico {
		if n := plan.PodSubnetOneNodePrefixLen; n < calicoBitsMin || n > calicoBitsMax {
			return s.wrongAt("config.ipam.podSubnetOneNodePrefixLen", "Calico's blocks are /%d to /%d", calicoBitsMin, calicoBitsMax)
		}
		return nil
	}
	if crd {
		if n := c.PodSubnetOneNodePrefixLen; n != 0 {
			return s.wrongAt("config.ipam.podSubnetOneNodePrefixLen", "is of no use with mode crd: nodes get single addresses")
		}
		return nil
	}
	if !c.OnEC2() {
		most := blockBitsMax
		if ip6 {
			most = 128 - (32 - blockBitsMax)
		}
		if plan.PodSubnetOneNodePrefixLen > most {
			return s.wrongAt("config.ipam.podSubnetOneNodePrefixLen", "/%d is longer than /%d", plan.PodSubnetOneNodePrefixLen, most)
		}
		return nil
	}
	if n := c.PodSubnetOneNodePrefixLen; n != 0 && n != delegatedBits {
		return s.wrongAt("config.ipam.podSubnetOneNodePrefixLen", "EC2 delegates /%d prefixes only", delegatedBits)
	}
	if b := plan.PodSubnet.Bits(); b < subnetBitsMin || b > subnetBitsMax {
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s can be no subnet of a VPC: want /%d to /%d", plan.PodSubnet, subnetBitsMin, subnetBitsMax)
	}
	if err := s.checkSubnets(c, plan.PodSubnet); err != nil {
		return err
	}
	if _, ok := datastore.LimitsOf(c.Datastore.InstanceType); !ok {
		err := s.wrongAt("config.ipam.datastore.instanceType", "%q is not known", c.Datastore.InstanceType)
		err.Nearest = strictyaml.Nearest(c.Datastore.InstanceType, datastore.InstanceTypes())
		return err
	}
	return nil
}

// checkPools refuses named pools whose ranges are not their own, and pods that ask for a pool that is not there.
func (s *Scenario) checkPools(c IPAM, pods netip.Prefix, bits int) *InputError {
	names := []string{DefaultCiliumPool}
	all := slices.Clone(c.Ranges)
	switch {
	case len(c.Cilium.Pools) == 0:
	case c.System != Cilium || c.Cilium.Mode != MultiPool || pods.Addr().Is6():
		return s.wrongAt("config.ipam.cilium.pools", "are of cilium's mode multi-pool, with IPv4")
	case len(c.Ranges) == 0:
		return s.wrongAt("config.ipam.cilium.pools", "leave nothing to the default pool: give it a range in config.ipam.ranges")
	}
	for i, p := range c.Cilium.Pools {
		path := "config.ipam.cilium.pools[" + strconv.Itoa(i) + "]"
		length := cmp.Or(p.MaskSize, bits)
		switch {
		case slices.Contains(names, p.Name):
			return s.wrongAt(path+".name", "%s is a pool already", p.Name)
		case len(p.IPv4) == 0:
			return s.wrongAt(path, "has no range: give it ipv4")
		case length > blockBitsMax:
			return s.wrongAt(path+".maskSizeIPv4", "/%d is longer than /%d", length, blockBitsMax)
		}
		names = append(names, p.Name)
		for k, r := range p.IPv4 {
			at := path + ".ipv4[" + strconv.Itoa(k) + "]"
			switch {
			case r.Bits() < pods.Bits() || !pods.Contains(r.Addr()):
				return s.wrongAt(at, "%s is not inside podSubnetCIDR %s", r, pods)
			case r.Bits() > length:
				return s.wrongAt(at, "%s has no room for a node's block of /%d", r, length)
			}
			for _, other := range all {
				if other.Overlaps(r) {
					return s.wrongAt(at, "%s overlaps %s", r, other)
				}
			}
			all = append(all, r)
		}
	}
	unknown := func(path, name string) *InputError {
		if name == "" || slices.Contains(names, name) {
			return nil
		}
		err := s.wrongAt(path, "there is no pool %q", name)
		err.Nearest = strictyaml.Nearest(name, names)
		return err
	}
	if err := unknown("config.ipam.cilium.namespacePool", c.Cilium.NamespacePool); err != nil {
		return err
	}
	for i, step := range s.Timeline {
		path := "timeline[" + strconv.Itoa(i) + "]"
		switch a := step.Action.(type) {
		case CreatePods:
			if err := unknown(path+".pool", a.Pool); err != nil {
				return err
			}
		case AddRange:
			for _, p := range c.Cilium.Pools {
				if slices.ContainsFunc(p.IPv4, a.CIDR.Overlaps) {
					return s.wrongAt(path+".cidr", "%s overlaps a range of pool %s", a.CIDR, p.Name)
				}
			}
		}
	}
	return nil
}

// DefaultCiliumPool is the pool of pods that ask for none.
const DefaultCiliumPool = "default"

// checkSubnets refuses zones whose subnets cannot be a VPC's, or are not where pods' addresses should be.
func (s *Scenario) checkSubnets(c IPAM, pods netip.Prefix) *InputError {
	d := c.Datastore
	custom := d.CustomNetworking()
	if custom && c.System != Datastore {
		return s.wrongAt("config.ipam.datastore.subnets[0].pods", "custom networking is AWS VPC CNI's; Cilium's interfaces are in their instance's subnet here")
	}
	if d.TrunkENI && c.System != Datastore {
		return s.wrongAt("config.ipam.datastore.trunkENI", "is AWS VPC CNI's")
	}
	if limits, ok := datastore.LimitsOf(d.InstanceType); ok && c.System == Datastore {
		taken := 0
		for _, is := range []bool{custom, d.TrunkENI} {
			if is {
				taken++
			}
		}
		if limits.ENIs <= taken {
			return s.wrongAt("config.ipam.datastore.instanceType", "%s has %d interfaces, of which custom networking and a trunk leave none to pods", d.InstanceType, limits.ENIs)
		}
	}
	var all []netip.Prefix
	for i, n := range d.Subnets {
		path := "config.ipam.datastore.subnets[" + strconv.Itoa(i) + "]."
		mine := []struct {
			field string
			p     netip.Prefix
			pods  bool
		}{{"cidr", n.CIDR, !custom}}
		if custom {
			mine = append(mine, struct {
				field string
				p     netip.Prefix
				pods  bool
			}{"pods", n.Pods, true})
		}
		for _, m := range mine {
			switch {
			case !m.p.IsValid():
				return s.wrongAt(path+m.field, "is missing: other subnets have it")
			case !m.p.Addr().Is4() || m.p.Bits() < subnetBitsMin || m.p.Bits() > subnetBitsMax:
				return s.wrongAt(path+m.field, "%s can be no subnet of a VPC: want /%d to /%d", m.p, subnetBitsMin, subnetBitsMax)
			case m.pods && (m.p.Bits() < pods.Bits() || !pods.Contains(m.p.Addr())):
				return s.wrongAt(path+m.field, "%s is not inside podSubnetCIDR %s", m.p, pods)
			case !m.pods && m.p.Overlaps(pods):
				return s.wrongAt(path+m.field, "%s overlaps podSubnetCIDR %s, which is for pods with custom networking", m.p, pods)
			}
			for _, other := range all {
				if other.Overlaps(m.p) {
					return s.wrongAt(path+m.field, "%s overlaps %s", m.p, other)
				}
			}
			all = append(all, m.p)
		}
	}
	return nil
}

// checkRange refuses a range that blocks cannot be carved from.
func (s *Scenario) checkRange(path string, c IPAM, r netip.Prefix) *InputError {
	if c.System == Contiv {
		return s.wrongAt(path, "contiv has no ranges: a node's block follows from its ID")
	}
	plan, err := c.Plan()
	if err != nil {
		return s.wrongAt("config.ipam", "%s", err)
	}
	block := plan.PodSubnetOneNodePrefixLen
	switch {
	case r.Bits() < plan.PodSubnet.Bits() || !plan.PodSubnet.Contains(r.Addr()):
		return s.wrongAt(path, "%s is not inside podSubnetCIDR %s", r, plan.PodSubnet)
	case c.System == Cilium && c.Cilium.Mode == CRD:
		if r.Bits() > singleBitsMax {
			return s.wrongAt(path, "%s has no address for a pod: its first and its last are nobody's", r)
		}
	case r.Bits() > block:
		return s.wrongAt(path, "%s has no room for a node's block of /%d", r, block)
	}
	return nil
}

// checkAliases refuses what allocators that have a cloud cannot do: they know one range, from their start on.
func (s *Scenario) checkAliases(c IPAM) *InputError {
	if c.System != NodeIPAM || c.NodeIPAM.Allocator == RangeAllocator || c.NodeIPAM.Allocator == "" {
		return nil
	}
	if len(c.Ranges) > 1 {
		return s.wrongAt("config.ipam.ranges[1]", "%s has one range", c.NodeIPAM.Allocator)
	}
	for i, step := range s.Timeline {
		switch step.Action.(type) {
		case AddRange, RemoveRange:
			return s.wrongAt("timeline["+strconv.Itoa(i)+"]", "%s keeps the range that it started with; RangeAllocator has %s", c.NodeIPAM.Allocator, step.Action.Verb())
		}
	}
	return nil
}
