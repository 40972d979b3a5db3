package sim

import (
	"fmt"
	"reflect"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

const (
	// releaseTurn is how long each live node of a lower ID has, one after the other, to release the record of a node that is gone, as in the
	// documents.
	releaseTurn = 10 * time.Second
	// turnKnown is how long a node's agent has run until others surely know that it takes its turn.
	turnKnown = time.Minute
)

// nodeChanged notes when Node objects go.
func (w *World) nodeChanged(old, now cluster.Object) {
	if n, is := old.(*cluster.Node); is && now == nil {
		w.departed[n.UID] = w.eng.Now()
	}
}

// released notes since when a record is marked as released.
func (w *World) released(c *scenarios.RecordChange) {
	switch {
	case !c.After.Released:
		delete(w.releasedAt, c.After.UID)
	case !c.Before.Released || c.Before.UID != c.After.UID:
		w.releasedAt[c.After.UID] = w.eng.Now()
	}
}

// turnLate is how much later than its turn a node may write: the store may be busy with another request of its own.
const turnLate = 5 * time.Second

// outOfTurn tells of a record of a gone node that is marked, as released or as one whose ID has rested, before the turn of those who come first is over, and
// of one that is released long after the node's own turn has come, where the scenario has no faults that would explain it.
func (p *process) outOfTurn(r *nodeid.Record, tell func(text, why string)) {
	w, now := p.m.w, p.m.w.eng.Now()
	since, known := w.departed[r.UID]
	if !known || r.ReleasedAt.IsZero() || r.Name == p.m.name {
		return
	}
	text, rests := "the release of node ID %d", time.Duration(0)
	heard, told := p.goneAt[r.UID]
	at, released := w.releasedAt[r.UID]
	if rested := r.ReleasedAt.Equal(time.Unix(0, 0)); rested != released {
		return // it does not know yet what others have marked
	}
	if released {
		text, rests = "the mark that node ID %d has rested", p.m.clocks.truly(w.agentConfig.NodeIDQuarantine)
		since, told = at, false // when it has seen that, its rest has begun for it
	}
	first, most := 0, 0
	for _, h := range w.heldIDs() {
		if h.ID >= p.agent.ID() {
			continue
		}
		if _, left := p.goneAt[h.UID]; !left {
			most++
		}
		if m := w.machines[h.Name]; m != nil && m.up && m.proc != nil && m.proc.agent.ID() == h.ID && since-m.ableAt >= turnKnown {
			first++
		}
	}
	due := func(n int) time.Duration { return rests + p.m.clocks.truly(time.Duration(n)*releaseTurn) }
	text = fmt.Sprintf(text, r.ID)
	if waited, least := now-since, due(first); waited < least-least/100 {
		tell(text, fmt.Sprintf("comes after %s, where %d nodes come first and have %s each", waited, first, releaseTurn))
	}
	if !told || !reflect.DeepEqual(w.s.Faults, scenarios.Default().Faults) || w.calm.disturbedAt > since+time.Second || p.storeAsked != 0 || p.listing.unsure || p.m.ableAt > heard || p.listing.since > heard {
		return
	}
	could := max(heard+due(most), p.storeIdleAt)
	for _, at := range w.releasedAt { // in any order: who has been released since came first until then
		could = max(could, at)
	}
	if now-could > turnLate {
		tell(text, fmt.Sprintf("comes after %s, where %d nodes come first and have %s each", now-heard, most, releaseTurn))
	}
}
