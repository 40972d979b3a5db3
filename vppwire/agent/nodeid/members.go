package nodeid

import "slices"

// members is which nodes the cluster has, as the API server tells it.
type members struct {
	nodes nodes
	// round counts NodesListed; a node last told in an earlier round is gone, and one that was told before the list was
	// asked for.
	round uint32
	// listed: NodesListed has come once.
	listed bool
	// gone holds UIDs of Node objects that count as gone; guessed those of them that nobody has said to be.
	gone, guessed map[string]bool
	// alive holds UIDs whose nodes have taken a released ID back: they live, whatever we were told. Releasing again at
	// once would go on for ever.
	alive map[string]bool
	staleRecords
}

func (s *members) init() {
	s.gone, s.guessed, s.alive = map[string]bool{}, map[string]bool{}, map[string]bool{}
}

// present reports whether the record's node is known to exist.
func (s *members) present(e *entry) bool {
	_, uid, ok := s.nodes.of(e.name)
	return ok && uid == e.uid && !s.gone[e.uid]
}

// nodeSeen takes what a Node object says.
func (m *Machine) nodeSeen(e NodeSeen) {
	s := &m.members
	_, old, known := s.nodes.of(e.Name)
	s.nodes.set(e.Name, member{uid: m.known.number(e.UID), round: s.round, seen: m.now.UnixNano()})
	if known && old != e.UID {
		m.nodeIsGone(old)
	}
	if !known || old != e.UID {
		m.barrier.unregistered = nil
	}
	if s.gone[e.UID] { // told gone by a gap in the news
		delete(s.gone, e.UID)
		delete(s.guessed, e.UID)
		m.changed |= MemberBack
	}
	s.stale = slices.DeleteFunc(s.stale, func(r staleRecord) bool { return r.uid == e.UID })
	if e.Name == m.cfg.Name && (m.uid != e.UID || m.claim.removed) {
		m.uid, m.claim.removed = e.UID, false
		m.changed |= WantsAct | StandingChanged
	}
}

// nodeGone takes the end of a Node object; one of an earlier UID does not concern the present node of that name.
func (m *Machine) nodeGone(e NodeGone) {
	s := &m.members
	if _, uid, ok := s.nodes.of(e.Name); ok && uid == e.UID {
		s.nodes.set(e.Name, member{})
	}
	m.nodeIsGone(e.UID)
}

// nodesAreListed: whoever has not been told of since the list before is gone. A list that was under way when a node
// came to be does not have it, however late it arrives: it counts from when it was asked for. Who was told of at that
// very moment came before the server read the list; and who was told of now may have come with it, unless the list says
// that it has not: an agent that stood still hears at once what its watch had told before the list, and the list.
func (m *Machine) nodesAreListed(e NodesListed) {
	s := &m.members
	s.listedAt = m.now.Add(-e.Age)
	var has map[string]bool
	if e.UIDs != nil {
		has = make(map[string]bool, len(e.UIDs))
		for _, uid := range e.UIDs {
			has[uid] = true
		}
	}
	s.listing = s.listing && s.listedAt.Before(s.askedAt)
	if len(s.stale) > 0 {
		m.changed |= WantsJudge
	}
	var absent []string
	now, listedAt := m.now.UnixNano(), s.listedAt.UnixNano()
	for name, n := range s.nodes.all() {
		if n.round != s.round || n.seen < now && n.seen <= listedAt || has != nil && !has[m.known.name(n.uid)] {
			absent = append(absent, name)
		}
	}
	slices.Sort(absent)
	for _, name := range absent {
		_, uid, _ := s.nodes.of(name)
		s.nodes.set(name, member{})
		m.nodeIsGone(uid)
	}
	s.round++
	if _, _, ok := s.nodes.of(m.cfg.Name); !ok && m.claim.ID != 0 {
		m.ownNodeIsGone()
	}
	if !s.listed {
		s.listed = true
		m.changed |= NodesKnown | WantsAct
	}
	for i := range m.view.entries {
		e := &m.view.entries[i]
		if e.lost && !s.present(e) && !s.listedAt.Before(m.view.lostAt) {
			m.view.found(e)
			m.emit(RecordChanged{ID: e.id})
		}
		m.mayBeStale(e)
	}
	m.askForLost()
}

// nodeIsGone takes the node whose Node object had this UID out, at once, and makes its ID a case for release.
func (m *Machine) nodeIsGone(uid string) {
	s := &m.members
	if uid == "" || s.gone[uid] && !s.guessed[uid] {
		return
	}
	s.gone[uid] = true
	delete(s.guessed, uid)
	delete(s.alive, uid)
	m.accountedFor(uid)
	if m.claim.ID == 0 || m.barrier.awaited {
		m.changed |= WantsAct
	}
	if uid == m.uid || m.uid == "" && uid == m.claim.UID {
		m.ownNodeIsGone()
	}
	m.believe(func(former *entry) bool { return former.uid == uid })
	for i := range m.view.entries {
		if e := &m.view.entries[i]; e.uid == uid && (!e.deleted || e.lost) {
			m.emit(MemberChanged{ID: e.id})
			m.mayBeStale(e)
		}
	}
}

// ownNodeIsGone: we have been taken out of the cluster. The ID is not usable and nothing is written to the store, where
// the others release our ID, until a Node object of ours is there again.
func (m *Machine) ownNodeIsGone() {
	if m.claim.removed {
		return
	}
	m.claim.removed = true
	m.log(Warn, "the Node object of %s is gone: no more addresses are given out", m.cfg.Name)
	m.changed |= StandingChanged
}

// takenBack: the node of a released record has written it again. Where its absence was a guess, the guess was wrong;
// where we were told so, it has not heard yet and gets the time that a guess would.
func (m *Machine) takenBack(e *entry) {
	s := &m.members
	s.alive[e.uid] = true
	if s.guessed[e.uid] {
		m.log(Info, "node %s (ID %d) lives", e.name, e.id)
		delete(s.gone, e.uid)
		delete(s.guessed, e.uid)
	}
}
