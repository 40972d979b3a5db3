package vppwire

// addNeeds counts n, which is there as o, with everything it needs, and hangs it below its owner.
func (s *Session) addNeeds(n uint32, o Object) {
	var ownerID ident
	owner, owned := o.owner()
	if owned {
		ownerID = s.ident(&owner)
		m := s.findOrAdd(ownerID)
		p, e := s.at(m), s.at(n)
		e.nextAttr, p.firstAttr = p.firstAttr, n
		e.flags |= flagAttr
	}
	if s.feeding == n {
		for _, m := range s.needs {
			if need := s.at(m); !owned || need.id() != ownerID {
				need.refs++
			}
		}
		return
	}
	s.keys2 = o.AppendNeeds(s.keys2[:0])
	for i := range s.keys2 {
		id := s.ident(&s.keys2[i])
		if owned && id == ownerID {
			continue
		}
		s.at(s.findOrAdd(id)).refs++
	}
}

// dropNeeds undoes addNeeds.
func (s *Session) dropNeeds(n uint32, o Object) {
	var ownerID ident
	owner, owned := o.owner()
	if owned {
		ownerID = s.ident(&owner)
		s.unlinkAttr(n, ownerID)
	}
	s.keys2 = o.AppendNeeds(s.keys2[:0])
	for _, k := range s.keys2 {
		id := s.ident(&k)
		if owned && id == ownerID {
			continue
		}
		m := s.find(id)
		if m == 0 {
			panic("vppwire: a need was forgotten: " + k.String())
		}
		need := s.at(m)
		need.refs--
		if need.refs > 0 {
			continue
		}
		if need.flags&flagBlocked != 0 {
			need.flags &^= flagBlocked
			s.touch(m)
		} else if need.want() == nil && need.have() == nil {
			s.release(m)
		}
	}
}

func (s *Session) unlinkAttr(n uint32, owner ident) {
	e := s.at(n)
	if e.flags&flagAttr == 0 {
		return
	}
	e.flags &^= flagAttr
	m := s.find(owner)
	p := s.at(m)
	if p.firstAttr == n {
		p.firstAttr = e.nextAttr
	} else {
		for a := p.firstAttr; a != 0; a = s.at(a).nextAttr {
			if s.at(a).nextAttr == n {
				s.at(a).nextAttr = e.nextAttr
				break
			}
		}
	}
	e.nextAttr = 0
	if p.want() == nil && p.have() == nil {
		s.release(m)
	}
}

func (s *Session) findOrAdd(id ident) uint32 {
	if n := s.find(id); n != 0 {
		return n
	}
	return s.add(id)
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

// waits blocks n behind the first need that does not stand, or not for long, if any.
func (s *Session) waits(n uint32) bool {
	e, may := s.at(n).want().(exacting)
	exact := may && e.exact()
	s.keys = s.at(n).want().AppendNeeds(s.keys[:0])
	s.needs = s.needs[:0]
	for i := range s.keys {
		id := s.ident(&s.keys[i])
		on, found := s.unsteady(id)
		if exact && !found {
			on, found = s.lacking(id)
		}
		if found {
			s.waiters[on] = append(s.waiters[on], n)
			return true
		}
		s.needs = append(s.needs, s.find(id))
	}
	return false
}

// unsteady is id where that does not stand, or what it needs and is to be replaced: see heldBelow.
func (s *Session) unsteady(id ident) (ident, bool) {
	m := s.find(id)
	if m == 0 || s.at(m).have() == nil || s.obsolete(s.at(m)) {
		return id, true
	}
	if held, found := s.heldBelow(s.at(m)); found {
		return held.id(), true
	}
	return ident{}, false
}

// lacking is the first of id, of what it needs, and so on, that is not there as it is wanted.
func (s *Session) lacking(id ident) (ident, bool) {
	m := s.find(id)
	if m == 0 {
		return id, true
	}
	e := s.at(m)
	if e.have() == nil || s.obsolete(e) || e.want() != nil && !e.same() && !e.sufficient() {
		return id, true
	}
	for _, k := range e.have().AppendNeeds(nil) {
		if lacks, found := s.lacking(s.ident(&k)); found {
			return lacks, true
		}
	}
	return ident{}, false
}

// heldBelow is what e needs, itself or by others, and is to be replaced once deletions are allowed: what is made on top
// of e before would be taken away again with it. While deletions are allowed they come first anyway.
func (s *Session) heldBelow(e item) (held item, found bool) {
	if s.deletes || len(s.held) == 0 {
		return item{}, false
	}
	for _, k := range e.have().AppendNeeds(nil) {
		m := s.find(s.ident(&k))
		if m == 0 || s.at(m).have() == nil {
			continue
		}
		need := s.at(m)
		if s.obsolete(need) {
			return need, true
		}
		if held, found := s.heldBelow(need); found {
			return held, true
		}
	}
	return item{}, false
}

// outlived blocks n, which is to be made, behind what sits on a former one, and makes that go.
func (s *Session) outlived(n uint32) bool {
	o, can := s.at(n).want().(outlived)
	if !can || s.at(n).have() != nil {
		return false
	}
	k := o.outlivedBy()
	id := s.ident(&k)
	m := s.find(id)
	if m == 0 || s.at(m).have() == nil {
		return false
	}
	s.waiters[id] = append(s.waiters[id], n)
	if e := s.at(m); e.flags&flagDeaf == 0 {
		e.flags |= flagForce | flagDeaf
		s.touch(m)
	}
	return true
}

// forceDependents makes everything that needs n go first. Most often they are in n's own group.
func (s *Session) forceDependents(n uint32) {
	e := s.at(n)
	left := e.refs
	for _, m := range s.groups[e.group].entries {
		if left == 0 {
			return
		}
		left -= s.forceIfNeeds(m, e.id())
	}
	for m := uint32(1); m <= s.used && left > 0; m++ {
		if d := s.at(m); d.flags&flagLive != 0 && d.group != e.group {
			left -= s.forceIfNeeds(m, e.id())
		}
	}
	// Entries of the same group that a dump found but no Set listed are in no group's list.
	for m := uint32(1); m <= s.used && left > 0; m++ {
		if d := s.at(m); d.flags&flagLive != 0 && (d.flags&flagForce == 0 || e.flags&^d.flags&flagDeaf != 0) {
			left -= s.forceIfNeeds(m, e.id())
		}
	}
}

// forceIfNeeds returns how many of m's needs are id, having forced m when there is one.
func (s *Session) forceIfNeeds(m uint32, id ident) uint32 {
	d := s.at(m)
	if d.flags&flagLive == 0 || d.have() == nil {
		return 0
	}
	owner, owned := d.have().owner()
	if owned && s.ident(&owner) == id {
		return 0
	}
	var count uint32
	s.keys2 = d.have().AppendNeeds(s.keys2[:0])
	for i := range s.keys2 {
		if s.ident(&s.keys2[i]) == id {
			count++
		}
	}
	if how := flagForce | s.at(s.find(id)).flags&flagDeaf; count > 0 && d.flags&how != how {
		d.flags |= how
		s.touch(m)
	}
	return count
}
