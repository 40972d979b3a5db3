package vppwire

import "time"

// Next returns the next call to perform; false while one is outstanding, nothing is left to do, or not connected.
func (s *Session) Next(now time.Time) (Call, bool) {
	if !s.connected || s.out {
		return Call{}, false
	}
	s.retry(now)
	if now.Before(s.dump.notBefore) {
		return Call{}, false
	}
	s.call = request{}
	// what is to be made may have something else go first
	if !s.nextDump() && !s.nextDelete() && !s.nextCreate(now) && !s.nextDelete() {
		return Call{}, false
	}
	s.seq++
	s.call.seq = s.seq
	s.out = true
	if s.call.verb != VerbDump {
		s.at(s.call.entry).flags |= flagBusy
	}
	return Call{p: &s.call}, true
}

// nextDelete takes the first deletion that nothing stands in the way of.
func (s *Session) nextDelete() bool {
	for {
		n, ok := s.dels.pop()
		if !ok {
			return false
		}
		e := s.at(n)
		e.flags &^= flagDelQueue
		switch {
		case e.flags&flagLive == 0:
		case e.flags&(flagDelayed|flagBusy) != 0:
		case !s.obsolete(e):
			s.touch(n)
		case !s.deletes && !s.groups[e.group].dropped && e.flags&flagDeaf == 0:
			s.held = append(s.held, n)
		case e.refs > 0:
			e.flags |= flagBlocked
			s.forceDependents(n)
		default:
			s.call.verb, s.call.entry, s.call.obj = VerbDelete, n, e.have()
			if e.have().delete(s, &s.call) {
				return true
			}
			s.call = request{}
			s.forget(n)
		}
	}
}

// nextCreate takes the first creation whose needs stand.
func (s *Session) nextCreate(now time.Time) bool {
	for {
		n, ok := s.adds.pop()
		switch {
		case ok && s.groups[s.at(n).group].behind:
			s.behind.push(n)
			continue
		case !ok:
			if n, ok = s.behind.pop(); !ok {
				return false
			}
		}
		e := s.at(n)
		e.flags &^= flagAddQueue
		if e.flags&flagLive == 0 || e.flags&(flagDelayed|flagBusy) != 0 {
			continue
		}
		if e.want() == nil || s.right(e) || s.obsolete(e) {
			s.touch(n)
			continue
		}
		if s.waits(n) || s.outlived(n) {
			continue
		}
		s.call.verb, s.call.entry, s.call.obj = VerbCreate, n, e.want()
		if e.have() != nil {
			s.call.verb = VerbSet
		}
		if err := s.impossible(e.want()); err != nil {
			s.fail(n, err, now)
			s.call = request{}
			return s.nextDump() || s.nextCreate(now)
		}
		if err := s.full(e.want()); err != nil {
			s.short = true
			s.fail(n, err, now)
			s.call = request{}
			return s.nextDump() || s.nextCreate(now) // what there is may have changed behind our back
		}
		e.want().create(s, &s.call, e.have())
		return true
	}
}
