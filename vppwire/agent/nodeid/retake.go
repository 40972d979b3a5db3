package nodeid

// retake keeps the ID for the new Node object of a machine that lived on while its old one was deleted: pods and peers keep their
// addresses, where another ID would move them all. It is as safe as writing a lost record again: who takes an ID writes over the record
// that was read, and so finds ours, under whichever UID: a Node object may be made anew more often than its agent hears of. False when
// the ID is another node's by now.
func (m *Machine) retake() bool {
	c := &m.claim
	e := m.view.entry(c.ID)
	switch {
	case c.lost != "":
		return false
	case e != nil && m.ours(e, m.uid): // written, by this life or by one whose answer was lost
		c.UID = m.uid
		m.log(Info, "node ID %d is kept for the new Node object", c.ID)
		m.emit(Save(c.Claim))
		m.changed |= StandingChanged | WantsAct
		return true
	case e != nil && (e.malformed || e.name != m.cfg.Name), m.recordOf(m.uid) != nil:
		return false
	}
	_, fits := m.plan.Block(c.ID)
	return fits && m.write(Claim{c.ID, m.uid}, e)
}
