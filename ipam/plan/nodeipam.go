package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/internal/cidrset"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// NodeIPAM is a cluster in which the controller manager gives each node a block of each family.
type NodeIPAM struct {
	// Params are the controller's ranges; its service ranges are those of Fabric where Params has none.
	Params nodeipam.CIDRAllocatorParams
	// Keys are the configuration's names where they are not upstream's.
	Keys   Keys
	Fabric Fabric
}

func (NodeIPAM) System() string { return "nodeipam" }

// Keys are how a configuration calls the ranges of pods and the length of a node's block; empty for upstream's names.
type Keys struct{ Range, Length string }

// nodeRange is one range of either kind: a range of the command line, or one half of a ClusterCIDR.
type nodeRange struct {
	Range
	key string // of the length
	// group is the pool that the range is a half of: a node gets a block of each half.
	group int
	// free is how many blocks services leave, block how many pods one of them is enough for.
	free, block uint64
}

func (s NodeIPAM) Draft(d *Draft, _ Cluster) error {
	if len(s.Params.ClusterCIDRs) != len(s.Params.NodeCIDRMaskSizes) {
		return fmt.Errorf("%d cluster CIDRs and %d node mask sizes", len(s.Params.ClusterCIDRs), len(s.Params.NodeCIDRMaskSizes))
	}
	ranges, err := s.ranges()
	if err != nil {
		return err
	}
	services := s.services()
	groups := map[int][]nodeRange{}
	for _, r := range ranges {
		s.count(d, &r, services)
		d.Ranges = append(d.Ranges, r.Range)
		if r.Parts > r.free {
			d.Reserve(r.String(), "blocks that share addresses with the service range", r.Parts-r.free, "cluster")
		}
		if r.block = inBlock(d, r.Range); r.Parts == 0 {
			r.block = 0
		}
		groups[r.group] = append(groups[r.group], r)
	}
	s.together(d, groups)
	f := s.Fabric
	f.Services = services
	f.Draft(d)
	d.pair = s.pair
	if _, d.refusal = s.flags().Resolve(); len(s.Params.MultiCIDRs) > 0 || d.refusal == nil {
		_, d.refusal = nodeipam.NewCIDRRangeAllocator(s.Params, nil)
	}
	if slices.ContainsFunc(s.Params.MultiCIDRs, func(c nodeipam.ClusterCIDR) bool { return c.Selector.String() != "" }) {
		d.Notes = append(d.Notes, "nodes are counted over all ranges; which of them a node can use depends on its labels")
	}
	return nil
}

// flags are the controller manager's, which ends at its start when it refuses them. Ranges of ClusterCIDR objects, which
// Params.MultiCIDRs are, come without flags.
func (s NodeIPAM) flags() nodeipam.Flags {
	var f nodeipam.Flags
	texts := make([]string, len(s.Params.ClusterCIDRs))
	for i, p := range s.Params.ClusterCIDRs {
		texts[i] = p.String()
		if p.Addr().Is4() {
			f.NodeCIDRMaskSizeIPv4 = s.Params.NodeCIDRMaskSizes[i]
		} else {
			f.NodeCIDRMaskSizeIPv6 = s.Params.NodeCIDRMaskSizes[i]
		}
	}
	f.ClusterCIDR = strings.Join(texts, ",")
	return f
}

func (s NodeIPAM) services() []netip.Prefix {
	var list []netip.Prefix
	for _, p := range append([]netip.Prefix{s.Params.ServiceCIDR, s.Params.SecondaryServiceCIDR}, s.Fabric.Services...) {
		if p = space.Normal(p); p.IsValid() && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func (s NodeIPAM) ranges() ([]nodeRange, error) {
	var list []nodeRange
	add := func(group int, name, key, purpose string, p netip.Prefix, bits int) error {
		if p = space.Normal(p); !p.IsValid() {
			return errors.New(name + " has no prefix")
		}
		list = append(list, nodeRange{Range: Range{Name: name, Prefix: p, Purpose: purpose, OneNode: bits, use: usePods}, key: key, group: group})
		return nil
	}
	for i, p := range s.Params.ClusterCIDRs {
		if err := add(0, cmp.Or(s.Keys.Range, "clusterCIDR"), cmp.Or(s.Keys.Length, "nodeCIDRMaskSize"), "pods", p, s.Params.NodeCIDRMaskSizes[i]); err != nil {
			return nil, err
		}
	}
	for i, c := range s.Params.MultiCIDRs {
		purpose := "pods"
		if text := c.Selector.String(); text != "" {
			purpose = "pods of nodes with " + text
		}
		name, key := cmp.Or(s.Keys.Range, "ClusterCIDR "+c.Name), cmp.Or(s.Keys.Length, "ClusterCIDR "+c.Name+" perNodeHostBits")
		if !c.IPv4.IsValid() && !c.IPv6.IsValid() {
			return nil, fmt.Errorf("ClusterCIDR %s has no prefix", c.Name)
		}
		for _, p := range [...]netip.Prefix{c.IPv4, c.IPv6} {
			if !p.IsValid() {
				continue
			}
			bits := space.Normal(p).Addr().BitLen() - c.PerNodeHostBits
			if err := add(i+1, name, key, purpose, p, bits); err != nil {
				return nil, err
			}
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no cluster CIDR")
	}
	return list, nil
}

// count works out the blocks of a range and how many of them services leave free.
func (s NodeIPAM) count(d *Draft, r *nodeRange, services []netip.Prefix) {
	r.Parts = splitInto(d, r.key, r.Range, blockHostBitsMin, 1)
	if r.Parts == 0 {
		return
	}
	var options []cidrset.Option
	if s.Params.AnyWidth {
		options = append(options, cidrset.WithAnyWidth())
	}
	set, err := cidrset.NewCIDRSet(r.Prefix, r.OneNode, options...)
	if err != nil {
		d.Find(ruleSplit, Error, fmt.Sprintf("%s %d", r.key, r.OneNode), err.Error(), "give a length that is closer to that of the range")
		r.Parts = 0
		return
	}
	for _, service := range services {
		_ = set.Occupy(service) // the error is that it is elsewhere
	}
	r.free = set.Free()
}

// together adds how many nodes fit: in each pool as many as its shorter half has blocks, and the sum of all pools. A
// range that shares addresses with an earlier pool counts there only.
func (s NodeIPAM) together(d *Draft, groups map[int][]nodeRange) {
	if len(groups) == 1 {
		for _, list := range groups { // in any order: it is one
			for _, r := range list {
				d.Node(r.String(), r.free, fmt.Sprintf("one block of /%d each", r.OneNode))
			}
		}
		return
	}
	total, pods, seen := uint64(0), uint64(0), []nodeRange(nil)
	for i := range len(s.Params.MultiCIDRs) + 1 {
		fits, block, again := uint64(countMax), uint64(countMax), len(groups[i]) == 0
		for _, r := range groups[i] {
			again = again || slices.ContainsFunc(seen, func(o nodeRange) bool { return o.Prefix.Overlaps(r.Prefix) })
			fits, block = min(fits, r.free), min(block, r.block)
		}
		seen = append(seen, groups[i]...)
		if !again {
			total, pods = plus(total, fits), plus(pods, times(fits, block))
		}
	}
	d.Node("all ranges together", total, "one block of each family of one range each")
	d.podsKnown, d.Pods = true, pods
}

// pair judges two ranges that share addresses. The controller itself steps around services, and around blocks of other
// ranges.
func (s NodeIPAM) pair(a, b Range) Finding {
	if a.use == useService {
		a, b = b, a
	}
	where, shared := a.String(), fmt.Sprintf("it shares addresses with %s", b)
	switch {
	case a.use == usePods && b.use == useService && space.Contains(b.Prefix, a.Prefix):
		return Finding{ruleService, Error, where, shared + ", which takes all its blocks", "move one of them"}
	case a.use == usePods && b.use == useService:
		return Finding{ruleService, Warning, where, shared + ", whose blocks no node gets", "move one of them to use them all"}
	case a.use == usePods && b.use == usePods && a.Prefix.Addr().BitLen() == b.Prefix.Addr().BitLen():
		return Finding{ruleOverlap, Warning, where, shared + ": a block of one takes those of the other, so neither has what it seems to have", "move one of them"}
	}
	return overlap(a, b)
}
