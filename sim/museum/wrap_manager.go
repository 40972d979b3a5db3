package museum

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// manager is one life of a node's ipamd with a planted fault around its steps.
type manager struct {
	controllers.Manager
	node string
	life int
	pool *datastore.NodePool
	// asked is the call that it has made last.
	asked   datastore.Call
	crashed bool
	step    func(m *manager, now time.Time, ev datastore.Event) []datastore.Effect
}

// managers wraps every ipamd of a run by one step.
func managers(step func(m *manager, now time.Time, ev datastore.Event) []datastore.Effect) *sim.Plant {
	lives := map[string]int{}
	return &sim.Plant{Controllers: controllers.Plant{Manager: func(node string, pool *datastore.NodePool, m controllers.Manager) controllers.Manager {
		lives[node]++
		return &manager{Manager: m, node: node, life: lives[node], pool: pool, step: step}
	}}}
}

// Ready implements controllers.Manager.
func (m *manager) Ready() bool { return !m.crashed && m.Manager.Ready() }

// Step implements controllers.Manager.
func (m *manager) Step(now time.Time, ev datastore.Event) []datastore.Effect {
	return m.step(m, now, ev)
}

// inner is the manager's own step, of which the effects may be kept.
func (m *manager) inner(now time.Time, ev datastore.Event) []datastore.Effect {
	effects := slices.Clone(m.Manager.Step(now, ev))
	for _, e := range effects {
		if p, ok := e.(datastore.Perform); ok {
			m.asked = p.Call
		}
	}
	return effects
}

// asks reports whether there is a call among effects. A driver has one at a time.
func asks(effects []datastore.Effect) bool {
	return slices.ContainsFunc(effects, func(e datastore.Effect) bool { _, call := e.(datastore.Perform); return call })
}
