package check

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const leaseInRangeName = "lease-in-range"

// defaultPool is what Cilium calls the pool of pods that name none.
const defaultPool = "default"

// leaseInRange: every lease lies in a block that its node holds, draining blocks included. It is not one of the block's
// reserved addresses, and with several pools it is of the pool that its pod asked for. No address is leased out of a
// block that has been draining for some time.
//
// The watcher knows one reserved address per block, the gateway; the snapshot knows all of them. Leases that an agent
// reads back from its journal are judged when the node's blocks are reported next, because the two facts come in either
// order.
func leaseInRange() fact.Law {
	return fact.Law{
		Name: leaseInRangeName,
		Rule: "Every lease lies in a block that its node holds, and is none of the block's reserved addresses.",
		Why: "Peers route blocks, not pods: an address outside its node's blocks, or equal to the gateway's, is " +
			"unreachable or steals traffic.",
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
	// known: blocks were reported. Before that, nothing can be judged.
	known  bool
	blocks []ipam.Block
	leases map[netip.Addr]ipam.Owner
	// drains is when each draining block was first reported as draining.
	drains map[netip.Prefix]time.Duration
}

// drainedLate is how long a block must have been draining before a lease out of it is a fault. A step that leases and
// drains, or a poll, may report the two in either order.
const drainedLate = 5 * time.Second

// fromDraining judges a new lease by the draining blocks.
func (n *rangeNode) fromDraining(f *fact.Fact, x fact.Leased) error {
	var from ipam.Block
	for _, b := range n.blocks {
		switch {
		case !b.Prefix.Contains(x.Addr):
		case !b.Draining:
			return nil // an active block may hold a draining one
		default:
			from = b
		}
	}
	if since, drains := n.drains[from.Prefix]; drains && f.At-since > drainedLate {
		return broken(leaseInRangeName, f.At, f.Node, "%s of %s is leased out of block %s, which has been draining for %s",
			x.Addr, x.Owner, from.Prefix, f.At-since)
	}
	return nil
}

type rangeWatcher struct {
	nodes map[string]*rangeNode
	// pools are the configured pools besides the default one.
	pools  []scenarios.NamedPool
	checks int64
}

func (w *rangeWatcher) Checks() int64 { return w.checks }

func (w *rangeWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Configured:
		w.pools = x.Config.IPAM.Traits().Pools
	case fact.Leased:
		n := w.node(f.Node)
		n.leases[x.Addr] = x.Owner
		if of := poolOf(w.pools, x.Addr); x.Pool != "" && of != x.Pool && gives(w.pools, x.Pool, x.Addr) {
			return broken(leaseInRangeName, f.At, f.Node,
				"%s of %s is of pool %q, but %q was requested: check how a block is chosen", x.Addr, x.Owner, of, x.Pool)
		}
		if !n.known {
			return nil
		}
		w.checks++
		if err := inRange(f, n.blocks, x.Addr, x.Owner); err != nil {
			return err
		}
		return n.fromDraining(f, x)
	case fact.Released:
		if n := w.node(f.Node); n.leases[x.Addr] == x.Owner {
			delete(n.leases, x.Addr)
		}
	case fact.NodeBlocks:
		return w.setBlocks(f, x)
	case fact.AgentUp:
		n := w.node(f.Node)
		clear(n.leases)
		for i := range x.Leases {
			n.leases[x.Leases[i].Addr] = x.Leases[i].Owner
		}
	case fact.AgentDown:
		clear(w.node(f.Node).leases)
	case fact.NodeGone:
		delete(w.nodes, f.Node)
	}
	return nil
}

// gives reports whether a pool has addresses of the family of an address: of another one a pod that asks for the pool gets any. The default
// pool has all.
func gives(pools []scenarios.NamedPool, name string, addr netip.Addr) bool {
	i := slices.IndexFunc(pools, func(p scenarios.NamedPool) bool { return p.Name == name })
	return i < 0 || slices.ContainsFunc(pools[i].Ranges, func(r netip.Prefix) bool { return r.Addr().BitLen() == addr.BitLen() })
}

// poolOf is the pool of an address.
func poolOf(pools []scenarios.NamedPool, addr netip.Addr) string {
	for _, p := range pools {
		if slices.ContainsFunc(p.Ranges, func(r netip.Prefix) bool { return r.Contains(addr) }) {
			return p.Name
		}
	}
	return defaultPool
}

func (w *rangeWatcher) setBlocks(f *fact.Fact, x fact.NodeBlocks) error {
	n := w.node(f.Node)
	n.known = true
	n.blocks = append(n.blocks[:0], x.Blocks...)
	was := n.drains
	n.drains = map[netip.Prefix]time.Duration{}
	for _, b := range n.blocks {
		if since, known := was[b.Prefix]; b.Draining && known {
			n.drains[b.Prefix] = since
		} else if b.Draining {
			n.drains[b.Prefix] = f.At
		}
	}
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
