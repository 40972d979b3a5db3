package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const unwiredName = "unwired-before-reuse"

// unwiredBeforeReuse: an address is free for others only when nothing of its owner is left: no route, neighbor or
// interface address in any table of VPP, and no link in its namespace. The law checks this when the agent releases the
// address, and again when another owner gets it, on the new owner's node and on the previous one's.
//
// A snapshot shows only permanent leftovers; books-agree finds those.
func unwiredBeforeReuse() fact.Law {
	return fact.Law{
		Name: unwiredName,
		Rule: "An address is released only when no route, neighbor, interface or link of its owner is left.",
		Why: "If an address is reused while its previous owner's wiring is left, packets to it go to a dead pod or to " +
			"the wrong living one.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Leftovers},
		Watch:   func() fact.Watcher { return &reuseWatcher{owners: map[netip.Addr]ipam.Owner{}} },
	}
}

type reuseWatcher struct {
	// owners are the addresses' latest owners.
	owners map[netip.Addr]ipam.Owner
	checks int64
}

func (w *reuseWatcher) Checks() int64 { return w.checks }

func (w *reuseWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Released:
		w.checks++
		if l := x.Left; l != nil {
			return broken(unwiredName, f.At, f.Node,
				"%s of %s is released while %s still has its %s: check what releases addresses before their wiring is gone",
				x.Addr, x.Owner, l.Node, l.Thing)
		}
	case fact.Leased:
		return w.leased(f, x)
	}
	return nil
}

func (w *reuseWatcher) leased(f *fact.Fact, x fact.Leased) error {
	before, had := w.owners[x.Addr]
	w.owners[x.Addr] = x.Owner
	if had && before != x.Owner {
		w.checks++
	}
	if l := x.Left; l != nil {
		v := broken(unwiredName, f.At, f.Node,
			"%s goes to %s while %s still has the %s of %s: check what releases the address there, and when",
			x.Addr, x.Owner, l.Node, l.Thing, l.Owner)
		v.Before = x.Addr.String() + ": " + l.Owner.String() + " on " + l.Node
		v.After = x.Addr.String() + ": " + x.Owner.String() + " on " + f.Node
		return v
	}
	return nil
}
