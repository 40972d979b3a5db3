package nodeid

import (
	"slices"
	"time"
)

// Patience with nodes that may be gone.
const (
	// absentGrace is how long a node record may be there without a Node object before its node counts as gone: the record
	// may have come faster than the Node object's news.
	absentGrace = 30 * time.Second
	// rankDelay separates the live nodes, in ID order, in the duty to release a gone node's ID: the first does it at once,
	// the next only if the first has not within this time.
	rankDelay = 10 * time.Second
)

// staleRecords are what the duty of release is about.
type staleRecords struct {
	// stale are live records whose nodes are gone or have never been told of; ascending by ID.
	stale []staleRecord
	dueAt time.Time
	// resting are the IDs that rest by what this Machine has seen, in that order.
	resting []uint32
	// listedAt is when the last list of all Node objects was asked for; listing: one was asked for at askedAt, and none as
	// new has come.
	listedAt, askedAt time.Time
	listing           bool
}

// ask has the Node objects listed again.
func (s *staleRecords) ask(m *Machine) {
	s.listing, s.askedAt = true, m.now
	m.emit(ListNodes{})
}

// staleRecord is one record that may have to be released.
type staleRecord struct {
	id    uint32
	uid   string
	since time.Time
	// certain: the Node object is known to be gone; otherwise absentGrace has to pass first.
	certain bool
}

func (s *staleRecords) dueBy(at time.Time) {
	if s.dueAt.IsZero() || at.Before(s.dueAt) {
		s.dueAt = at
	}
}

// mayBeStale lists a live record whose node is gone or unheard of.
func (m *Machine) mayBeStale(e *entry) {
	s := &m.members
	if !s.listed || !e.live() || e.malformed || e.id == m.claim.ID || m.ours(e, m.uid) || s.present(e) ||
		s.alive[e.uid] && !s.gone[e.uid] {
		return
	}
	certain := s.gone[e.uid] && !s.alive[e.uid]
	at, found := slices.BinarySearchFunc(s.stale, e.id, func(r staleRecord, id uint32) int { return int(int64(r.id) - int64(id)) })
	if found && s.stale[at].uid == e.uid {
		s.stale[at].certain = s.stale[at].certain || certain
	} else {
		r := staleRecord{id: e.id, uid: e.uid, since: m.now, certain: certain}
		if found {
			s.stale[at] = r
		} else {
			s.stale = slices.Insert(s.stale, at, r)
		}
	}
	if certain || s.dueAt.IsZero() { // else the one that is due first brings it up
		m.changed |= WantsJudge
	}
}

// judge takes out nodes that stayed absent, releases the IDs of gone nodes where that is our turn, and says what has
// rested.
//
// That a record's node has never been told of says little when the record is newer than the list of nodes: we may be
// cut off from the API server and its news, while the node runs. So the nodes are listed again first, by those whose
// turn it is.
func (m *Machine) judge() {
	s := &m.members
	s.dueAt = time.Time{}
	rank := -1
	still := s.stale[:0]
	for _, r := range s.stale {
		e := m.view.entry(r.id)
		if e == nil || !e.live() || e.uid != r.uid || s.present(e) || s.alive[r.uid] && !s.gone[r.uid] {
			continue
		}
		still = append(still, r)
		at := r.since
		if !r.certain {
			at = at.Add(absentGrace)
			if s.listedAt.Before(r.since) {
				if rank < 0 {
					rank = m.rank()
				}
				if turn := at.Add(time.Duration(rank) * rankDelay); m.now.Before(turn) {
					s.dueBy(turn)
				} else if !s.listing {
					s.ask(m)
				}
				continue
			}
			if m.now.Before(at) {
				s.dueBy(at)
				continue
			}
			if !s.gone[r.uid] {
				s.gone[r.uid], s.guessed[r.uid] = true, true
				m.log(Info, "node %s (ID %d) has no Node object: it counts as gone", e.name, e.id)
				m.emit(MemberChanged{ID: e.id})
			}
		}
		if rank < 0 {
			rank = m.rank()
		}
		if at = at.Add(time.Duration(rank) * rankDelay); m.now.Before(at) {
			s.dueBy(at)
			continue
		}
		m.release(e)
	}
	s.stale = still
	m.judgeResting(rank)
}

// rank counts the live nodes with a lower ID than ours: they come before us in duties that one node has.
func (m *Machine) rank() int {
	n := 0
	for i := range m.view.entries {
		e := &m.view.entries[i]
		if e.id >= m.claim.ID {
			break
		}
		if e.live() && !e.malformed && !m.members.gone[e.uid] {
			n++
		}
	}
	return n
}

// release marks a gone node's record as released, so that its quarantine begins.
func (m *Machine) release(e *entry) {
	if m.marks() {
		m.log(Info, "node ID %d of node %s is released", e.id, e.name)
		m.mark(e, m.now.UTC())
	}
}

// marks reports whether a gone node's record can be written now. When the store is busy or left alone for a while, its
// next answer brings us back to judge.
func (m *Machine) marks() bool {
	return m.claim.usable() && m.store.asked.ID == 0 && !m.view.stale && m.view.listed && !m.now.Before(m.store.retryAt)
}

// mark writes a release time into a gone node's record.
func (m *Machine) mark(e *entry, at time.Time) {
	r := e.says()
	r.ReleasedAt = at
	m.ask(Request{Op: Update, Key: recordKey(e.id), Value: r.String(), Revision: e.rev})
}
