package sim

import (
	"fmt"
	"time"

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

// hasty tells of a record of a gone node that is released before the turn of those who come first is over.
func (p *process) hasty(r *nodeid.Record, tell func(text, why string)) {
	w := p.m.w
	gone, known := w.departed[r.UID]
	if !known || r.ReleasedAt.IsZero() || r.Name == p.m.name {
		return
	}
	first := 0
	for _, h := range w.heldIDs() {
		if m := w.machines[h.Name]; h.ID < p.agent.ID() && m != nil && m.up && m.proc != nil && m.proc.agent.ID() == h.ID && gone-m.ableAt >= turnKnown {
			first++
		}
	}
	if waited, least := w.eng.Now()-gone, p.m.clocks.truly(time.Duration(first)*releaseTurn); waited < least-least/100 {
		tell(fmt.Sprintf("the release of node ID %d", r.ID), fmt.Sprintf("comes %s after its node has gone, where %d nodes come first and have %s each", waited, first, releaseTurn))
	}
}
