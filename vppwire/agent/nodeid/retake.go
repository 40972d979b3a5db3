package nodeid

// retake keeps the ID for the new Node object of a machine that lived on while its old one was deleted: pods and peers keep their
// addresses, where another ID would move them all. It is as safe as writing a lost record again: who takes an ID writes over the record
// that was read, and so finds ours, under whichever UID: a Node object may be made anew more often than its agent hears of. False when
// the ID is another node's by now.
func (m *Machine) retake() bool {
	c := &m.claim
	e := m.view.entry(c.ID)
	switch {
	case c.lost != "" || e == nil && m.hasRecord(m.uid):
		return false
	case e != nil && m.ours(e, m.uid): // written, by this life or by one whose answer was lost
		c.UID = m.uid
		m.log(Info, "node ID %d is kept for the new Node object", c.ID)
		m.emit(Save(c.Claim))
		m.changed |= StandingChanged | WantsAct
		return true
	case e != nil && (e.malformed || e.name != m.cfg.Name || m.hasRecord(m.uid)):
		return false
	}
	if _, ok := m.plan.Block(c.ID); !ok {
		return false
	}
	to := Claim{c.ID, m.uid}
	if e == nil { // the store has lost it
		r, ok := m.plan.Record(to, nil)
		if ok {
			m.ask(Request{Op: Create, Key: recordKey(c.ID), Value: r.String()})
		}
		return ok
	}
	old := e.record()
	r, ok := m.plan.Record(to, &old)
	if ok {
		m.ask(Request{Op: Update, Key: recordKey(c.ID), Value: r.String(), Revision: e.rev})
	}
	return ok
}

// hasRecord reports whether some record is this Node object's.
func (m *Machine) hasRecord(uid string) bool {
	for i := range m.view.entries {
		if e := &m.view.entries[i]; m.ours(e, uid) {
			return true
		}
	}
	return false
}
