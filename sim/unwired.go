package sim

import (
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// A cluster without wiring (config.wiring.pod none) is for questions about addresses: address systems, controllers, API server, scheduler,
// kubelets and agents are those of every run, and no VPP runs. What agents know of each other is for wiring alone, and grows with the square
// of the nodes: here each hears of its own Node object and its own record, and is given a node ID instead of asking for one.

// unwired reports whether nothing is wired.
func (w *World) unwired() bool { return !w.wiring.Wires() }

// wiringEvidence is what only wiring leaves.
var wiringEvidence = []fact.Evidence{
	fact.VPPTables, fact.LinuxTables, fact.VPPLives, fact.Removals, fact.Leftovers, fact.CleanStops, fact.NodeLeases, fact.OtherNICs, fact.Services, fact.Policies,
	fact.ReachedSettings, fact.Management, fact.Records, fact.IDRests, fact.HeldIDs,
}

// nodeIDs gives out node IDs in the place of agents: the smallest one that was never given, or one that has rested as long as agents let it.
type nodeIDs struct {
	last  uint32
	freed []freedID
}

type freedID struct {
	id uint32
	at time.Duration
}

// nodeID gives a machine its ID, the same in each of its lives.
func (m *machine) nodeID() uint32 {
	ids, now := &m.w.ids, m.w.eng.Now()
	switch {
	case m.id != 0:
	case len(ids.freed) > 0 && now-ids.freed[0].at >= m.w.agentConfig.NodeIDQuarantine:
		m.id = ids.freed[0].id
		ids.freed = ids.freed[1:]
	default:
		ids.last++
		m.id = ids.last
	}
	return m.id
}

// returnID takes back the ID of a machine that has left.
func (m *machine) returnID() {
	if m.id != 0 {
		m.w.ids.freed = append(m.w.ids.freed, freedID{m.id, m.w.eng.Now()})
	}
}

// lacksVPP reports whether no VPP runs where one should.
func (m *machine) lacksVPP() bool { return m.vpp == nil && !m.w.unwired() }

// identified adds the node's ID to what its journal says. It has none while there is no Node object: the agent is a pod, and starts when
// there is.
func (m *machine) identified(records []agent.Record) ([]agent.Record, bool) {
	node, ok := m.w.api.Node(m.name)
	if !ok {
		return nil, false
	}
	if slices.ContainsFunc(records, func(r agent.Record) bool { return r.Kind == agent.RecordNode }) {
		return records, true
	}
	return append(records, agent.Record{Kind: agent.RecordNode, NodeID: m.nodeID(), NodeUID: node.UID}), true
}

// ownWatch is what a watch of the node's own record alone would bring behind the answer to a write: agents take their blocks when it does.
func (p *process) ownWatch(e agent.StoreReply) {
	r := p.writing
	if r.ID != e.ID || e.Err != agent.StoreOK || p.watch == 0 || p.dead {
		return
	}
	p.step(agent.StoreChanged{Watch: p.watch, Revision: e.Revision,
		Items: []agent.StoreItem{{Key: r.Key, Value: r.Value, ModRevision: e.Revision, Deleted: r.Op == agent.StoreDelete}}})
}

// ownRecord makes a request for all records one for the node's own.
func (p *process) ownRecord(r agent.StoreRequest) agent.StoreRequest {
	if r.Op == agent.StoreList {
		r.Key = nodeid.Prefix + strconv.FormatUint(uint64(p.m.nodeID()), 10)
	}
	return r
}
