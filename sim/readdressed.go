package sim

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// readdressed is the address that an event gives a node which stands with another one, the zero Prefix where it does not, or where a write of the journal
// is under way, behind which the next one waits.
func (p *process) readdressed(ev agent.Event) netip.Prefix {
	e, told := ev.(agent.OwnAddress)
	if !told || e.Addr == p.ownTold {
		return netip.Prefix{}
	}
	p.ownTold = e.Addr
	if n := p.agent.Node(); n.ID == 0 || n.Address == e.Addr || !p.m.saved.certain() {
		return netip.Prefix{}
	}
	return e.Addr
}

// remembers tells of a node's new address that its agent does not write into the journal: the next life would begin with the old one.
func (p *process) remembers(addr netip.Prefix, effects []agent.Effect) {
	if !addr.IsValid() {
		return
	}
	for _, e := range effects {
		w, writes := e.(agent.Persist)
		if writes && slices.ContainsFunc(w.Records, func(r agent.Record) bool { return r.Kind == agent.RecordNode && r.NodeAddress == addr }) {
			return
		}
	}
	p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "the node's new address " + addr.String(), Broken: "is not written into the journal, so that the next life begins with the old one"})
}
