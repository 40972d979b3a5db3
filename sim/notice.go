package sim

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// notice is something that an agent hears of and that it has to say in the same step where people look: as an event with a reason, or, without one, in
// its log; request is one that it has to refuse in that step, with code unless that is 0; 0 for none.
type notice struct {
	what, reason string
	request      uint64
	code         agent.Code
}

// leaseLook is what VPP has said of the lease of the node's address.
type leaseLook struct {
	// found is what the last dump found, shown what the one before had that the agent was told of.
	found, shown bool
	// by is when, by the agent's clock, it is looked at again at the latest, zero where it is due or nobody knows.
	by time.Time
}

// look notes what a dump that is being answered finds.
func (l *leaseLook) look(m *machine, c vppwire.Call) {
	if c.Name() == leaseDump {
		l.by = time.Time{}
		l.found = m.leased().IsValid()
	}
}

// leaseWatched is how often an agent looks at the leases of its VPP at the least, as in the documents.
const leaseWatched = 5 * time.Second

// leaseDump tells of DHCP clients and their leases.
const leaseDump = "dhcp_client_dump"

// notices are what the agent is to say of an event.
func (p *process) notices(ev agent.Event) (list []notice) {
	w, name := p.m.w, p.m.name
	switch ev := ev.(type) {
	case agent.Persisted:
		if p.toldOf != p.gaveUp {
			list = append(list, notice{what: "a write of the agent's journal: " + errDisk.Error()})
		}
		p.toldOf = p.gaveUp
		for _, r := range p.open { // what the failed write, or one behind it, was to keep of an ADD may not be there after a crash
			if ev.Err != nil && r.seq >= ev.Seq {
				list = append(list, notice{what: "an ADD whose sandbox the disk has refused: " + errDisk.Error(), request: r.number})
			}
		}
	case agent.PodDel:
		for _, r := range p.open {
			if r.adds && r.owner == ev.Owner {
				list = append(list, notice{what: "an ADD whose sandbox is removed meanwhile", request: r.number})
			}
		}
	case agent.PodCheck:
		if !p.vppTold && p.stands(ev) {
			list = append(list, notice{what: "a CHECK while VPP is down, which is to be asked again", request: ev.Request, code: agent.CodeTryAgain})
		}
	case agent.VPPDown:
		p.lease, p.vppTold = leaseLook{}, false
		if ev.Silent {
			list = append(list, notice{what: "VPP runs and does not answer", reason: agent.ReasonSilent})
		}
	case agent.VPPUp:
		p.lease, p.vppTold = leaseLook{}, true
		for _, o := range w.s.Config.Settings(name).Others {
			if !slices.Contains(ev.NICs, o.Name) {
				list = append(list, notice{what: "a VPP without " + o.Name, reason: agent.ReasonNoNIC})
			}
		}
	case agent.Called:
		if p.call.call.Name() != leaseDump || ev.Result.Err != nil || !w.s.Config.Leases(name) {
			break
		}
		if p.lease.shown && !p.lease.found {
			list = append(list, notice{what: "the lease of the node's address has ended", reason: agent.ReasonLeaseLost})
		}
		p.lease.shown = p.lease.found
		if p.lease.found && p.agent.Node().ID != 0 { // else it may not know yet that it has a lease to look at
			p.lease.by = p.now().Add(leaseWatched)
		}
	}
	return list
}

// noticed tells what the agent has said of what it heard, and of pods that it refuses because VPP has no room for their interfaces.
func (p *process) noticed(list []notice, effects []agent.Effect) {
	for _, e := range effects {
		if a, is := e.(agent.Answer); is && strings.Contains(a.Message, vppwire.ErrNoRoom.Error()) {
			list = append(list, notice{what: "an ADD for which VPP has no room", reason: agent.ReasonNoRoom})
		}
	}
	for _, n := range list {
		said := ""
		for _, e := range effects {
			if said = n.saidBy(e); said != "" {
				break
			}
		}
		p.m.w.emit(scenarios.Fact{Kind: scenarios.FactTold, Node: p.m.name, Broken: n.what, Text: said})
	}
}

// saidBy is how an effect says it, "" for not at all.
func (n *notice) saidBy(e agent.Effect) string {
	switch e := e.(type) {
	case agent.Answer:
		if n.request != 0 && e.Request == n.request && e.Code != 0 && (n.code == 0 || e.Code == n.code) {
			return e.Message
		}
	case agent.Log:
		if n.request == 0 && e.Level >= int(slog.LevelWarn) && (n.reason == "" || n.reason == e.Reason) {
			return e.Message
		}
	}
	return ""
}

// stands reports whether the agent takes what a CHECK asks about for attached, with the address that the runtime knows.
func (p *process) stands(e agent.PodCheck) bool {
	for t := range p.agent.Attachments() {
		if t.Sandbox.Owner == e.Owner {
			return !t.Removing && !t.Stale && (!e.Addr.IsValid() || e.Addr == t.Lease.Addr)
		}
	}
	return false
}
