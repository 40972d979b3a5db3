package scenarios

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/contiv"
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
)

// singleBitsMax is the longest range that has an address beside its first and its last.
const singleBitsMax = 30

// checkSystem checks what belongs to one address management system.
func (s *Scenario) checkSystem(c IPAM) *InputError {
	row, t := c.Row(), c.Traits()
	if row.Rules == nil {
		err := s.wrongAt("config.ipam.system", "there is no system %q", c.System)
		err.Nearest = strictyaml.Nearest(string(c.System), SystemNames())
		return err
	}
	if why := c.NoReuseDelay(); why != "" && c.ReuseDelay > 0 {
		return s.wrongAt("config.ipam.reuseDelay", "%s", why)
	}
	if t.ByID && len(c.Ranges) > 0 {
		return s.wrongAt("config.ipam.ranges", "%s has none: a node's block follows from its ID", c.System)
	}
	if !t.ByID && c.UseExternalIPAM {
		return s.wrongAt("config.ipam.useExternalIPAM", "is Contiv's; %s brings blocks of its own", c.System)
	}
	p, err := c.Plan()
	switch {
	case err != nil:
		return s.wrongAt("config.ipam", "%s", err)
	case p.Second != nil && t.NoDual != "":
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s: %s", c.PodSubnetCIDR, t.NoDual)
	case p.Second != nil && !t.Dual:
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s: %s gives addresses of one family here; %s take two", c.PodSubnetCIDR, c.System,
			systemsWith("and", func(t Traits) bool { return t.Dual }))
	case p.PodSubnet.Addr().Is6() && !t.IPv6:
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s: %s is here with IPv4 alone; %s take IPv6", p.PodSubnet, c.System,
			systemsWith("and", func(t Traits) bool { return t.IPv6 }))
	}
	if err := s.checkRanges("config.ipam.ranges", c); err != nil {
		return err
	}
	if !t.ByID {
		if err := s.checkPools(c, p.PodSubnet, p.PodSubnetOneNodePrefixLen); err != nil {
			return err
		}
	}
	if err := row.Rules.Check(s, p); err != nil {
		at := s.wrongAt(err.Field, "%s", err.Message)
		at.Nearest = err.Nearest
		return at
	}
	return s.checkNamedPools(c)
}

// systemsWith lists the systems that have something by their defaults: "nodeipam, cilium and calico".
func systemsWith(and string, has func(Traits) bool) string {
	var names []string
	for _, r := range systems {
		c := DefaultConfig().IPAM
		c.System = r.Name
		if has(c.Traits()) {
			names = append(names, string(r.Name))
		}
	}
	last := max(len(names)-1, 0)
	return strings.Join(append([]string{strings.Join(names[:last], ", ")}, names[last:]...), " "+and+" ")
}

// checkRanges refuses ranges, given at a list, that blocks cannot be carved from, or that overlap.
func (s *Scenario) checkRanges(list string, c IPAM) *InputError {
	for i, r := range c.Ranges {
		path := list + "[" + strconv.Itoa(i) + "]"
		if err := s.checkRange(path, c, r); err != nil {
			return err
		}
		for _, earlier := range c.Ranges[:i] {
			if earlier.Overlaps(r) {
				return s.wrongAt(path, "%s overlaps %s", r, earlier)
			}
		}
	}
	return nil
}

// checkRestart refuses a restart of a controller that is not there, or with what it cannot be started with.
func (s *Scenario) checkRestart(path string, c IPAM, a RestartController) *InputError {
	at := path + ".ranges"
	if len(a.Ranges) == 0 {
		at = path + ".podSubnetOneNodePrefixLen"
	}
	switch {
	case !c.Traits().Leader:
		return s.wrongAt(path+".do", "%s needs config.ipam.system %s: %s has no controller", a.Verb(), systemsWith("or", func(t Traits) bool { return t.Leader }), c.System)
	case !a.Changes():
		return nil
	case c.System == NodeIPAM && c.NodeIPAM.Allocator.InCloud():
		return s.wrongAt(at, "%s keeps what it started with: RangeAllocator takes others", c.NodeIPAM.Allocator)
	case c.System != NodeIPAM:
		return s.wrongAt(at, "%s refuses another length for ranges that it has, and gets ranges by add-range: only nodeipam's RangeAllocator is started with others", c.System)
	}
	after := a.Apply(c)
	p, err := after.Plan()
	if err != nil {
		return s.wrongAt(at, "%s", err)
	}
	if p.Second != nil && len(a.Ranges) > 0 {
		return s.wrongAt(at, "has one family, and podSubnetCIDR %s two: blocks are carved from podSubnetCIDR there", c.PodSubnetCIDR)
	}
	if err := s.checkRanges(at, after); err != nil {
		return err
	}
	return s.checkBlockBits(path+".podSubnetOneNodePrefixLen", p)
}

// lengthField is the field that says how long blocks of one of a plan's families are.
func lengthField(p contiv.Plan, of *contiv.Plan) string {
	if p.Second != nil && of.PodSubnet.Addr().Is6() {
		return "config.ipam.podSubnetOneNodePrefixLenIPv6"
	}
	return "config.ipam.podSubnetOneNodePrefixLen"
}

// checkRangesOfFamilies refuses ranges of which a family has none.
func (s *Scenario) checkRangesOfFamilies(p contiv.Plan) *InputError {
	ranges := s.Config.IPAM.Ranges
	for _, of := range p.Families() {
		if len(ranges) > 0 && !slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return p.OfFamily(r.Addr()).PodSubnet == of.PodSubnet }) {
			return s.wrongAt("config.ipam.ranges", "has none inside %s: pods get an address of each family of podSubnetCIDR, or none", of.PodSubnet)
		}
	}
	return nil
}

// checkBlockBits refuses blocks without room for a pod.
func (s *Scenario) checkBlockBits(path string, p contiv.Plan) *InputError {
	most := blockBitsMax
	if p.PodSubnet.Addr().Is6() {
		most = 128 - (32 - blockBitsMax)
	}
	if p.PodSubnetOneNodePrefixLen > most {
		return s.wrongAt(path, "/%d is longer than /%d: each block here has a gateway and a NAT loopback of its own in VPP, beside its first and its last address",
			p.PodSubnetOneNodePrefixLen, most)
	}
	return nil
}

// checkEC2 refuses what no subnet or instance of EC2 is.
func (s *Scenario) checkEC2(c IPAM, p contiv.Plan, prefixes string, delegated bool) *InputError {
	if n := c.PodSubnetOneNodePrefixLen; n != 0 && n != delegatedBits {
		return s.wrongAt("config.ipam.podSubnetOneNodePrefixLen", "EC2 delegates /%d prefixes only", delegatedBits)
	}
	if b := p.PodSubnet.Bits(); b < subnetBitsMin || b > subnetBitsMax {
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s can be no subnet of a VPC: want /%d to /%d", p.PodSubnet, subnetBitsMin, subnetBitsMax)
	}
	if err := s.checkSubnets(c, p.PodSubnet); err != nil {
		return err
	}
	if _, ok := datastore.LimitsOf(c.Datastore.InstanceType); !ok {
		err := s.wrongAt("config.ipam.datastore.instanceType", "%q is not known", c.Datastore.InstanceType)
		err.Nearest = strictyaml.Nearest(c.Datastore.InstanceType, datastore.InstanceTypes())
		return err
	}
	if delegated && !datastore.Nitro(c.Datastore.InstanceType) {
		return s.wrongAt(prefixes, "EC2 delegates prefixes to Nitro instances, and %s is none: want false, or another config.ipam.datastore.instanceType", c.Datastore.InstanceType)
	}
	return nil
}

// noDefaultPool is what named pools do where they are all there are.
const noDefaultPool = "leave nothing to the default pool: give it a range in config.ipam.ranges"

// checkPoolRange refuses a range of a named pool that is not of its own, or in which no block of this length has room.
func (s *Scenario) checkPoolRange(at string, r, pods netip.Prefix, length int, others []netip.Prefix) *InputError {
	switch {
	case r.Bits() < pods.Bits() || !pods.Contains(r.Addr()):
		return s.wrongAt(at, "%s is not inside podSubnetCIDR %s", r, pods)
	case r.Bits() > length:
		return s.wrongAt(at, "%s has no room for a node's block of /%d", r, length)
	}
	for _, other := range others {
		if other.Overlaps(r) {
			return s.wrongAt(at, "%s overlaps %s", r, other)
		}
	}
	return nil
}

// checkPools refuses named pools of Cilium's whose ranges are not their own.
func (s *Scenario) checkPools(c IPAM, pods netip.Prefix, bits int) *InputError {
	all := slices.Clone(c.Ranges)
	switch {
	case len(c.Cilium.Pools) == 0:
	case c.System != Cilium || c.Cilium.Mode != MultiPool || pods.Addr().Is6() || c.Dual():
		return s.wrongAt("config.ipam.cilium.pools", "are of cilium's mode multi-pool, with IPv4 alone")
	case len(c.Ranges) == 0:
		return s.wrongAt("config.ipam.cilium.pools", noDefaultPool)
	}
	for i, p := range c.Cilium.Pools {
		path := "config.ipam.cilium.pools[" + strconv.Itoa(i) + "]"
		if len(p.IPv4) == 0 {
			return s.wrongAt(path, "has no range: give it ipv4")
		}
		for k, r := range p.IPv4 {
			if err := s.checkPoolRange(path+".ipv4["+strconv.Itoa(k)+"]", r, pods, cmp.Or(p.MaskSize, bits), all); err != nil {
				return err
			}
			all = append(all, r)
		}
	}
	return nil
}

// checkNamedPools refuses pools of one name, pods that ask for a pool that is not there, and ranges that come to lie in
// one.
func (s *Scenario) checkNamedPools(c IPAM) *InputError {
	t := c.Traits()
	section := "config.ipam." + string(c.System) + "."
	var names []string
	if t.DefaultPool != "" {
		names = append(names, t.DefaultPool)
	}
	for i, p := range t.Pools {
		if slices.Contains(names, p.Name) {
			return s.wrongAt(section+"pools["+strconv.Itoa(i)+"].name", "%s is a pool already", p.Name)
		}
		names = append(names, p.Name)
	}
	unknown := func(path, name string) *InputError {
		if name == "" || slices.Contains(names, name) {
			return nil
		}
		err := s.wrongAt(path, "there is no pool %q", name)
		err.Nearest = strictyaml.Nearest(name, names)
		return err
	}
	if c.System == Cilium {
		if err := unknown("config.ipam.cilium.namespacePool", c.Cilium.NamespacePool); err != nil {
			return err
		}
	}
	for i, step := range s.Timeline {
		path := "timeline[" + strconv.Itoa(i) + "]"
		switch a := step.Action.(type) {
		case CreatePods:
			if !t.named() { // which checkIdle refuses
				continue
			}
			if err := unknown(path+".pool", a.Pool); err != nil {
				return err
			}
		case AddRange:
			for _, p := range t.Pools {
				if slices.ContainsFunc(p.Ranges, a.CIDR.Overlaps) {
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
			for k, t := range n.Taken {
				if m.pods && (t.Bits() < m.p.Bits() || !m.p.Contains(t.Addr())) {
					return s.wrongAt(path+"taken["+strconv.Itoa(k)+"]", "%s is not inside %s", t, m.p)
				}
			}
		}
	}
	return nil
}

// checkRange refuses a range that blocks cannot be carved from.
func (s *Scenario) checkRange(path string, c IPAM, r netip.Prefix) *InputError {
	t := c.Traits()
	if t.ByID {
		return s.wrongAt(path, "%s has no ranges: a node's block follows from its ID", c.System)
	}
	plan, err := c.Plan()
	if err != nil {
		return s.wrongAt("config.ipam", "%s", err)
	}
	of := plan.OfFamily(r.Addr())
	if of == nil {
		of = &plan // it is outside
	}
	block := of.PodSubnetOneNodePrefixLen
	switch {
	case r.Bits() < of.PodSubnet.Bits() || !of.PodSubnet.Contains(r.Addr()):
		return s.wrongAt(path, "%s is not inside podSubnetCIDR %s", r, of.PodSubnet)
	case t.Single && !t.EC2:
		if r.Addr().BitLen()-r.Bits() < 32-singleBitsMax {
			return s.wrongAt(path, "%s has no address for a pod: its first and its last are nobody's", r)
		}
	case r.Bits() > block:
		return s.wrongAt(path, "%s has no room for a node's block of /%d", r, block)
	}
	return nil
}
