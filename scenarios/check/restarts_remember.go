package check

import (
	"maps"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const restartsRememberName = "restarts-remember"

// restartsRemember: a starting agent holds the address of each sandbox whose ADD was answered and that it has not
// released, and no address of a sandbox whose DEL was answered. This holds however the previous process ended, and
// whatever the disk kept of its last writes.
//
// Unanswered releases and leases of the previous process may be there or not. Sandboxes of a rebooted machine are read
// back like others, and released then. A snapshot has no history.
func restartsRemember() fact.Law {
	return fact.Law{
		Name:    restartsRememberName,
		Rule:    "A starting agent holds exactly the addresses that were answered and not released, however it ended before.",
		Why:     "An address forgotten by a restart is given to a second pod; a released address that comes back is leaked.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Sandboxes},
		Watch:   func() fact.Watcher { return &memoryWatcher{nodes: map[string]*memory{}} },
	}
}

// memory is what one node's agent must remember: answered addresses, and owners whose DEL was answered. A leased owner
// is not gone, because a sandbox may be requested again before the answer to its DEL.
type memory struct {
	told         map[ipam.Owner]netip.Addr
	leased, gone map[ipam.Owner]bool
}

type memoryWatcher struct {
	nodes  map[string]*memory
	checks int64
}

func (w *memoryWatcher) Checks() int64 { return w.checks }

func (w *memoryWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Answered:
		w.of(f.Node).told[x.Owner] = x.Addr
	case fact.Leased:
		m := w.of(f.Node)
		m.leased[x.Owner] = true
		delete(m.gone, x.Owner)
	case fact.Released:
		m := w.of(f.Node)
		delete(m.told, x.Owner)
		delete(m.leased, x.Owner)
	case fact.Deleted:
		m := w.of(f.Node)
		delete(m.told, x.Owner)
		if !m.leased[x.Owner] {
			m.gone[x.Owner] = true
		}
	case fact.NodeGone:
		if x.Left {
			delete(w.nodes, f.Node)
		}
	case fact.AgentUp:
		return w.started(f, x)
	}
	return nil
}

func (w *memoryWatcher) of(node string) *memory {
	m := w.nodes[node]
	if m == nil {
		m = &memory{map[ipam.Owner]netip.Addr{}, map[ipam.Owner]bool{}, map[ipam.Owner]bool{}}
		w.nodes[node] = m
	}
	return m
}

// started compares an agent's restored leases with its earlier answers, and reports the first owner that differs.
func (w *memoryWatcher) started(f *fact.Fact, x fact.AgentUp) error {
	m := w.nodes[f.Node]
	if m == nil {
		return nil
	}
	lost := maps.Clone(m.told)
	w.checks += int64(len(m.told) + len(m.gone))
	for i := range x.Leases {
		l := &x.Leases[i]
		if m.gone[l.Owner] {
			return broken(restartsRememberName, f.At, f.Node,
				"the agent starts with %s for %s, whose DEL was answered: check what the journal held of its release",
				l.Addr, l.Owner)
		}
		if lost[l.Owner] == l.Addr {
			delete(lost, l.Owner)
		}
	}
	clear(m.gone) // a record that was not read once is not read again
	clear(m.leased)
	for i := range x.Leases {
		m.leased[x.Leases[i].Owner] = true
	}
	var first ipam.Owner
	for o := range lost { //vppdrill:unordered the first in their order is reported
		if first == (ipam.Owner{}) || o.String() < first.String() {
			first = o
		}
	}
	if first != (ipam.Owner{}) {
		return broken(restartsRememberName, f.At, f.Node,
			"the agent starts without %s of %s, whose ADD was answered: check what the journal held of its lease",
			lost[first], first)
	}
	return nil
}
