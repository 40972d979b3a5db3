package datastore

import (
	"errors"
	"net/netip"
	"slices"
	"time"
)

// pool takes one step towards the targets.
func (m *Manager) pool(now time.Time) {
	if err := m.ds.Flush(); err != nil {
		m.note("%v", err)
	}
	if m.sizing.TrunkSlot && !m.trunkWanted && m.ds.GetTrunkENI() == "" {
		m.trunkWanted = true
		m.effects = append(m.effects, WantTrunk{})
	}
	// While an ENI is on its way in, its addresses are missing in every count.
	if m.stopping || len(m.joining) > 0 || now.Before(m.retry) {
		return
	}
	if m.giveBackAgain(now) {
		return
	}
	s := m.ds.GetIPStats()
	if g, ok := m.grow(s); ok {
		op := AssignUnits
		if g.ENI == "" {
			op = CreateENI
		}
		m.ask(now, Call{Op: op, ENI: g.ENI, Units: g.Units, Delegated: m.sizing.PrefixDelegation})
		return
	}
	if m.sizing.TooHigh(s) && now.Sub(m.lastDecrease) >= decreaseInterval {
		m.lastDecrease = now
		if m.decrease(now) {
			return
		}
	}
	if m.sizing.ShouldRemoveExtraENIs(s) {
		if id := m.ds.RemoveUnusedENI(m.sizing.Spare); id != "" {
			m.ask(now, Call{Op: DeleteENI, ENI: id})
		}
	}
}

// grow says what is to be asked for.
func (m *Manager) grow(s Stats) (Growth, bool) {
	return m.sizing.Grow(s, m.ds.rooms(), len(m.attached)-m.ds.GetENIs())
}

// Short reports whether the node has less than its targets, and the Manager, which sleeps, is going to ask for more
// when it wakes. What EC2 refused last is not counted: it may be so for ever.
func (m *Manager) Short() bool {
	if m.phase != running || m.stopping || m.failures > 0 || m.doubt {
		return false
	}
	_, ok := m.grow(m.ds.GetIPStats())
	return ok
}

// grown puts what EC2 gave into the store.
func (m *Manager) grown(now time.Time, c Call, r Result) {
	if r.Err == nil {
		m.succeeded()
		m.add(c.ENI, r.Prefixes)
		return
	}
	// A subnet with less than was asked for may have one: EC2 gives all or nothing. With prefix delegation a subnet
	// without a /28 in one piece gives nothing, as ipamd asks for no single addresses then, and pods wait.
	if code := codeOf(r.Err); c.Units > 1 && (code == codeNoBlock || code == codeSubnetFull) {
		m.note("%s: %v", c, r.Err)
		m.ask(now, Call{Op: AssignUnits, ENI: c.ENI, Units: 1, Delegated: c.Delegated})
		return
	}
	m.fail(now, c.String(), r.Err)
}

// add puts units that EC2 has given into the store.
func (m *Manager) add(eni string, units []netip.Prefix) {
	for _, p := range units {
		delete(m.freed, freedUnit{eni, p})
		if err := m.ds.AddIPv4CidrToStore(eni, p); err != nil {
			m.note("add %s to %s: %v", p, eni, err)
		}
	}
}

// decrease gives idle units of one ENI back and reports whether it found any: from the last ENI and the highest
// address, because assignments start at the other end.
func (m *Manager) decrease(now time.Time) bool {
	excess := m.sizing.Excess(m.ds.GetIPStats())
	if excess == 0 {
		return false
	}
	bits := 32
	if m.sizing.PrefixDelegation {
		bits = DelegatedBits
	}
	for _, id := range slices.Backward(m.ds.ENIIDs()) {
		units := slices.DeleteFunc(m.ds.IdleUnits(id), func(p netip.Prefix) bool { return p.Bits() != bits })
		if len(units) == 0 {
			continue
		}
		units = units[max(len(units)-excess, 0):]
		for _, p := range units {
			if err := m.ds.DelIPv4CidrFromStore(id, p, false); err != nil {
				m.note("remove %s of %s: %v", p, id, err)
			}
			m.freed[freedUnit{id, p}] = now
		}
		m.ask(now, Call{Op: UnassignUnits, ENI: id, Prefixes: units})
		return true
	}
	return false
}

// shrunk goes on with the next ENI. What EC2 or the node refused to give back is still attached, so EC2 is asked. What
// they did not answer may be taken yet, and is not believed to be attached for as long as what was given back.
//
// Units of a call that was throttled are attached for certain. They stay out of the store until the call is repeated:
// put in and taken out with each try, they would come and go at the agent for as long as the limit holds.
func (m *Manager) shrunk(now time.Time, c Call, r Result) {
	if codeOf(r.Err) == codeThrottled {
		m.throttled = c
		m.keepOut(now, c)
		m.fail(now, c.String(), r.Err)
		return
	}
	if r.Err != nil {
		refused := codeOf(r.Err) != "" || errors.Is(r.Err, ErrIPInUse)
		for _, p := range c.Prefixes {
			if u := (freedUnit{c.ENI, p}); refused {
				delete(m.freed, u)
			} else {
				m.freed[u], m.unsure[u] = now, now
			}
		}
		m.fail(now, c.String(), r.Err)
		m.doubt = true
		return
	}
	m.succeeded()
	if !m.stopping {
		m.decrease(now)
	}
}

// keepOut has looks at EC2 not take units for attached that are being given back.
func (m *Manager) keepOut(now time.Time, c Call) {
	for _, p := range c.Prefixes {
		m.freed[freedUnit{c.ENI, p}] = now
	}
}

// giveBackAgain repeats a call that was throttled, and reports whether it asked. Where addresses are wanted meanwhile its
// units are the first to come back, and those that a look at EC2 has put into the store stay there.
func (m *Manager) giveBackAgain(now time.Time) bool {
	if m.throttled.Number == 0 {
		return false
	}
	c, in := m.throttled, m.ds.Units(m.throttled.ENI)
	m.throttled = Call{}
	c.Prefixes = slices.DeleteFunc(slices.Clone(c.Prefixes), func(p netip.Prefix) bool { return slices.Contains(in, p) })
	if len(c.Prefixes) == 0 {
		return false
	}
	if _, wanted := m.grow(m.ds.GetIPStats()); wanted {
		m.add(c.ENI, c.Prefixes)
		return false
	}
	m.keepOut(now, c)
	m.ask(now, c)
	return true
}

// created lets a new ENI join. One whose creation failed may be there all the same.
func (m *Manager) created(now time.Time, r Result) {
	if r.Err == nil && len(r.ENIs) == 0 {
		m.doubt = true
		return
	}
	if r.Err != nil {
		m.fail(now, "create-eni", r.Err)
		// ENIs of somebody else may have reached the limit. Being throttled proves nothing, and asking costs a request too.
		m.doubt = m.doubt || codeOf(r.Err) == codeTooManyENIs
		return
	}
	m.succeeded()
	for _, e := range r.ENIs {
		m.attached[e.ID] = true
		m.joining = append(m.joining, joining{AttachedENI: e, fresh: true, at: now})
	}
}

// deleted notes that an ENI is gone. One that could not be deleted comes back into the store and will be tried again.
func (m *Manager) deleted(now time.Time, c Call, r Result) {
	if r.Err != nil {
		if codeOf(r.Err) == "" {
			m.unsure[freedUnit{eni: c.ENI}] = now
		}
		m.fail(now, c.String(), r.Err)
		m.doubt = true
		return
	}
	m.succeeded()
	delete(m.attached, c.ENI)
	m.freed[freedUnit{eni: c.ENI}] = now
}
