package check

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const grantsUsedName = "grants-used"

// grantsUsed: where a controller or a cloud assigns blocks, a node's assignment and the blocks it uses agree. At every
// instant each lease lies in an assigned block, and no block is taken back before the node has dropped it. In a settled
// cluster the node allocates from each assigned block.
//
// Assignment and use never change at the same instant, so the last part is judged only in settled snapshots, and for
// nodes that have an ID to act on. It skips blocks that another node's record bars, such as the record of a departed
// node in quarantine. The watcher judges the rest, from a node's first assignment on.
func grantsUsed() fact.Law {
	return fact.Law{
		Name: grantsUsedName,
		Rule: "A node's leases lie in its assigned blocks, no block is taken back while in use, and a quiet node uses each.",
		Why: "An address in a block that was taken back gets no packets, or packets of another node; a block that its " +
			"node has forgotten is lost to the whole cluster.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.AssignedBlocks, fact.BlockedBlocks, fact.Leases, fact.Blocks, fact.NodeIDs},
		Check: checkGrantsUsed,
		Watch: func() fact.Watcher { return &useWatcher{nodes: map[string]*useNode{}} },
	}
}

func checkGrantsUsed(s fact.Snapshot) (occasions int64, err error) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil || len(n.Assigned) == 0 {
			continue
		}
		if !s.Settled || n.ID == 0 {
			continue
		}
		for _, a := range n.Assigned {
			p := a.Prefix
			if a.Draining || slices.Contains(n.Blocked, p) {
				continue
			}
			occasions++
			if !slices.ContainsFunc(n.Blocks, func(b ipam.Block) bool { return b.Prefix == p && !b.Draining }) {
				return occasions, broken(grantsUsedName, s.At, n.Name, "%s is assigned to %s, which does not allocate from it", p,
					n.Name)
			}
		}
	}
	return occasions, nil
}

func assigned(list []ipam.Block, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(b ipam.Block) bool { return b.Prefix.Contains(addr) })
}

func notAssigned(f *fact.Fact, list []ipam.Block, addr netip.Addr, o ipam.Owner) error {
	v := broken(grantsUsedName, f.At, f.Node, "%s of %s lies in no block that %s was assigned", addr, o, f.Node)
	for i := range list {
		if i > 0 {
			v.Before += " "
		}
		v.Before += list[i].Prefix.String()
	}
	return v
}

type useNode struct {
	assigned []ipam.Block
	// blocks are those that the node uses.
	blocks []ipam.Block
	leases map[netip.Addr]ipam.Owner
	// orphans are leases of when the node's object was deleted: who assigns blocks may have taken theirs back, while the pods live.
	orphans map[netip.Addr]ipam.Owner
	// orphaned are the blocks that the node used then, and uses since.
	orphaned []ipam.Block
}

// takenBack finds a used block that is no longer assigned. A node without any assignment has left, or is a new one; from one whose object
// was deleted, what it used then may be taken: it hears of that later.
func (n *useNode) takenBack(assigned []ipam.Block) (netip.Prefix, bool) {
	if len(assigned) == 0 {
		return netip.Prefix{}, false
	}
	for _, a := range n.assigned {
		is := func(b ipam.Block) bool { return b.Prefix == a.Prefix }
		if !slices.ContainsFunc(assigned, is) && slices.ContainsFunc(n.blocks, is) && !slices.ContainsFunc(n.orphaned, is) {
			return a.Prefix, true
		}
	}
	return netip.Prefix{}, false
}

// useWatcher tracks the nodes that ever got an assignment. Others cost nothing.
type useWatcher struct {
	nodes  map[string]*useNode
	checks int64
}

func (w *useWatcher) Checks() int64 { return w.checks }

func (w *useWatcher) Observe(f *fact.Fact) error {
	n := w.nodes[f.Node]
	if n == nil {
		if x, ok := f.What.(fact.Assigned); ok && len(x.Blocks) > 0 {
			w.nodes[f.Node] = &useNode{leases: map[netip.Addr]ipam.Owner{}}
			return w.Observe(f)
		}
		return nil
	}
	switch x := f.What.(type) {
	case fact.Assigned:
		lost, held := n.takenBack(x.Blocks)
		n.assigned = append(n.assigned[:0], x.Blocks...)
		if held {
			return broken(grantsUsedName, f.At, f.Node,
				"%s is taken back while %s still allocates from it: check what waits until the node has dropped it", lost, f.Node)
		}
		return w.judge(f, n)
	case fact.NodeBlocks:
		n.blocks = append(n.blocks[:0], x.Blocks...)
		n.orphaned = slices.DeleteFunc(n.orphaned, func(b ipam.Block) bool { return !assigned(n.blocks, b.Prefix.Addr()) })
	case fact.Leased:
		n.leases[x.Addr] = x.Owner
		w.checks++
		if !assigned(n.assigned, x.Addr) {
			return notAssigned(f, n.assigned, x.Addr, x.Owner)
		}
	case fact.Released:
		if n.leases[x.Addr] == x.Owner {
			delete(n.leases, x.Addr)
		}
	case fact.AgentUp:
		clear(n.leases)
		for i := range x.Leases {
			n.leases[x.Leases[i].Addr] = x.Leases[i].Owner
		}
		return w.judge(f, n)
	case fact.AgentDown:
		clear(n.leases)
	case fact.Unregistered:
		n.orphans, n.orphaned = maps.Clone(n.leases), slices.Clone(n.blocks)
	case fact.NodeGone:
		clear(n.leases)
		if x.Left {
			n.blocks = n.blocks[:0] // its machine is gone, and its disk
		}
	}
	return nil
}

// judge checks every lease of a node and reports the lowest offender.
func (w *useWatcher) judge(f *fact.Fact, n *useNode) error {
	var worst netip.Addr
	for addr := range n.leases { //vppdrill:unordered the lowest offender wins
		if n.orphans[addr] == n.leases[addr] {
			continue
		}
		w.checks++
		if (!worst.IsValid() || addr.Less(worst)) && !assigned(n.assigned, addr) {
			worst = addr
		}
	}
	if worst.IsValid() {
		return notAssigned(f, n.assigned, worst, n.leases[worst])
	}
	return nil
}
