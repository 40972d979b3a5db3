package nodeipam

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/internal/cidrset"
)

// NodeCIDRs are the CIDRs that the allocator keeps for a node, in the order of the object; nil when there is none.
// They may not be written yet.
func (r *RangeAllocator) NodeCIDRs(name string) []netip.Prefix {
	if h := r.byName[name]; h != nil {
		return slices.Clone(h.cidrs)
	}
	return nil
}

// Waiting names the nodes that wait for a block, first in line first.
func (r *RangeAllocator) Waiting() []string {
	var names []string
	for _, w := range r.waiters {
		if w.phase == phaseWaiting && w.holder.ticket == w.ticket && !w.gone {
			names = append(names, w.name)
		}
	}
	return names
}

// Quarantine is a node with CIDRs that cannot be right, and why.
type Quarantine struct{ Node, Reason string }

// Quarantined lists quarantined nodes by name.
func (r *RangeAllocator) Quarantined() []Quarantine {
	var list []Quarantine
	for _, h := range r.byName {
		if h.quarantine != "" {
			list = append(list, Quarantine{h.name, h.quarantine})
		}
	}
	slices.SortFunc(list, func(a, b Quarantine) int { return strings.Compare(a.Node, b.Node) })
	return list
}

// Ranges lists the sets that blocks are cut from: those with selectors in order of arrival, then the command line's.
func (r *RangeAllocator) Ranges() []RangeUse {
	var list []RangeUse
	for _, p := range r.ranges.pools {
		for _, set := range p.sets {
			list = append(list, useOf(p.Name, set))
		}
	}
	return list
}

// Ranges is the one range that blocks are cut from.
func (c *Controller) Ranges() []RangeUse { return []RangeUse{useOf("", c.set)} }

// RangeUse tells how full a range is, and how many bits its blocks have. Name is empty for the command line's ranges.
type RangeUse struct {
	Name         string
	CIDR         netip.Prefix
	Bits         int
	Blocks, Free uint64
}

func useOf(name string, set *cidrset.Ledger) RangeUse {
	return RangeUse{Name: name, CIDR: set.ClusterCIDR(), Bits: set.NodeMaskSize(), Blocks: set.MaxCIDRs(), Free: set.Free()}
}
