package trace

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
)

// systemsOf are the systems of this project by those that a cluster shows.
var systemsOf = map[string]scenarios.System{"Calico": scenarios.Calico, "Cilium": scenarios.Cilium, "AWS VPC CNI": scenarios.Datastore}

// The wiring's own ranges of IPv6, of addresses that nobody routes (RFC 4193).
var (
	links6        = scenarios.CIDR(netip.MustParsePrefix("fd76:7070:1::/64"))
	interconnect6 = scenarios.CIDR(netip.MustParsePrefix("fd76:7070:2::/64"))
	tunnels6      = scenarios.CIDR(netip.MustParsePrefix("fd76:7070:3::/64"))
)

// mtu6 is what a NIC's 1,500 bytes leave in a VXLAN tunnel over IPv6.
const mtu6 = 1430

// family is what a cluster shows of the addresses of one family.
type family struct {
	six bool
	// blocks are the nodes', pools what they are of, addresses the pods'.
	blocks, pools, addresses []netip.Prefix
}

// of sorts what is of the family out of all.
func (f family) of(all []netip.Prefix) (list []netip.Prefix) {
	for _, p := range all {
		if p.Addr().Is6() == f.six {
			list = append(list, p)
		}
	}
	return list
}

func (f family) String() string {
	if f.six {
		return "IPv6"
	}
	return "IPv4"
}

// families are those that the cluster has, the primary one first: that of the first node's first pod CIDR, or of the
// first pod's first address.
func (f *found) families() (list []family) {
	first := slices.Concat(f.addresses, f.shape.Blocks, f.shape.Pools)
	if len(f.nodes) > 0 {
		first = append(slices.Clone(f.nodes[0].PodCIDRs), first...)
	}
	for _, p := range first {
		x := family{six: p.Addr().Is6()}
		if slices.ContainsFunc(list, func(o family) bool { return o.six == x.six }) {
			continue
		}
		x.blocks, x.pools, x.addresses = x.of(f.shape.Blocks), x.of(f.shape.Pools), x.of(f.addresses)
		list = append(list, x)
	}
	return list
}

// ranges are the system's and its blocks', by what the cluster's objects show.
func (f *found) ranges(s *scenarios.Scenario, file string) error {
	c := &s.Config.IPAM
	if shown, ok := systemsOf[f.shape.System]; ok {
		f.system = shown
	} else if name := f.shape.System; f.system == "" && len(f.shape.Blocks) > 0 && name != "" && !strings.HasPrefix(name, "Kubernetes") {
		f.notes = append(f.notes, fmt.Sprintf("%s is none of this project's systems: its nodes' blocks are given as Kubernetes' controller gives pod CIDRs.", name))
	}
	if f.system == "" {
		f.system = scenarios.NodeIPAM
	}
	c.System = f.system
	if c.System == scenarios.Cilium && f.shape.Whole {
		c.Cilium.Mode = scenarios.ClusterPool
	}
	families := f.families()
	families = f.taken(c.Traits(), families)
	if len(families) == 0 && len(f.addresses) > 0 {
		return &scenarios.InputError{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("pods have addresses of IPv6 alone, and system %s has none here", c.System)}
	}
	if c.Traits().EC2 {
		c.PodSubnetOneNodePrefixLen, c.Datastore.PrefixDelegation = 0, false
		for _, t := range f.instances {
			if _, ok := datastore.LimitsOf(t); ok {
				c.Datastore.InstanceType = t
				break
			}
		}
	}
	if len(families) == 0 {
		f.notes = append(f.notes, fmt.Sprintf("No node shows a podCIDR: the range %s and blocks of /%d are made up.", c.PodSubnetCIDR, c.PodSubnetOneNodePrefixLen))
	}
	links, interconnect, tunnels := c.VPPHostSubnetCIDR, c.NodeInterconnectCIDR, c.VXLANCIDR
	for i, x := range families {
		p, bits := f.rangeOf(*c, x)
		if i == 1 && f.system == scenarios.NodeIPAM {
			p, bits = f.asMany(p, bits, c.PodSubnetCIDR.Prefix, c.PodSubnetOneNodePrefixLen)
		}
		switch {
		case i == 1:
			c.PodSubnetCIDR.Second = p
			c.VPPHostSubnetCIDR.Second, c.NodeInterconnectCIDR.Second, c.VXLANCIDR.Second = links6.Prefix, interconnect6.Prefix, tunnels6.Prefix
			if !x.six {
				c.VPPHostSubnetCIDR.Second, c.NodeInterconnectCIDR.Second, c.VXLANCIDR.Second = links.Prefix, interconnect.Prefix, tunnels.Prefix
			}
		case x.six:
			c.PodSubnetCIDR = scenarios.CIDR(p)
			c.VPPHostSubnetCIDR, c.NodeInterconnectCIDR, c.VXLANCIDR = links6, interconnect6, tunnels6
			s.Config.Wiring.MTU = mtu6
		default:
			c.PodSubnetCIDR = scenarios.CIDR(p)
		}
		if x.six && len(families) == 2 {
			c.PodSubnetOneNodePrefixLenIPv6 = bits
		} else if !c.Traits().EC2 {
			c.PodSubnetOneNodePrefixLen = bits
		}
	}
	if len(families) == 1 && families[0].six {
		c.VPPHostSubnetOneNodePrefixLen = 0 // that of IPv4
	}
	return nil
}

// taken are the families that the system has here.
func (f *found) taken(t scenarios.Traits, families []family) (list []family) {
	for i, x := range families {
		if x.six && !t.IPv6 && !t.Dual || len(list) == 1 && !t.Dual {
			what := slices.Concat(x.blocks, x.pools, x.addresses)
			f.notes = append(f.notes, fmt.Sprintf("Left out: the cluster's %s, %s and more; system %s has one family here.", x, covering(what), f.system))
			continue
		}
		list = append(list, families[i])
	}
	return list
}

// rangeOf is what pods of a family have addresses of, and how long a node's block is.
func (f *found) rangeOf(c scenarios.IPAM, x family) (all netip.Prefix, bits int) {
	note := func(format string, args ...any) { f.notes = append(f.notes, fmt.Sprintf(format, args...)) }
	bits = c.PodSubnetOneNodePrefixLen
	if x.six {
		bits = 64
	}
	switch t := c.Traits(); {
	case t.EC2:
		if all = covering(x.addresses); all.IsValid() {
			all = netip.PrefixFrom(all.Addr(), min(max(all.Bits(), 16), 24)).Masked()
			note("The subnet %s is what the pods' addresses tell; a larger one may be there.", all)
		}
		return all, 0
	case t.BlockBits != 0: // blocks come by need, out of pools
		bits = t.BlockBits
		if x.six {
			bits += 128 - 32
		}
		how := fmt.Sprintf("its blocks of /%d the default of %s; others may be there", bits, f.system)
		if len(x.blocks) > 0 {
			bits = x.blocks[0].Bits()
			how = fmt.Sprintf("its blocks are of /%d", bits)
		}
		switch {
		case len(x.pools) > 0:
			all = covering(x.pools)
			note("The pool %s is that of the cluster, and %s.", all, how)
			if len(x.pools) > 1 {
				note("Its %d pools are taken for one, with what lies between them.", len(x.pools))
			}
		default:
			if all = covering(slices.Concat(x.blocks, x.addresses)); all.IsValid() {
				shortest := 16
				if x.six {
					shortest = 48
				}
				all = netip.PrefixFrom(all.Addr(), min(all.Bits(), shortest)).Masked()
				note("The pool %s is what the pods' addresses tell, and %s.", all, how)
			}
		}
		return all, bits
	case len(x.blocks) > 0:
		bits = x.blocks[0].Bits()
		if i := slices.IndexFunc(x.blocks, func(p netip.Prefix) bool { return p.Bits() != bits }); i >= 0 {
			note("Nodes have blocks of different lengths, such as %s and %s: the first is taken for all.", x.blocks[0], x.blocks[i])
		}
		if len(x.pools) > 0 {
			all = covering(slices.Concat(x.pools, x.blocks))
			note("The range %s is what the cluster's pools are in.", all)
			return all, bits
		}
		all = f.roomFor(covering(x.blocks), bits)
		note("The range %s is the shortest with the nodes' blocks of /%d and room for as many more; the cluster's own may be wider.", all, bits)
		return all, bits
	}
	of, what := x.pools, "the cluster's pools are in"
	if len(of) == 0 {
		of, what = x.addresses, "the pods' addresses tell"
	}
	all = f.roomFor(covering(of), bits)
	note("No node shows a block: the range %s is what %s, and its blocks of /%d are made up.", all, what, bits)
	return all, bits
}

// roomFor widens a range until it has blocks for twice the nodes, as a cluster that has used each block yet has room for
// those of nodes that come and go.
func (f *found) roomFor(all netip.Prefix, bits int) netip.Prefix {
	shortest := 8
	if all.Addr().Is6() {
		shortest = 32
	}
	for (all.Bits() > bits || space.SubnetCount(all, bits) < uint64(2*len(f.nodes))) && all.Bits() > shortest {
		all = netip.PrefixFrom(all.Addr(), all.Bits()-1).Masked()
	}
	return all
}

// asMany makes the second family's blocks as large as the first one's, as scenarios want them of Kubernetes' controller.
func (f *found) asMany(p netip.Prefix, bits int, first netip.Prefix, firstBits int) (netip.Prefix, int) {
	want := p.Addr().BitLen() - (first.Addr().BitLen() - firstBits)
	if bits == want {
		return p, bits
	}
	shorter := netip.PrefixFrom(p.Addr(), max(p.Bits(), want-(firstBits-first.Bits())))
	f.notes = append(f.notes, fmt.Sprintf("Of %s, blocks of /%d of %s are taken instead of its own of /%d: in a scenario a node has room for as many pods in both families.", p, want, shorter, bits))
	return shorter, want
}

// covering is the longest prefix that has all of them.
func covering(list []netip.Prefix) netip.Prefix {
	if len(list) == 0 {
		return netip.Prefix{}
	}
	all := list[0].Masked()
	for _, p := range list[1:] {
		for all.Bits() > 0 && !(all.Contains(p.Addr()) && all.Bits() <= p.Bits()) {
			all = netip.PrefixFrom(all.Addr(), all.Bits()-1).Masked()
		}
	}
	return all
}

// unread says which objects nobody reads.
func (f *found) unread() string {
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(f.shape.Unread)) {
		words = append(words, fmt.Sprintf("%d %s", f.shape.Unread[kind], kind))
	}
	return strings.Join(words, ", ")
}
