package controllers

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Blocked reports whether nodes assign themselves addresses of blocks, by compare-and-swap at the API server: system calico.
func Blocked(c scenarios.IPAM) bool { return c.System == scenarios.Calico }

// Addressed reports whether nodes get single addresses in their CiliumNodes: Cilium's modes crd and eni.
func Addressed(c scenarios.IPAM) bool {
	return c.System == scenarios.Cilium && (c.Cilium.Mode == scenarios.CRD || c.Cilium.Mode == scenarios.ENI)
}

// Booked reports whether the operator has those addresses from a book of its own: mode crd.
func Booked(c scenarios.IPAM) bool { return Addressed(c) && c.Cilium.Mode == scenarios.CRD }

// Pooled reports whether agents ask for their blocks in PoolNodes: Cilium's mode multi-pool.
func Pooled(c scenarios.IPAM) bool {
	return c.System == scenarios.Cilium && c.Cilium.Mode == scenarios.MultiPool
}

// Asked reports whether agents ask for their addresses at the API server, or take them there, and do not read them in their
// Node objects.
func Asked(c scenarios.IPAM) bool { return Blocked(c) || Pooled(c) || Addressed(c) }

// Singles are addresses as blocks, in order.
func Singles(addrs []netip.Addr) (list []ipam.Block) {
	for _, a := range addrs {
		list = append(list, ipam.Block{Prefix: netip.PrefixFrom(a, a.BitLen())})
	}
	slices.SortFunc(list, func(a, b ipam.Block) int { return a.Prefix.Compare(b.Prefix) })
	return list
}
