package sim

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// recordChanged reports what the store does to a node's record.
func (w *World) recordChanged(before, after agent.StoreItem) {
	if len(w.listeners) == 0 {
		return
	}
	text := func(i agent.StoreItem) string {
		if i.Deleted {
			return ""
		}
		return i.Value
	}
	if c, ok := timeline.RecordChange(after.Key, text(before), text(after)); ok {
		w.emit(fact.Fact{Node: c.After.Name, What: c})
	}
}

// heldIDs are the records that are not marked as released.
func (w *World) heldIDs() (list []fact.HeldID) {
	for _, item := range w.store.Store.Look(nodeid.Prefix) {
		if r, err := nodeid.ParseRecord(item.Value); err == nil && r.ReleasedAt.IsZero() {
			list = append(list, fact.HeldID{ID: r.ID, Name: r.Name, UID: r.UID})
		}
	}
	return list
}

// tenant is the last holder of an address.
type tenant struct {
	m     *machine
	owner ipam.Owner
	netns string
}

// of is the namespace of the owner, empty where it is not this tenant.
func (t tenant) of(o ipam.Owner) string {
	if t.owner != o {
		return ""
	}
	return t.netns
}

// answered notes where an address is wired, and has the pod's program start.
func (w *World) answered(node string, s *cluster.Sandbox) {
	if m := w.machines[node]; m != nil {
		m.startProgram(s)
		w.tenants[s.Addr.Addr()] = tenant{m, s.Owner, s.Netns}
		if s.Second.IsValid() {
			w.tenants[s.Second.Addr()] = tenant{m, s.Owner.Second(), s.Netns}
		}
	}
}

// formerly looks for what machines still hold of an address that is leased to owner on m: on m, and where it was
// before.
func (m *machine) formerly(a netip.Addr, owner ipam.Owner) *fact.Leftover {
	last, had := m.w.tenants[a]
	if !had || last.owner == owner {
		return nil
	}
	delete(m.w.tenants, a)
	if l := last.m.leftover(a, last.owner, last.netns); l != nil || last.m == m {
		return l
	}
	return m.leftover(a, last.owner, "")
}

// leftover looks for what the machine still holds of an address that owner had, in this namespace where it is known.
func (m *machine) leftover(a netip.Addr, owner ipam.Owner, netns string) *fact.Leftover {
	if !m.up || m.gone {
		return nil
	}
	if m.vpp != nil {
		if thing, found := m.vpp.HostEntry(a); found {
			return &fact.Leftover{Node: m.name, Thing: thing, Owner: owner}
		}
	}
	if netns == "" {
		return nil
	}
	for l := range m.host.Links(netns) {
		if l.Type != "device" {
			return &fact.Leftover{Node: m.name, Thing: "link " + l.Name + " in its namespace", Owner: owner}
		}
	}
	return nil
}
