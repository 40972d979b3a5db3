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
	if !s.nextDump() && !s.nextDelete() && !s.nextCreate() {
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
		case !s.doomed(e):
			s.touch(n)
		case !s.deletes:
			s.held = append(s.held, n)
		case e.refs > 0:
			e.flags |= flagParked
			s.forceDependents(n)
		default:
			s.call.verb, s.call.entry, s.call.obj = VerbDelete, n, e.have
			if e.have.erase(s, &s.call) {
				return true
			}
			s.call = request{}
			s.forget(n)
		}
	}
}

// nextCreate takes the first creation whose needs stand.
func (s *Session) nextCreate() bool {
	for {
		n, ok := s.adds.pop()
		if !ok {
			return false
		}
		e := s.at(n)
		e.flags &^= flagAddQueue
		if e.flags&flagLive == 0 || e.flags&(flagDelayed|flagBusy) != 0 {
			continue
		}
		if e.want == nil || s.right(e) || s.doomed(e) {
			s.touch(n)
			continue
		}
		if s.waits(n) {
			continue
		}
		s.call.verb, s.call.entry, s.call.obj = VerbCreate, n, e.want
		if e.have != nil {
			s.call.verb = VerbSet
		}
		e.want.write(s, &s.call, e.have)
		return true
	}
}

// wake queues what waits for id.
func (s *Session) wake(id ident) {
	list, ok := s.waiters[id]
	if !ok {
		return
	}
	delete(s.waiters, id)
	for _, n := range list {
		if s.at(n).flags&flagLive != 0 {
			s.touch(n)
		}
	}
}

// waits parks n behind the first need that does not stand, if any.
func (s *Session) waits(n uint32) bool {
	s.keys = s.at(n).want.AppendNeeds(s.keys[:0])
	s.needs = s.needs[:0]
	for i := range s.keys {
		id := s.ident(&s.keys[i])
		if m := s.find(id); m != 0 {
			if need := s.at(m); need.have != nil && !s.doomed(need) {
				s.needs = append(s.needs, m)
				continue
			}
		}
		s.waiters[id] = append(s.waiters[id], n)
		return true
	}
	return false
}

// forceDependents makes everything that needs n go first. Most often they are in n's own group.
func (s *Session) forceDependents(n uint32) {
	e := s.at(n)
	left := e.refs
	for _, m := range s.groups[e.group].entries {
		if left == 0 {
			return
		}
		left -= s.forceIfNeeds(m, e.id)
	}
	for m := uint32(1); m <= s.used && left > 0; m++ {
		if d := s.at(m); d.flags&flagLive != 0 && d.group != e.group {
			left -= s.forceIfNeeds(m, e.id)
		}
	}
	// Entries of the same group that a dump found but no Set listed are in no group's list.
	for m := uint32(1); m <= s.used && left > 0; m++ {
		if d := s.at(m); d.flags&flagLive != 0 && d.flags&flagForce == 0 {
			left -= s.forceIfNeeds(m, e.id)
		}
	}
}

// forceIfNeeds returns how many of m's needs are id, having forced m when there is one.
func (s *Session) forceIfNeeds(m uint32, id ident) uint32 {
	d := s.at(m)
	if d.flags&flagLive == 0 || d.have == nil {
		return 0
	}
	sweeper, swept := d.have.sweptBy()
	if swept && s.ident(&sweeper) == id {
		return 0
	}
	var count uint32
	s.keys2 = d.have.AppendNeeds(s.keys2[:0])
	for i := range s.keys2 {
		if s.ident(&s.keys2[i]) == id {
			count++
		}
	}
	if count > 0 && d.flags&flagForce == 0 {
		d.flags |= flagForce
		s.touch(m)
	}
	return count
}
