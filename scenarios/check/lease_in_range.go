package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const leaseInRangeName = "lease-in-range"

// defaultPool is what Cilium calls the pool of pods that name none.
const defaultPool = "default"

// leaseInRange: every lease lies in a block that its node holds, draining blocks included, is none of the block's
// reserved addresses, and of the pool that its pod asked for, where there are several.
//
// The watcher knows one reserved address per block, the gateway; the snapshot knows all of them. Leases that an agent
// reads back from its journal are judged when the node's blocks are told next, not before: the two facts come in either
// order.
func leaseInRange() fact.Law {
	return fact.Law{
		Name:    leaseInRangeName,
		Why:     "Peers route blocks, not pods: an address outside its node's blocks, or its gateway's, is unreachable or steals traffic.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Blocks},
		Check:   checkLeaseInRange,
		Watch:   func() fact.Watcher { return &rangeWatcher{nodes: map[string]*rangeNode{}} },
	}
}

func checkLeaseInRange(s fact.Snapshot) (occasions int64, err error) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil {
			continue
		}
		reserved := slices.SortedFunc(slices.Values(n.Reserved), netip.Addr.Compare)
		for l := range n.Leases() {
			occasions++
			if err := inRange(&fact.Fact{At: s.At, Node: n.Name}, n.Blocks, l.Addr, l.Owner); err != nil {
				return occasions, err
			}
			if _, found := slices.BinarySearchFunc(reserved, l.Addr, netip.Addr.Compare); found {
				return occasions, broken(leaseInRangeName, s.At, n.Name, "%s of %s is reserved", l.Addr, l.Owner)
			}
		}
	}
	return occasions, nil
}

func inRange(f *fact.Fact, blocks []ipam.Block, addr netip.Addr, o ipam.Owner) error {
	for i := range blocks {
		if !blocks[i].Prefix.Contains(addr) {
			continue
		}
		if blocks[i].Gateway == addr {
			return broken(leaseInRangeName, f.At, f.Node, "%s of %s is the gateway of block %s", addr, o, blocks[i].Prefix)
		}
		return nil
	}
	v := broken(leaseInRangeName, f.At, f.Node, "%s of %s lies in none of the node's blocks", addr, o)
	for i := range blocks {
		if i > 0 {
			v.Before += " "
		}
		v.Before += blocks[i].Prefix.String()
	}
	return v
}

type rangeNode struct {
	// known: blocks were told; before, nothing can be judged.
	known  bool
	blocks []ipam.Block
	leases map[netip.Addr]ipam.Owner
}

type rangeWatcher struct {
	nodes map[string]*rangeNode
	// pools are those that are configured beside the default one.
	pools  []scenarios.CiliumPool
	checks int64
}

func (w *rangeWatcher) Checks() int64 { return w.checks }

func (w *rangeWatcher) Observe(f *fact.Fact) error {
	switch f.Kind {
	case fact.FactConfigured:
		w.pools = f.Config.IPAM.Cilium.Pools
	case fact.FactLeased:
		n := w.node(f.Node)
		n.leases[f.Addr] = f.Owner
		if of := poolOf(w.pools, f.Addr); f.Text != "" && of != f.Text {
			return broken(leaseInRangeName, f.At, f.Node, "%s of %s is of pool %q, and %q was asked for: look at what chooses among blocks", f.Addr, f.Owner, of, f.Text)
		}
		if !n.known {
			return nil
		}
		w.checks++
		return inRange(f, n.blocks, f.Addr, f.Owner)
	case fact.FactReleased:
		if n := w.node(f.Node); n.leases[f.Addr] == f.Owner {
			delete(n.leases, f.Addr)
		}
	case fact.FactBlocks:
		return w.setBlocks(f)
	case fact.FactAgentUp:
		n := w.node(f.Node)
		clear(n.leases)
		for i := range f.Leases {
			n.leases[f.Leases[i].Addr] = f.Leases[i].Owner
		}
	case fact.FactAgentDown:
		clear(w.node(f.Node).leases)
	case fact.FactNodeGone:
		delete(w.nodes, f.Node)
	}
	return nil
}

// poolOf is the pool that an address is of.
func poolOf(pools []scenarios.CiliumPool, addr netip.Addr) string {
	for _, p := range pools {
		if slices.ContainsFunc(p.IPv4, func(r netip.Prefix) bool { return r.Contains(addr) }) {
			return p.Name
		}
	}
	return defaultPool
}

func (w *rangeWatcher) setBlocks(f *fact.Fact) error {
	n := w.node(f.Node)
	n.known = true
	n.blocks = append(n.blocks[:0], f.Blocks...)
	var worst netip.Addr
	for addr, o := range n.leases { //vppdrill:unordered the lowest offender wins
		w.checks++
		if (!worst.IsValid() || addr.Less(worst)) && inRange(f, n.blocks, addr, o) != nil {
			worst = addr
		}
	}
	if worst.IsValid() {
		return inRange(f, n.blocks, worst, n.leases[worst])
	}
	return nil
}

func (w *rangeWatcher) node(name string) *rangeNode {
	n := w.nodes[name]
	if n == nil {
		n = &rangeNode{leases: map[netip.Addr]ipam.Owner{}}
		w.nodes[name] = n
	}
	return n
}
