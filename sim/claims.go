package sim

import (
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// claimed tells what became of a claim of a node ID, before the agent learns of it, where nothing disturbs the cluster.
func (p *process) claimed(e agent.StoreReply) {
	asked := p.storeRequest
	if asked.Op != agent.StoreCreate && asked.Op != agent.StoreUpdate || p.agent.ID() != 0 || e.Err != agent.StoreOK && e.Err != agent.StoreConflict {
		return
	}
	r, err := nodeid.ParseRecord(asked.Value)
	if err != nil || r.Name != p.m.name || !r.ReleasedAt.IsZero() || !p.m.w.isCalm(p.m.w.eng.Now()) {
		return
	}
	c := scenarios.ClaimedID{Refused: e.Err == agent.StoreConflict}
	if !c.Refused {
		c.Skipped, c.Joining = p.m.w.skipped(r)
	}
	p.m.fact(scenarios.Fact{Kind: scenarios.FactClaimed, Number: r.ID, Claim: &c})
}

// skipped counts the IDs before a claimed one that have no record, and the other nodes without one. It counts no ID where more than records may keep
// one from being given: blocks of ranges that were others, and nodes that hold one unseen.
func (w *World) skipped(claimed nodeid.Record) (ids, joining int) {
	recorded := map[string]bool{}
	ids = int(claimed.ID) - 1
	for _, item := range w.store.Store.Look(nodeid.Prefix) {
		r, err := nodeid.ParseRecord(item.Value)
		switch {
		case err == nil:
			recorded[r.UID] = true
			if r.ID < claimed.ID {
				ids--
			}
		case item.Key == nodeid.KeyAssumed:
			return 0, 0
		}
	}
	if w.rearranged {
		return 0, 0
	}
	objects, _ := w.api.List(cluster.KindNode, "")
	for _, o := range objects {
		if n := o.(*cluster.Node); n.Name != claimed.Name && !recorded[n.UID] {
			joining++
		}
	}
	return ids, joining
}
