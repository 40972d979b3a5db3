package check

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

const addressesInTurnName = "addresses-in-turn"

// addressesInTurn: where the configuration has an allocator go round its blocks instead of having addresses rest, one that was released is
// given again only after each other address of its block that was free already when it was given the last time. An allocator that
// goes round has passed all of them in between.
//
// Nodes that give the addresses of their blocks by themselves pass none over, whether addresses rest or not, that was nobody's since the one that they gave before.
//
// A new life of the agent goes on where the one before was, if the world vouches that its disk had all of it, and so does a block that stays while others
// come and go; other lives and blocks begin anew, as no fact says where the round is. A snapshot has no history.
func addressesInTurn() scenarios.Law {
	return scenarios.Law{
		Name:  addressesInTurnName,
		Why:   "The longer an address is left alone, the more of its last pod's connections, NAT sessions and policies are forgotten when it comes again.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Leases, scenarios.Blocks, scenarios.Turns},
		Watch: func() scenarios.Watcher { return &turnWatcher{nodes: map[string]map[netip.Prefix]*round{}} },
	}
}

// round is what a life of an agent has given of a block.
type round struct {
	// moves counts leases and releases.
	moves int64
	// leased is the move of each address' last lease, free that of its release.
	leased, free map[netip.Addr]int64
	// released are releases in their order; those that free does not know any more are over.
	released []release
}

// release is a move with its address and time.
type release struct {
	addr netip.Addr
	move int64
	at   time.Duration
}

type turnWatcher struct {
	nodes  map[string]map[netip.Prefix]*round
	checks int64
}

func (w *turnWatcher) Checks() int64 { return w.checks }

func (w *turnWatcher) Observe(f *scenarios.Fact) error {
	switch f.Kind {
	case scenarios.FactLeased:
		if f.After.IsValid() {
			w.checks++
		}
		if f.Passed.IsValid() {
			return broken(addressesInTurnName, f.At, f.Node, "%s is given to %s behind %s, and %s between them, which is nobody's and does not rest, is passed over: look at where the allocator looks for the next address",
				f.Addr, f.Owner, f.After, f.Passed)
		}
		if f.InTurn {
			return w.leased(f)
		}
	case scenarios.FactReleased:
		if r := w.nodes[f.Node][f.Prefix]; r != nil {
			r.release(f)
		}
	case scenarios.FactBlocks:
		w.blocks(f)
	case scenarios.FactAgentUp:
		if !f.InTurn {
			delete(w.nodes, f.Node)
		}
	case scenarios.FactNodeGone:
		delete(w.nodes, f.Node)
	}
	return nil
}

// blocks forgets the rounds of blocks that the node gives no addresses from any more.
func (w *turnWatcher) blocks(f *scenarios.Fact) {
	for p := range w.nodes[f.Node] { // in any order: each by itself
		if !slices.ContainsFunc(f.Blocks, func(b ipam.Block) bool { return b.Prefix == p && !b.Draining }) {
			delete(w.nodes[f.Node], p)
		}
	}
}

func (w *turnWatcher) leased(f *scenarios.Fact) error {
	rounds := w.nodes[f.Node]
	if rounds == nil {
		rounds = map[netip.Prefix]*round{}
		w.nodes[f.Node] = rounds
	}
	r := rounds[f.Prefix]
	if r == nil {
		r = &round{leased: map[netip.Addr]int64{}, free: map[netip.Addr]int64{}}
		rounds[f.Prefix] = r
	}
	delete(r.free, f.Addr)
	before, again := r.leased[f.Addr]
	r.moves++
	r.leased[f.Addr] = r.moves
	if !again {
		return nil
	}
	w.checks++
	if first, waits := r.first(); waits && first.move < before {
		return broken(addressesInTurnName, f.At, f.Node, "%s is given again, to %s, while %s, free for %s, has not had its turn since %[1]s was given before: look at where the allocator looks for the next address",
			f.Addr, f.Owner, first.addr, f.At-first.at)
	}
	return nil
}

func (r *round) release(f *scenarios.Fact) {
	if _, ours := r.leased[f.Addr]; !ours {
		return
	}
	r.moves++
	r.free[f.Addr] = r.moves
	r.released = append(r.released, release{f.Addr, r.moves, f.At})
}

// first is the address that has been free the longest.
func (r *round) first() (release, bool) {
	over := slices.IndexFunc(r.released, func(x release) bool { return r.free[x.addr] == x.move })
	if over < 0 {
		over = len(r.released)
	}
	r.released = r.released[over:]
	if len(r.released) == 0 {
		return release{}, false
	}
	return r.released[0], true
}
