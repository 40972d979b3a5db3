package calico

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Tender is Calico's controllers for one life, as a pure state machine: they take back what nodes that are gone had,
// and blocks that have been empty for long.
//
// That a node is gone is asked of the API server with each write (WriteBlock.Unless): what is known of nodes may be
// older than what is known of blocks.
type Tender struct {
	pools   Pools
	grace   time.Duration
	now     time.Time
	effects []Effect
	alarms
	view view
	// alive are the incarnations that have Node objects; nil before they are known.
	alive map[string]bool
	// empty is since when blocks have been empty, by UID.
	empty map[string]time.Time
	// reclaimed are addresses that were taken back since this life began.
	reclaimed counted
	writer
}

// NewTender returns controllers that release a block which has been empty for grace. Tell it all nodes and all blocks
// to start.
func NewTender(pools Pools, grace time.Duration) *Tender {
	return &Tender{pools: pools, grace: grace, view: newView(), empty: make(map[string]time.Time), reclaimed: counted{}}
}

// Step takes an event and returns what follows from it, in order.
func (t *Tender) Step(now time.Time, ev Event) []Effect {
	t.now, t.effects = now, nil
	switch ev := ev.(type) {
	case NodesListed:
		t.alive = make(map[string]bool, len(ev.Hosts))
		for _, host := range ev.Hosts {
			t.alive[host] = true
		}
		t.soon(now)
	case NodeSeen:
		t.alive[ev.Host] = true
	case NodeGone:
		delete(t.alive, ev.Host)
		t.soon(now)
	case BlocksListed:
		t.view.list(ev.Blocks)
		t.soon(now)
	case BlockSeen:
		t.view.see(ev.Block)
		t.soon(now)
	case BlockGone:
		t.view.drop(ev.Block)
		t.soon(now)
	case PoolsChanged:
		t.pools = ev.Pools
		t.soon(now)
	case Wrote:
		t.wrote(ev)
	case Woke:
		if t.ring(now) && !t.busy(now) {
			t.decide()
		}
	default:
		panic(fmt.Sprintf("calico: unknown event %T", ev))
	}
	t.effects = t.wake(t.effects)
	return t.effects
}

// decide writes the first block that should be different, and sees to being woken when another one may be.
func (t *Tender) decide() {
	if t.alive == nil || !t.view.listed {
		return
	}
	type share struct{ host, family string }
	affine := make(map[share]int)
	for _, s := range t.view.blocks {
		affine[share{s.Affinity, ipam.PoolOf(s.CIDR.Addr())}]++
	}
	var next time.Time
	for _, s := range t.view.blocks {
		if !s.Empty() {
			delete(t.empty, s.UID)
		} else if t.empty[s.UID].IsZero() {
			t.empty[s.UID] = t.now
		}
		at := t.empty[s.UID].Add(t.grace)
		if b, changed := t.pools.Tend(s.Block, !at.After(t.now), affine[share{s.Affinity, ipam.PoolOf(s.CIDR.Addr())}]-1, func(host string) bool { return t.alive[host] }); changed {
			w := write(Tend, &s, b)
			w.Unless = taken(s.Block, b)
			t.effects = append(t.effects, t.begin(w))
			return
		}
		if s.Empty() && at.After(t.now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if !next.IsZero() {
		t.soon(next)
	}
}

// taken are the hosts that lose addresses from one state of a block to the next, in the order of the addresses.
func taken(was, is Block) (hosts []string) {
	seen := make(map[string]bool)
	for i, h := range was.Hosts {
		if h != "" && is.Hosts[i] != h && !seen[h] {
			seen[h] = true
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// wrote goes on behind a write.
func (t *Tender) wrote(ev Wrote) {
	w, ok := t.end()
	switch {
	case !ok:
	case ev.Outcome == ipam.Done:
		t.reclaim(w.Was, w.Block.Block)
		t.view.wrote(w, ev.Block)
		t.soon(t.now)
	default:
		t.pause(t.soon(t.now.Add(retryTime)))
	}
}

// Pending says what is under way beside waiting for a time, "" when nothing is.
func (t *Tender) Pending() string {
	switch {
	case t.alive == nil || !t.view.listed:
		return "is starting"
	case t.busy(t.now) || t.due(t.now):
		return "is at work"
	}
	return ""
}
