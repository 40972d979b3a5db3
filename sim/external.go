package sim

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// external is an IPAM plugin beside the agent: it gives each node's pods the lowest free address of the node's pod CIDR, as
// host-local does, and it remembers what it gave on the node's disk.
type external struct {
	given map[*machine]map[ipam.Owner]netip.Addr
	// blocks counts the pod CIDRs given to nodes, as the controller manager does.
	blocks uint32
}

// externalBlock is the next node's pod CIDR: the next block of the pod subnet, block 0 left out.
func (w *World) externalBlock() (netip.Prefix, error) {
	w.external.blocks++
	plan := contiv.Plan{PodSubnet: w.pools.PodSubnet, PodSubnetOneNodePrefixLen: w.pools.PodSubnetOneNodePrefixLen,
		VPPHostSubnet: w.pools.VPPHostSubnet, VPPHostSubnetOneNodeLen: w.pools.VPPHostSubnetOneNodeLen}
	n, err := plan.Node(w.external.blocks)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("pod CIDR of node %d: %w", w.external.blocks, err)
	}
	return n.PodSubnet, nil
}

// pick gives owner an address of the node's present pod CIDR, the one that it holds already where it does; the zero Addr
// when none is free.
func (x *external) pick(w *World, m *machine, owner ipam.Owner) netip.Addr {
	if x.given == nil {
		x.given = map[*machine]map[ipam.Owner]netip.Addr{}
	}
	mine := x.given[m]
	if mine == nil {
		mine = map[ipam.Owner]netip.Addr{}
		x.given[m] = mine
	}
	if a, ok := mine[owner]; ok {
		return a
	}
	node, ok := w.api.Node(m.name)
	if !ok || len(node.PodCIDRs) == 0 {
		return netip.Addr{}
	}
	taken := map[netip.Addr]bool{}
	for _, a := range mine {
		taken[a] = true
	}
	block := node.PodCIDRs[0]
	// The network, the gateway, the last two addresses are not for pods, as the agent's address plan has it.
	for a := block.Addr().Next().Next(); block.Contains(a.Next().Next()); a = a.Next() {
		if !taken[a] {
			mine[owner] = a
			return a
		}
	}
	return netip.Addr{}
}

// release frees what owner holds.
func (x *external) release(m *machine, owner ipam.Owner) { delete(x.given[m], owner) }
