package sim

import (
	"time"

	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/tapv2"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

const (
	// hitLasts is for how long what was injected explains that an agent is late: longer than its patience with a lost
	// answer and the look around that follows.
	hitLasts = time.Minute
	// abandonedLeast is how long an able node may take for a request: longer than an ADD's patience with what refuses its
	// wiring.
	abandonedLeast = 50 * time.Second
)

// hit notes that something was injected into an operation of the machine's.
func (m *machine) hit(op fault.Op, v fault.Verdict) {
	if v.Action == fault.Refuse && op.Kind == fault.KindDataplane {
		m.refusedAt = m.w.eng.Now()
		return
	}
	m.hitAt = m.w.eng.Now()
}

// refusedCall reports a call that VPP or Linux have refused by themselves. Injected faults explain none of them: after
// a call without an answer an agent looks at the state first, and it makes nothing on top of a refused object. A call
// that an injector has made twice is explained.
func (m *machine) refusedCall(c vppwire.Call, err error) {
	if !c.Writes() {
		return
	}
	if m.repeatedAt != 0 && m.w.eng.Now()-m.repeatedAt < hitLasts {
		return
	}
	if c.Key().Kind == vppwire.KindVXLAN && m.proc != nil && !m.proc.sawNode {
		// the tunnel of the machine's former ID is in the way, and nothing is removed before the API server has listed the
		// nodes
		return
	}
	m.fact(fact.Fact{What: fact.CallRefused{Call: c.Name() + " of " + c.Key().String() + ": " + err.Error(), Netns: m.missing(c), Calm: m.undisturbed()}})
}

// undisturbed reports whether nothing was injected into the machine lately.
func (m *machine) undisturbed() bool {
	hit := max(m.hitAt, m.refusedAt)
	return hit == 0 || m.w.eng.Now()-hit >= hitLasts
}

// missing is the namespace that a call needs and that is not there, "" for none. An AF_PACKET interface, and whatever
// is set on its device, needs that of the device's other end.
func (m *machine) missing(c vppwire.Call) string {
	netns := []string{c.Key().Netns}
	switch req := c.Request().(type) {
	case *tapv2.TapCreateV3:
		netns = append(netns, req.HostNamespace)
	case *af_packet.AfPacketCreateV3:
		netns = append(netns, m.host.WentWith(req.HostIfName))
	}
	switch op := c.LinuxOp().(type) {
	case vppwire.VethAdd:
		netns = append(netns, op.Netns, op.PeerNetns)
	case vppwire.LinkSet, vppwire.OffloadSet:
		netns = append(netns, m.host.WentWith(c.Key().Name))
	}
	for _, path := range netns {
		if path != "" && !m.host.HasNamespace(path) {
			return path
		}
	}
	return ""
}

// patience is how long an ADD that the agent has refused had to wait for its wiring. It is 0 where another reason
// refused it: its pod asks for an address that it cannot have, the refuser is unknown, VPP holds as many AF_PACKET interfaces as it survives, or the node has no ID yet.
func (w *World) patience(node string, r cluster.CNIResult) time.Duration {
	m := w.machines[node]
	if m == nil || r.Code != uint32(agent.CodeTryAgain) || r.Exhausted || r.Crowded || r.Unmet || unknown(r) || m.seen.ID() == 0 {
		return 0
	}
	return m.clocks.truly(w.agentConfig.AddPatience)
}

// crowded reports whether VPP holds as many AF_PACKET interfaces as it survives.
func (m *machine) crowded() bool {
	most, limited := vppwire.AFPacketRoom(vppmodel.Version)
	if !limited || m.vpp == nil {
		return false
	}
	return m.vpp.AFPackets() >= most
}

// misfit reports whether the cluster's address ranges have no room for the node's ID, and its agent does not know any
// that had and has not wired the node: an ID from a store that had lost its data may be a great one, and only people
// can change ranges.
func (m *machine) misfit() bool {
	return m.proc != nil && m.seen.ID() != 0 && m.proc.agent.Node().ID == 0 && m.w.pools.Room(m.seen.ID()) != nil
}

// numberless reports whether the node has no ID and there is none for it: each that the address ranges have room for
// has a record.
func (m *machine) numberless() bool {
	if m.proc == nil || m.seen.ID() != 0 {
		return false
	}
	held := map[uint32]bool{}
	for _, item := range m.w.store.Store.Look(nodeid.Prefix) {
		if r, err := nodeid.ParseRecord(item.Value); err == nil {
			held[r.ID] = true
		}
	}
	id := uint32(1)
	for held[id] {
		id++
	}
	return m.w.pools.Room(id) != nil
}

// able reports whether a machine can answer CNI requests at this moment. The other nodes must have acknowledged the
// addresses that the agent takes, which it learns late if its watches are late.
func (m *machine) able() bool {
	_, registered := m.w.api.Node(m.name)
	return registered && m.up && m.proc != nil && !m.proc.paused && m.proc.client.Faults.Lag == 0 && !m.lacksVPP() && !m.vppPaused && m.seen.ID() != 0 && len(m.seen.Blocks()) > 0 &&
		(!m.w.s.Config.Leases(m.name) || m.leased().IsValid())
}
