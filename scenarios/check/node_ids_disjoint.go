package check

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const nodeIDsName = "node-ids-disjoint"

// nodeIDsDisjoint: live nodes act on different node IDs, and ranges derived from the IDs do not overlap.
//
// An ID and its blocks stay with a node while its agent is down: its VPP goes on forwarding for them. The watcher
// judges IDs and blocks, which facts carry. Snapshots also show host subnets and node addresses, and that no node has
// the address of a gateway that a VPP's default route uses.
func nodeIDsDisjoint() fact.Law {
	return fact.Law{
		Name:    nodeIDsName,
		Rule:    "No two live nodes act on the same node ID, and ranges derived from IDs do not overlap.",
		Why:     "Every address of a node derives from its ID: peers cannot tell two nodes with one ID apart.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.NodeIDs, fact.Blocks},
		Check:   checkNodeIDs,
		Watch: func() fact.Watcher {
			return &idWatcher{ids: map[uint32]string{}, byNode: map[string]uint32{},
				blocks: nodeBlocks{byNode: map[string][]netip.Prefix{}}}
		},
	}
}

func checkNodeIDs(s fact.Snapshot) (occasions int64, err error) {
	ids := map[uint32]string{}
	type set struct {
		what   string
		ranges ranges
	}
	gateways := map[netip.Addr]string{}
	sets := [...]set{{what: "pod block"}, {what: "host subnet"}, {what: "node address"}, {what: "VXLAN address"}}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) {
			continue
		}
		if n.ID != 0 {
			occasions++
			if other, taken := ids[n.ID]; taken {
				return occasions, broken(nodeIDsName, s.At, n.Name, "%s and %s both act on node ID %d", other, n.Name, n.ID)
			}
			ids[n.ID] = n.Name
		}
		for p := range widest(n.Blocks) {
			sets[0].ranges.list = append(sets[0].ranges.list, nodeRange{p, n.Name})
		}
		if n.HostSubnet.IsValid() {
			sets[1].ranges.list = append(sets[1].ranges.list, nodeRange{n.HostSubnet, n.Name})
		}
		if n.Address.IsValid() {
			sets[2].ranges.list = append(sets[2].ranges.list, nodeRange{single(n.Address.Addr()), n.Name})
			if gw := defaultGateway(n); gw.IsValid() {
				gateways[gw] = n.Name
			}
		}
		if n.VXLANAddress.IsValid() {
			sets[3].ranges.list = append(sets[3].ranges.list, nodeRange{single(n.VXLANAddress), n.Name})
		}
	}
	for _, r := range sets[2].ranges.list {
		if user, is := gateways[r.prefix.Addr()]; is {
			return occasions, broken(nodeIDsName, s.At, r.node,
				"%s has address %s, which is the next hop of the default route of %s: check what excludes gateways from node "+
					"addresses",
				r.node, r.prefix.Addr(), user)
		}
	}
	for i := range sets {
		occasions += int64(len(sets[i].ranges.list))
		if a, b, overlap := sets[i].ranges.firstOverlap(); overlap {
			return occasions, broken(nodeIDsName, s.At, b.node, "%s %s of %s overlaps %s of %s", sets[i].what, b.prefix, b.node,
				a.prefix, a.node)
		}
	}
	return occasions, nil
}

// defaultGateway is the next hop of a VPP's default route, or the zero Addr if that is not another machine's address.
func defaultGateway(n *fact.NodeState) netip.Addr {
	a := n.Address.Addr()
	if n.VPP == nil || !a.IsValid() {
		return netip.Addr{}
	}
	all := netip.IPv4Unspecified()
	if a.Is6() {
		all = netip.IPv6Unspecified()
	}
	for r := range n.VPP.Routes(n.MainTable) { // in ascending order: a family's default route is its first
		if r.Prefix.Addr().Is4() != a.Is4() {
			continue
		}
		if r.Prefix.Bits() == 0 && r.Prefix.Addr() == all && r.Action == fact.ActionForward {
			return r.Via
		}
		break
	}
	return netip.Addr{}
}

// widest yields a node's blocks that lie in no other block of the node: a new block may be an unused part of a draining
// one.
func widest(blocks []ipam.Block) iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for i := range blocks {
			if p := blocks[i].Prefix; !nests(blocks, p) && !yield(p) {
				return
			}
		}
	}
}

// nests reports whether one of a node's blocks lies in another of its blocks.
func nests(blocks []ipam.Block, p netip.Prefix) bool {
	return slices.ContainsFunc(blocks, func(b ipam.Block) bool {
		return b.Prefix.Bits() < p.Bits() &&
			b.Prefix.Contains(p.Addr())
	})
}

func single(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// nodeRange is one prefix of one node.
type nodeRange struct {
	prefix netip.Prefix
	node   string
}

// ranges is a set of prefixes without overlaps, in ascending order of their first addresses.
type ranges struct{ list []nodeRange }

func compareRange(a nodeRange, p netip.Prefix) int {
	return cmp.Or(a.prefix.Addr().Compare(p.Addr()), a.prefix.Bits()-p.Bits())
}

// firstOverlap sorts the list and finds two neighbors that overlap: among sorted prefixes any overlap shows between
// neighbors.
func (r *ranges) firstOverlap() (a, b nodeRange, overlap bool) {
	slices.SortFunc(r.list, func(a, b nodeRange) int {
		return cmp.Or(compareRange(a, b.prefix),
			cmp.Compare(a.node, b.node))
	})
	for i := 1; i < len(r.list); i++ {
		if r.list[i-1].prefix.Overlaps(r.list[i].prefix) {
			return r.list[i-1], r.list[i], true
		}
	}
	return a, b, false
}

// add inserts a range. If it overlaps an existing range, add returns that one and inserts nothing.
func (r *ranges) add(n nodeRange) (nodeRange, bool) {
	i, _ := slices.BinarySearchFunc(r.list, n.prefix, compareRange)
	if i < len(r.list) && r.list[i].prefix.Overlaps(n.prefix) {
		return r.list[i], false
	}
	if i > 0 && r.list[i-1].prefix.Overlaps(n.prefix) {
		return r.list[i-1], false
	}
	r.list = slices.Insert(r.list, i, n)
	return nodeRange{}, true
}

// remove deletes a node's range, if present.
func (r *ranges) remove(n nodeRange) {
	if i, found := slices.BinarySearchFunc(r.list, n.prefix, compareRange); found && r.list[i].node == n.node {
		r.list = slices.Delete(r.list, i, i+1)
	}
}

type idWatcher struct {
	ids    map[uint32]string
	byNode map[string]uint32
	blocks nodeBlocks
	checks int64
}

func (w *idWatcher) Checks() int64 { return w.checks + w.blocks.checks }

func (w *idWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.NodeID:
		return w.setID(f, x)
	case fact.NodeBlocks:
		if mine, other, overlap := w.blocks.set(f.Node, x.Blocks); overlap {
			return broken(nodeIDsName, f.At, f.Node, "pod block %s of %s overlaps %s of %s", mine, f.Node, other.prefix,
				other.node)
		}
	case fact.NodeGone:
		w.forgetID(f.Node)
		w.blocks.forget(f.Node)
	}
	return nil
}

func (w *idWatcher) forgetID(node string) {
	if old, ok := w.byNode[node]; ok {
		delete(w.byNode, node)
		if w.ids[old] == node {
			delete(w.ids, old)
		}
	}
}

func (w *idWatcher) setID(f *fact.Fact, x fact.NodeID) error {
	w.forgetID(f.Node)
	if x.ID == 0 {
		return nil
	}
	w.checks++
	other, taken := w.ids[x.ID]
	w.ids[x.ID], w.byNode[f.Node] = f.Node, x.ID
	if taken {
		return broken(nodeIDsName, f.At, f.Node, "%s acts on node ID %d while %s does", f.Node, x.ID, other)
	}
	return nil
}

// nodeBlocks are the prefixes of each node, which must not overlap.
type nodeBlocks struct {
	byNode map[string][]netip.Prefix
	ranges ranges
	checks int64
}

// set replaces the node's blocks. It returns the first block that overlaps another node's, and that other block.
func (b *nodeBlocks) set(node string, blocks []ipam.Block) (mine netip.Prefix, other nodeRange, overlap bool) {
	old := b.byNode[node]
	same := len(old) == len(blocks)
	for i := 0; same && i < len(old); i++ {
		same = old[i] == blocks[i].Prefix
	}
	if same {
		return mine, other, false
	}
	b.forget(node)
	fresh := old[:0]
	for i := range blocks {
		fresh = append(fresh, blocks[i].Prefix)
	}
	for p := range widest(blocks) {
		b.checks++
		if found, ok := b.ranges.add(nodeRange{p, node}); !ok && !overlap {
			mine, other, overlap = p, found, true
		}
	}
	b.byNode[node] = fresh
	return mine, other, overlap
}

func (b *nodeBlocks) forget(node string) {
	for _, p := range b.byNode[node] {
		b.ranges.remove(nodeRange{p, node})
	}
	delete(b.byNode, node)
}
