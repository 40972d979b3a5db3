package nodeid

// displaced is the record of a node that is there, in whose place another node's stands in a store that is not
// complete, nil for none. Nobody claims an ID in such a store: that one's claim was on its way when the store lost its
// data, and is returned. Until then the ID's holder is reached by what its record said, as one without a record is.
func (m *Machine) displaced(was, now *entry) *entry {
	if was.former != nil {
		was = was.former
	}
	switch {
	case m.cfg.Patience < 0 || m.barrier.marked(), !now.live(): // such a record means what it says
	case !was.lost && (!was.live() || was.value == ""), was.malformed:
	case was.uid == now.uid || was.name == m.cfg.Name || !m.members.present(was):
	default:
		return was.asLost()
	}
	return nil
}

// asLost is a lost entry of the same record.
func (e *entry) asLost() *entry {
	return &entry{id: e.id, deleted: true, lost: true, rev: e.rev, reading: e.reading}
}

// believe takes what stands in other records' places for what it says, where which reports so.
func (m *Machine) believe(which func(former *entry) bool) {
	v := &m.view
	if v.lost == 0 {
		return
	}
	for i := range v.entries {
		if e := &v.entries[i]; e.former != nil && which(e.former) {
			e.former = nil
			v.lost--
			m.emit(RecordChanged{ID: e.id})
		}
	}
}
