package controllers

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
)

// Given is what a world sees of what nodes have been given: blocks that are Taken; of Calico all Blocks; of mode crd whether the
// operators' book has a Spare address.
type Given struct {
	Taken  []netip.Prefix
	Blocks []calico.Block
	Spare  bool
}

// Free reports whether there is a block, or an address, for another node.
func (s *Set) Free(given Given) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.Plan.System == scenarios.Cilium && s.Plan.ReuseDelay > 0: // one that rests is as good as taken, and how long only the operator knows
		return false
	case Blocked(s.Plan):
		var pools []netip.Prefix
		for _, p := range s.pools {
			pools = append(pools, p.cidr)
		}
		strict := scenarios.SectionOf[scenarios.CalicoIPAM](s.Plan).StrictAffinity
		return blockranges.Lends(s.Plan.Resolved(), strict, pools, given.Blocks)
	case Booked(s.Plan):
		return given.Spare
	case Addressed(s.Plan): // what an instance of EC2 could have depends on its interfaces, and is not known
		return false
	}
	return s.ranges.Free(given.Taken)
}

// Spare reports whether a book has an address for a node: one that nobody has, or that nodes have which are gone.
func Spare(book *cilium.AddressBook, gone func(node string) bool) bool {
	return book.Free() > 0 || slices.ContainsFunc(book.Nodes(), gone)
}

// PoolBlocks are the blocks that a PoolNode shows.
func PoolBlocks(object []byte) (list []netip.Prefix, err error) {
	n, err := cilium.ParseCiliumNode(object)
	if err != nil {
		return nil, err
	}
	for _, a := range n.Spec.IPAM.Pools.Allocated {
		list = append(list, a.CIDRs...)
	}
	return list, nil
}
