package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const grantsName = "grants-disjoint"

// grantsDisjoint: the controller or cloud that assigns blocks never assigns one block to two nodes.
//
// It judges only the assigning side. An agent may notice in time that a block belongs to another node and leave it
// unused, but then its pods wait indefinitely. A node that left holds nothing as soon as its object is gone.
func grantsDisjoint() fact.Law {
	return fact.Law{
		Name:    grantsName,
		Rule:    "No block of addresses is assigned to two nodes.",
		Why:     "Two nodes with the same pod CIDR hand out the same addresses, or one of them hands out none.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.AssignedBlocks},
		Check:   checkGrants,
		Watch:   func() fact.Watcher { return &grantWatcher{nodeBlocks{byNode: map[string][]netip.Prefix{}}} },
	}
}

func checkGrants(s fact.Snapshot) (occasions int64, err error) {
	var all ranges
	for i := range s.Nodes {
		for _, b := range s.Nodes[i].Assigned {
			all.list = append(all.list, nodeRange{b.Prefix, s.Nodes[i].Name})
		}
	}
	if a, b, overlap := all.firstOverlap(); overlap {
		return int64(len(all.list)), broken(grantsName, s.At, b.node, "%s of %s overlaps %s of %s", b.prefix, b.node,
			a.prefix, a.node)
	}
	return int64(len(all.list)), nil
}

type grantWatcher struct{ blocks nodeBlocks }

func (w *grantWatcher) Checks() int64 { return w.blocks.checks }

func (w *grantWatcher) Observe(f *fact.Fact) error {
	x, ok := f.What.(fact.Assigned)
	if !ok {
		return nil
	}
	if mine, other, overlap := w.blocks.set(f.Node, x.Blocks); overlap {
		return broken(grantsName, f.At, f.Node, "%s of %s overlaps %s of %s", mine, f.Node, other.prefix, other.node)
	}
	return nil
}
