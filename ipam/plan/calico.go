package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Calico is a cluster whose nodes take addresses of common blocks, each with an affinity to one node.
type Calico struct {
	Pools calico.Pools
	// Named are pools that pods get addresses of only when they ask for them by name, or on some nodes.
	Named []CalicoPool
	// Keys are the configuration's names where they are not upstream's.
	Keys   Keys
	Fabric Fabric
}

// CalicoPool is an IPPool by its name.
type CalicoPool struct {
	Name  string
	Range netip.Prefix
}

func (Calico) System() string { return "calico" }

func (s Calico) Draft(d *Draft, c Cluster) error {
	if len(s.Pools.Ranges) == 0 {
		return errors.New("no pool")
	}
	name, key := cmp.Or(s.Keys.Range, "IPPool"), cmp.Or(s.Keys.Length, "blockSize")
	bits, most := cmp.Or(s.Pools.BlockBits, calico.DefaultBlockBits), uint64(cmp.Or(s.Pools.MaxBlocks, calico.DefaultMaxBlocks))
	blocks := uint64(0)
	var one netip.Prefix
	for _, p := range s.Pools.Ranges {
		r := Range{Name: name, Prefix: space.Normal(p), Purpose: "pods", OneNode: bits, use: usePods}
		if !r.Prefix.IsValid() {
			return fmt.Errorf("%s: a range is empty", name)
		}
		r.Parts = splitInto(d, key, r, 0, 1)
		d.Ranges = append(d.Ranges, r)
		blocks = plus(blocks, r.Parts)
		one = netip.PrefixFrom(r.Prefix.Addr(), max(bits, r.Prefix.Bits()))
	}
	for _, p := range s.Named {
		r := Range{Name: "pool " + p.Name, Prefix: space.Normal(p.Range), Purpose: "pods that ask for it", OneNode: bits, use: usePods}
		r.Parts = splitInto(d, key, r, 0, 1)
		d.Ranges = append(d.Ranges, r)
	}
	size := space.Count(one) // a block has neither a network's nor a broadcast address
	s.limits(d, c, fmt.Sprintf("%s, %s of /%d", name, plural(blocks, "block"), bits), blocks, size, most)
	d.podsKnown, d.Pods = true, times(blocks, size)
	s.Fabric.Draft(d)
	return nil
}

// limits says how many nodes and pods blocks of a size are enough for. A node without pods keeps one address.
func (s Calico) limits(d *Draft, c Cluster, what string, blocks, size, most uint64) {
	pods := max(c.PodsPerNode, 1)
	all := times(blocks, size)
	if !s.Pools.Strict {
		d.Node(what, over(all, pods), fmt.Sprintf("%s each; nodes without a block borrow of others'", plural(pods, "address")))
		if c.Nodes > 0 {
			claimed := min(blocks, times(c.Nodes, most)) // nobody borrows of a block that no node has claimed
			d.Pod(what, over(times(claimed, size), c.Nodes), "an equal share of "+plural(claimed, "block")+" that "+plural(c.Nodes, "node")+" may claim")
			return
		}
		d.Pod("maxBlocksPerHost", times(most, size), fmt.Sprintf("%s of %s; more only where others have claimed blocks to borrow of", plural(most, "block"), plural(size, "address")))
		d.Pod(what, all, "one node may have every address")
		return
	}
	each := (pods-1)/size + 1 // rounded up, where size may be the highest count
	d.Node(what, over(blocks, each), fmt.Sprintf("%s each for %s, because strictAffinity lets nobody borrow", plural(each, "block"), plural(pods, "pod")))
	d.Pod("maxBlocksPerHost", times(most, size), fmt.Sprintf("%s of %s", plural(most, "block"), plural(size, "address")))
	if c.Nodes > 0 {
		d.Pod(what, times(over(blocks, c.Nodes), size), "an equal share of its blocks for "+plural(c.Nodes, "node"))
		return
	}
	d.Pod(what, all, "one node may have every block")
}
