package museum

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// giveBack returns idle units every half a minute, by node.
type giveBack map[string]time.Time

func (g giveBack) step(m *manager, now time.Time, ev datastore.Event) []datastore.Effect {
	if c, ok := ev.(datastore.Called); ok && c.Result.Number >= own {
		return nil
	}
	effects := m.inner(now, ev)
	if _, woke := ev.(datastore.Woke); !woke || asks(effects) || !m.Ready() || now.Before(g[m.node].Add(30*time.Second)) {
		return effects
	}
	g[m.node] = now
	for _, eni := range m.pool.ENIIDs() {
		for _, p := range m.pool.IdleUnits(eni) {
			if err := m.pool.DelIPv4CidrFromStore(eni, p, false); err == nil {
				return append(effects, datastore.Perform{Call: datastore.Call{Number: own, Op: datastore.UnassignUnits, ENI: eni, Prefixes: []netip.Prefix{p}}})
			}
		}
	}
	return effects
}

// returning deletes interfaces that have been out of a daemon's data store and came back, by node and interface.
type returning map[[2]string]*comeback

type comeback struct {
	out  bool
	back time.Time
}

func (r returning) step(m *manager, now time.Time, ev datastore.Event) []datastore.Effect {
	if c, ok := ev.(datastore.Called); ok && c.Result.Number >= own {
		return nil
	}
	effects := m.inner(now, ev)
	here := m.pool.ENIIDs()
	for _, eni := range here {
		key := [2]string{m.node, eni}
		if r[key] == nil {
			r[key] = &comeback{}
		}
		if c := r[key]; c.out && c.back.IsZero() {
			c.back = now
		}
	}
	for key, c := range r { // in any order: each by itself
		c.out = c.out || key[0] == m.node && !slices.Contains(here, key[1])
	}
	if _, woke := ev.(datastore.Woke); !woke || asks(effects) {
		return effects
	}
	for _, eni := range here {
		if c := r[[2]string{m.node, eni}]; !c.back.IsZero() && now.Sub(c.back) > time.Minute {
			*c = comeback{}
			return append(effects, datastore.Perform{Call: datastore.Call{Number: own, Op: datastore.DeleteENI, ENI: eni}})
		}
	}
	return effects
}
