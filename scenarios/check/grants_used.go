package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

const grantsUsedName = "grants-used"

// grantsUsed: where a controller or a cloud gives nodes their blocks, what it says a node has and what the node uses are the
// same: at every instant each lease lies in a block that the node was granted, and in quiet each granted block is one that the
// node gives addresses from.
//
// Between a grant and its use, and between the end of its use and its return, something is always under way; so the second half
// is for settled snapshots, and for nodes that have an ID to act on. It passes blocks over that another node's record bars, as a
// node that is gone does until its quarantine ends.
// The watcher judges the first half, from a node's first grant on.
func grantsUsed() scenarios.Law {
	return scenarios.Law{
		Name:  grantsUsedName,
		Why:   "An address that was taken back gets no packets, or somebody else's; a block that its node has forgotten is lost to the whole cluster.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.AssignedBlocks, scenarios.BlockedBlocks, scenarios.Leases, scenarios.Blocks, scenarios.NodeIDs},
		Check: checkGrantsUsed,
		Watch: func() scenarios.Watcher { return &useWatcher{nodes: map[string]*useNode{}} },
	}
}

func checkGrantsUsed(s scenarios.Snapshot) (occasions int64, err error) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil || len(n.Granted) == 0 {
			continue
		}
		for l := range n.Leases() {
			occasions++
			if !granted(n.Granted, l.Addr) {
				return occasions, notGranted(&scenarios.Fact{At: s.At, Node: n.Name}, n.Granted, l.Addr, l.Owner)
			}
		}
		if !s.Settled || n.ID == 0 {
			continue
		}
		for _, p := range n.Granted {
			if slices.Contains(n.Barred, p) {
				continue
			}
			occasions++
			if !slices.ContainsFunc(n.Blocks, func(b ipam.Block) bool { return b.Prefix == p && !b.Draining }) {
				return occasions, broken(grantsUsedName, s.At, n.Name, "%s is granted to %s, which gives no addresses from it", p, n.Name)
			}
		}
	}
	return occasions, nil
}

func granted(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

func notGranted(f *scenarios.Fact, list []netip.Prefix, addr netip.Addr, o ipam.Owner) error {
	v := broken(grantsUsedName, f.At, f.Node, "%s of %s lies in no block that %s was granted", addr, o, f.Node)
	for i, p := range list {
		if i > 0 {
			v.Before += " "
		}
		v.Before += p.String()
	}
	return v
}

type useNode struct {
	granted []netip.Prefix
	leases  map[netip.Addr]ipam.Owner
}

// useWatcher knows the nodes that were ever granted something; others cost nothing.
type useWatcher struct {
	nodes  map[string]*useNode
	checks int64
}

func (w *useWatcher) Checks() int64 { return w.checks }

func (w *useWatcher) Observe(f scenarios.Fact) error {
	n := w.nodes[f.Node]
	if n == nil {
		if f.Kind == scenarios.FactGranted && len(f.Blocks) > 0 {
			w.nodes[f.Node] = &useNode{leases: map[netip.Addr]ipam.Owner{}}
			return w.Observe(f)
		}
		return nil
	}
	switch f.Kind {
	case scenarios.FactGranted:
		n.granted = n.granted[:0]
		for i := range f.Blocks {
			n.granted = append(n.granted, f.Blocks[i].Prefix)
		}
		return w.judge(&f, n)
	case scenarios.FactLeased:
		n.leases[f.Addr] = f.Owner
		w.checks++
		if !granted(n.granted, f.Addr) {
			return notGranted(&f, n.granted, f.Addr, f.Owner)
		}
	case scenarios.FactReleased:
		if n.leases[f.Addr] == f.Owner {
			delete(n.leases, f.Addr)
		}
	case scenarios.FactAgentUp:
		clear(n.leases)
		for i := range f.Leases {
			n.leases[f.Leases[i].Addr] = f.Leases[i].Owner
		}
		return w.judge(&f, n)
	case scenarios.FactAgentDown:
		clear(n.leases)
	case scenarios.FactNodeGone:
		clear(n.leases)
	}
	return nil
}

// judge looks at every lease of a node; the lowest offender is told.
func (w *useWatcher) judge(f *scenarios.Fact, n *useNode) error {
	var worst netip.Addr
	for addr := range n.leases { //vppdrill:unordered the lowest offender wins
		w.checks++
		if (!worst.IsValid() || addr.Less(worst)) && !granted(n.granted, addr) {
			worst = addr
		}
	}
	if worst.IsValid() {
		return notGranted(f, n.granted, worst, n.leases[worst])
	}
	return nil
}
