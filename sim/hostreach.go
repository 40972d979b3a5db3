package sim

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/sim/internal/view"
)

// reach is what was reported last of whether a machine's host answers.
type reach struct {
	told bool
	last fact.HostReach
	// life is VPP's when the host last answered.
	life int
}

// protoTCP is IP's number of it: strangers ask for a connection, as a ping would be VPP's to answer.
const protoTCP = 6

// lookAtHost reports whether a host whose NIC VPP takes answers, when that or the state of its programs has changed. It is
// called after whatever could have changed it.
func (m *machine) lookAtHost() {
	if m.uplink() == "" {
		return
	}
	r := &m.reach
	if !m.up || m.gone {
		r.told = false // NodeGone says all
		return
	}
	if m.vppPaused {
		r.life = -1 // for the host it has died, until the host answers again
	}
	now := fact.HostReach{Reached: true, AgentUp: m.proc != nil && !m.proc.paused, VPPLived: m.vpp != nil && !m.vppPaused && m.vppLife == r.life, Why: "", Way: nil}
	n := fact.NodeState{Name: m.name, MachineUp: true, VPPUp: m.vpp != nil && !m.vppPaused, Uplink: m.uplink(), Linux: m.host}
	if n.VPPUp {
		n.VPP = view.Of(m.vpp)
	}
	for k := range m.management {
		n.Address = m.w.s.Management(m.number, k)
		w := walk.New(fact.Snapshot{Nodes: []fact.NodeState{n}})
		for _, other := range [...]netip.Addr{m.w.s.HostGateway(0), scenarios.Stranger} {
			there := walk.Packet{Src: other, Dst: n.Address.Addr(), Proto: protoTCP}
			if out := w.Outcome(walk.FromWire(m.name), there); !out.To(m.name, "") {
				missed(&now, "a connection from "+other.String()+" is "+out.String(), w.Path())
				break
			}
			// Where both have the address, either answers ARP requests for it.
			if answers(n.VPP, there.Dst) {
				if out := w.Outcome(walk.FromWireToVPP(m.name), there); !out.To(m.name, "") {
					missed(&now, "a connection from "+other.String()+" that reaches VPP is "+out.String(), w.Path())
					break
				}
			}
			back := walk.Packet{Src: n.Address.Addr(), Dst: other, Proto: protoTCP}
			if out := w.Outcome(walk.FromHost(m.name), back); out.Kind != walk.Left {
				missed(&now, "an answer to "+other.String()+" is "+out.String(), w.Path())
				break
			}
		}
	}
	if now.Reached {
		r.life = m.vppLife
		now.VPPLived = n.VPPUp
	}
	if r.told && now.Same(r.last) {
		return
	}
	r.told, r.last = true, now
	m.fact(fact.Fact{What: now})
}

// answers reports whether a VPP, nil for none, answers ARP requests for an address out of a NIC, which has to be up.
func answers(v fact.VPP, addr netip.Addr) bool {
	if v == nil {
		return false
	}
	for i := range v.Interfaces() {
		if i.Type == fact.TypeNIC && i.Up && slices.ContainsFunc(i.Addrs, func(a netip.Prefix) bool { return a.Addr() == addr }) {
			return true
		}
	}
	return false
}

func missed(r *fact.HostReach, why string, p walk.Path) {
	r.Reached, r.Why, r.Way = false, why, p.Way()
}
