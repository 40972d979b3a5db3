package lab

import (
	"fmt"
	"net/netip"
	"sync"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// external is an IPAM plugin beside the agent: it gives each node's pods the lowest free address of the node's pod CIDR, as
// host-local does.
type external struct {
	mu    sync.Mutex
	given map[*node]map[ipam.Owner]netip.Addr
	// blocks counts the pod CIDRs given to nodes, as the controller manager does.
	blocks uint32
}

// nextBlock is the next node's pod CIDR.
func (w *World) nextBlock() (netip.Prefix, error) {
	w.external.mu.Lock()
	defer w.external.mu.Unlock()
	p, err := w.blockNumber(w.external.blocks + 1)
	if err == nil {
		w.external.blocks++
	}
	return p, err
}

// freeBlock reports whether there is a block for another node.
func (w *World) freeBlock() bool {
	w.external.mu.Lock()
	defer w.external.mu.Unlock()
	_, err := w.blockNumber(w.external.blocks + 1)
	return w.scenario().Config.IPAM.UseExternalIPAM && err == nil
}

// blockNumber is a block of the pod subnet by its number; block 0 is left out.
func (w *World) blockNumber(number uint32) (netip.Prefix, error) {
	pools, err := poolsFor(w.ipam)
	if err != nil {
		return netip.Prefix{}, err
	}
	plan := contiv.Plan{PodSubnet: pools.PodSubnet, PodSubnetOneNodePrefixLen: pools.PodSubnetOneNodePrefixLen,
		VPPHostSubnet: pools.VPPHostSubnet, VPPHostSubnetOneNodeLen: pools.VPPHostSubnetOneNodeLen}
	p, err := plan.Node(number)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("pod CIDR of node %d: %w", number, err)
	}
	return p.PodSubnet, nil
}

// pick gives owner an address of the node's present pod CIDR, the one that it holds already where it does; the zero Addr
// when none is free.
func (x *external) pick(n *node, owner ipam.Owner) netip.Addr {
	n.mu.Lock()
	blocks := n.podCIDRs
	n.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.given == nil {
		x.given = map[*node]map[ipam.Owner]netip.Addr{}
	}
	mine := x.given[n]
	if mine == nil {
		mine = map[ipam.Owner]netip.Addr{}
		x.given[n] = mine
	}
	if a, ok := mine[owner]; ok || len(blocks) == 0 {
		return a
	}
	taken := map[netip.Addr]bool{}
	for _, a := range mine { //vppdrill:unordered it is a set
		taken[a] = true
	}
	// Network, gateway and the last two addresses are not for pods, as the agent's address plan has it.
	for a := blocks[0].Addr().Next().Next(); blocks[0].Contains(a.Next().Next()); a = a.Next() {
		if !taken[a] {
			mine[owner] = a
			return a
		}
	}
	return netip.Addr{}
}

// release frees what owner holds.
func (x *external) release(n *node, owner ipam.Owner) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.given[n], owner)
}
