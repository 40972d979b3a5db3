package datastore

import (
	"maps"
	"net/netip"
	"slices"
	"time"
)

// imds compares the metadata service's answer with the store, set by set; at the first difference EC2 is asked. Equal
// numbers are no comparison: one address may have been swapped for another.
func (m *Manager) imds(now time.Time, r Result) {
	switch {
	case r.Err != nil:
		m.note("read-imds: %v", r.Err)
	case len(r.ENIs) == 0:
		m.note("read-imds: no ENI at all is not believed")
	case m.differs(now, r.ENIs):
		m.ask(now, Call{Op: DescribeENIs})
	default:
		m.looked(now)
	}
}

// looked: the store is what is attached, but for what was given back lately.
func (m *Manager) looked(now time.Time) {
	maps.DeleteFunc(m.unsure, func(_ freedUnit, at time.Time) bool { return now.Sub(at) >= freedMemory })
}

func (m *Manager) differs(now time.Time, seen []AttachedENI) bool {
	known := 0
	for _, e := range m.present(now, seen) {
		units := m.ds.Units(e.ID)
		switch {
		case units != nil:
			known++
			if !slices.Equal(units, m.without(now, e)) {
				return true
			}
		case !m.unmanaged[e.ID] && m.joiner(e.ID) < 0:
			return true
		}
	}
	return known != m.ds.GetENIs()
}

// present are the ENIs without those that were deleted so lately that they may still be seen: no ID comes again.
func (m *Manager) present(now time.Time, seen []AttachedENI) []AttachedENI {
	return slices.DeleteFunc(slices.Clone(seen), func(e AttachedENI) bool {
		at, ok := m.freed[freedUnit{eni: e.ID}]
		return ok && now.Sub(at) < freedMemory
	})
}

// without is the ENI's units in ascending order, less those that it gave back so lately that they may still be seen.
func (m *Manager) without(now time.Time, e AttachedENI) []netip.Prefix {
	out := slices.DeleteFunc(slices.Clone(e.Units), func(p netip.Prefix) bool {
		at, ok := m.freed[freedUnit{e.ID, p}]
		return ok && now.Sub(at) < freedMemory
	})
	slices.SortFunc(out, netip.Prefix.Compare)
	return out
}

// described makes the store what EC2 has attached. This is the only place where ENIs and addresses leave the store
// without this Manager having given them back.
func (m *Manager) described(now time.Time, r Result) {
	if r.Err == nil && !slices.ContainsFunc(r.ENIs, func(e AttachedENI) bool { return e.Primary }) {
		r.Err = errNoPrimary
	}
	if r.Err != nil {
		m.fail(now, "describe-enis", r.Err)
		m.doubt = m.doubt || m.phase == running
		return
	}
	m.succeeded()
	m.doubt = false
	r.ENIs = m.present(now, r.ENIs)
	maps.DeleteFunc(m.freed, func(_ freedUnit, at time.Time) bool { return now.Sub(at) >= freedMemory })
	m.looked(now)
	managed := FilterUnmanagedENIs(r.ENIs)
	clear(m.attached)
	clear(m.unmanaged)
	for _, e := range r.ENIs {
		m.attached[e.ID] = true
		m.unmanaged[e.ID] = !slices.ContainsFunc(managed, func(x AttachedENI) bool { return x.ID == e.ID })
	}
	m.joining = slices.DeleteFunc(m.joining, func(j joining) bool { return !m.attached[j.ID] })
	for _, id := range m.ds.ENIIDs() {
		if !m.attached[id] {
			m.note("EC2 does not have %s", id)
			m.check(m.ds.RemoveENIFromDataStore(id, true))
		}
	}
	for _, e := range managed {
		switch {
		case m.ds.Units(e.ID) != nil:
			m.sync(now, e)
		case m.joiner(e.ID) < 0:
			m.joining = append(m.joining, joining{AttachedENI: e, at: now})
		}
	}
	if m.phase == unborn {
		m.phase = adopting
	}
}

type constant string

func (c constant) Error() string { return string(c) }

const errNoPrimary = constant("an answer without a primary ENI is not believed")

// sync makes the units of an ENI in the store those that EC2 has.
func (m *Manager) sync(now time.Time, e AttachedENI) {
	have, want := m.ds.Units(e.ID), m.without(now, e)
	for _, p := range have {
		if _, ok := slices.BinarySearchFunc(want, p, netip.Prefix.Compare); !ok {
			m.note("EC2 does not have %s of %s", p, e.ID)
			m.check(m.ds.DelIPv4CidrFromStore(e.ID, p, true))
		}
	}
	for _, p := range want {
		if _, ok := slices.BinarySearchFunc(have, p, netip.Prefix.Compare); !ok {
			m.add(e.ID, []netip.Prefix{p})
		}
	}
}

func (m *Manager) check(err error) {
	if err != nil {
		m.note("%v", err)
	}
}
