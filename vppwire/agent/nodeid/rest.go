package nodeid

import (
	"slices"
	"time"
)

// rested is the release time of an ID that has rested: so long ago that nobody's clock doubts it.
var rested = time.Unix(0, 0).UTC()

// beginsToRest: nobody's clock but our own says how long an ID has rested. The time in its record is the releaser's,
// whose clock may be an hour off; so the quarantine is counted from when we saw the release. Somebody who has seen all
// of it says so in the record: a node that has just come needs not wait for what has rested for days.
func (m *Machine) beginsToRest(e *entry) {
	s := &m.members
	e.rest.until = m.now.Add(m.cfg.Quarantine)
	s.resting = append(slices.DeleteFunc(s.resting, func(id uint32) bool { return id == e.id }), e.id)
	m.changed |= WantsJudge
}

// owed reports whether an ID may have to be released, or said to have rested.
func (s *staleRecords) owed() bool { return len(s.stale)+len(s.resting) > 0 }

// judgeResting marks what has rested long enough, where that is our turn; rank is ours, below 0 where nobody has asked
// yet.
func (m *Machine) judgeResting(rank int) {
	s := &m.members
	still := s.resting[:0]
	for i, id := range s.resting {
		e := m.view.entry(id)
		if e == nil || e.live() || e.malformed || e.rest.until.IsZero() {
			continue
		}
		still = append(still, id)
		at := e.rest.until
		if !m.now.Before(at) {
			if rank < 0 {
				rank = m.rank()
			}
			at = at.Add(time.Duration(rank) * rankDelay)
		}
		if m.now.Before(at) {
			s.dueBy(at)
			if m.now.Before(e.rest.until) {
				still = append(still, s.resting[i+1:]...) // these rest longer
				break
			}
			continue
		}
		if m.marks() {
			m.mark(e, rested)
		}
	}
	s.resting = still
}
