package datastore

import (
	"slices"
	"time"
)

// join asks for the next step of an ENI on its way in and reports whether it did.
func (m *Manager) join(now time.Time) bool {
	for i := range m.joining {
		j := &m.joining[i]
		if now.Before(j.at) {
			continue
		}
		if j.fresh {
			m.ask(now, Call{Op: ReadIMDS, ENI: j.ID})
		} else {
			m.ask(now, Call{Op: SetUpENI, ENI: j.ID})
		}
		return true
	}
	return false
}

// awaited looks for a fresh ENI in an answer of the metadata service.
func (m *Manager) awaited(now time.Time, id string, r Result) {
	i := m.joiner(id)
	if i < 0 {
		return
	}
	j := &m.joining[i]
	switch {
	case r.Err == nil && slices.ContainsFunc(r.ENIs, func(e AttachedENI) bool { return e.ID == j.ID }):
		j.fresh, j.tries, j.at = false, 0, now
	case j.tries+1 >= awaitTries:
		m.note("%s was attached, but the metadata service does not show it", j.ID)
		m.unshown[j.ID] = now
		m.joining = slices.Delete(m.joining, i, i+1)
	default:
		j.tries++
		j.at = now.Add(awaitInterval)
	}
}

// setUp brings an ENI into the store once the host is ready for it. One that cannot be set up leaves the way to others;
// the next reconciliation tries again. Its pods' claims wait in the store.
func (m *Manager) setUp(now time.Time, c Call, r Result) {
	i := m.joiner(c.ENI)
	if i < 0 {
		return
	}
	j := &m.joining[i]
	if r.Err != nil {
		m.note("set up %s: %v", j.ID, r.Err)
		// At the start pods wait for all the others, so there is one try.
		if j.tries++; j.tries >= setUpTries || m.phase == adopting {
			m.joining = slices.Delete(m.joining, i, i+1)
			return
		}
		j.at = now.Add(setUpInterval)
		return
	}
	joined := j.AttachedENI
	delete(m.unshown, j.ID)
	m.joining = slices.Delete(m.joining, i, i+1)
	m.nextPool = now
	if err := m.ds.AddENI(joined.ID, joined.Device, joined.Primary, joined.Trunk); err != nil {
		m.note("add %s: %v", joined.ID, err)
		return
	}
	m.sync(now, joined)
}

func (m *Manager) joiner(id string) int {
	return slices.IndexFunc(m.joining, func(j joining) bool { return j.ID == id })
}
