package vppwire

import (
	"errors"
	"slices"
	"time"
)

// Back-off of an object that VPP or Linux refused: 1 s, doubling to 30 s. Upstream's agent retried after 1 s and then
// three times longer each; doubling keeps the first minute busier without flooding.
const (
	retryFirst = time.Second
	retryMost  = 30 * time.Second
)

// Feed takes the outcome of the outstanding call. A Result of an older call is ignored.
func (s *Session) Feed(now time.Time, r Result) {
	if !s.out || r.seq != s.call.seq {
		return
	}
	if r.Lost {
		// Unknown, not failed: look before deciding.
		verb, obj := s.call.verb, s.call.obj
		s.abandon()
		if verb != VerbDump {
			s.doubtObject(obj)
		}
		return
	}
	s.out = false
	if s.call.verb == VerbDump {
		s.feedDump(r, now)
		return
	}
	n := s.call.entry
	s.at(n).flags &^= flagBusy
	switch {
	case r.Err == nil && s.call.verb == VerbDelete:
		s.forgetFailure(n)
		s.forget(n)
		s.lowered(s.call.obj)
		s.countPackets(s.call.obj, -1)
		if l, ok := s.call.obj.(leaving); ok {
			l.left(s)
		}
	case r.Err == nil:
		if s.call.number != nil {
			s.numbered(s.call.obj.Key(), r.number)
		}
		s.forgetFailure(n)
		s.feeding = n
		s.setHave(n, s.call.obj)
		s.feeding = 0
		s.raised(s.call.obj)
		s.countPackets(s.call.obj, 1)
		if b, ok := s.call.obj.(bringing); ok {
			s.brought(b.brings())
		}
		if a, ok := s.call.obj.(arriving); ok {
			a.arrived(s)
		}
	case s.call.verb == VerbDelete && (errors.Is(r.Err, ErrLinuxMissing) || errors.Is(r.Err, ErrNoNamespace)):
		s.forgetFailure(n)
		s.forget(n) // gone is gone
	default:
		s.fail(n, r.Err, now)
	}
}

// lowered notes that a link is down because o has gone.
func (s *Session) lowered(o Object) {
	l, ok := o.(lowering)
	if !ok {
		return
	}
	if k, down := l.lowers(); down {
		id := s.ident(&k)
		if n := s.find(id); n != 0 && s.at(n).have() != nil {
			was := s.at(n).have()
			s.forget(n)
			s.down[id] = was
		}
	}
}

// raised notes that a link is up again as it was, because o has come.
func (s *Session) raised(o Object) {
	l, ok := o.(lowering)
	if !ok || len(s.down) == 0 {
		return
	}
	if k, up := l.lowers(); up {
		id := s.ident(&k)
		if was, known := s.down[id]; known {
			delete(s.down, id)
			if n := s.find(id); n != 0 && s.at(n).have() == nil && s.at(n).want() != nil {
				s.setHave(n, was)
			}
		}
	}
}

// brought notes what came with a created object, wanted or not.
func (s *Session) brought(o Object) {
	k := o.Key()
	if n := s.findOrAdd(s.ident(&k)); s.at(n).have() == nil {
		s.setHave(n, o)
	}
}

// fail notes a refusal, plans the next try and looks at what contradicts the Session's belief.
func (s *Session) fail(n uint32, err error, now time.Time) {
	if e := s.at(n); e.want() == nil && e.have() == nil { // nobody wants it any more: there is nothing to try again
		s.doubtObject(s.call.obj)
		s.touch(n)
		return
	}
	f := s.failures[n]
	if f == nil {
		f = &failure{}
		s.failures[n] = f
	}
	wait := retryMost
	if f.tries < 5 {
		wait = min(retryFirst<<f.tries, retryMost)
	}
	f.err, f.at = err, now.Add(wait)
	f.tries++
	e := s.at(n)
	if e.flags&flagDelayed == 0 {
		e.flags |= flagDelayed
		s.delayed = append(s.delayed, n)
	}
	s.doubtObject(s.call.obj)
	if errors.Is(err, ErrLinuxMissing) {
		s.doubtNeeds(n)
	}
	s.touch(n)
}

// explain gives failures whose cause is that a namespace is gone that cause: VPP says of a tap for it only that some
// system call failed.
func (s *Session) explain(netns string, err error) {
	for _, n := range s.delayed {
		if o, ok := s.at(n).want().(spanning); ok && o.farNetns() == netns && s.failures[n] != nil {
			s.failures[n].err = err
		}
	}
}

// doubtNeeds queues the dumps that tell what became of what n needs and belongs to: Linux does not say which of it is
// missing.
func (s *Session) doubtNeeds(n uint32) {
	o := s.call.obj
	s.keys2 = o.AppendNeeds(s.keys2[:0])
	if owner, owned := o.owner(); owned {
		s.keys2 = append(s.keys2, owner)
	}
	for i := range s.keys2 {
		if m := s.find(s.ident(&s.keys2[i])); m != 0 && m != n && s.at(m).have() != nil {
			s.doubtObject(s.at(m).have())
		}
	}
}

func (s *Session) forgetFailure(n uint32) {
	if len(s.failures) == 0 && len(s.delayed) == 0 {
		return
	}
	delete(s.failures, n)
	if e := s.at(n); e.flags&flagDelayed != 0 {
		e.flags &^= flagDelayed
		s.delayed = slices.DeleteFunc(s.delayed, func(m uint32) bool { return m == n })
	}
}

// retry queues what has waited long enough.
func (s *Session) retry(now time.Time) {
	for i := 0; i < len(s.delayed); {
		n := s.delayed[i]
		if f := s.failures[n]; f != nil && now.Before(f.at) {
			i++
			continue
		}
		s.delayed = slices.Delete(s.delayed, i, i+1)
		s.at(n).flags &^= flagDelayed
		s.touch(n)
	}
}

// WakeAt is when Next is worth asking again although no result came: the end of the earliest back-off.
func (s *Session) WakeAt() (time.Time, bool) {
	var first time.Time
	if !s.connected || s.out {
		return first, false // the answer comes first
	}
	if len(s.dump.steps) > 0 && !s.dump.notBefore.IsZero() {
		return s.dump.notBefore, true
	}
	for _, n := range s.delayed {
		if f := s.failures[n]; f != nil && (first.IsZero() || f.at.Before(first)) {
			first = f.at
		}
	}
	return first, !first.IsZero()
}

// setHave notes that o is there.
func (s *Session) setHave(n uint32, o Object) {
	e := s.at(n)
	if w, ok := e.want().(incomplete); ok && w.like(o) {
		o = e.want() // a dump knows less than what we asked for
	}
	if e.have() == o {
		if e.flags&flagUnverified != 0 {
			e.flags &^= flagUnverified
			s.touch(n)
		}
		return
	}
	if e.have() != nil {
		s.dropNeeds(n, e.have())
	} else {
		s.countNetns(e, 1)
	}
	e.set(e.want(), o)
	e.flags &^= flagUnverified
	s.addNeeds(n, o)
	s.touch(n)
}

// forget notes that nothing is there, and nothing of what would have been owned along.
func (s *Session) forget(n uint32) {
	e := s.at(n)
	old := e.have()
	delete(s.down, e.id())
	if old == nil {
		if e.firstAttr != 0 { // a link that is down is not there, and has what was set on it
			s.forgetOwned(n)
			s.touch(n)
		}
		return
	}
	e.set(e.want(), nil)
	s.countNetns(e, -1)
	e.flags &^= flagForce | flagDeaf | flagBlocked | flagUnverified
	s.dropNeeds(n, old)
	switch {
	case kinds[e.kind].creates.prefix != "":
		s.unbind(old.Key().Name)
	case e.kind == KindSourceTable:
		s.sources.set(old.Key().Num != 0, noTable)
	case e.kind == KindACL:
		s.acls.drop(old.Key().Name)
	}
	s.forgetOwned(n)
	if t, ok := old.(taking); ok {
		for _, k := range t.takes() {
			id := s.ident(&k)
			delete(s.down, id)
			if m := s.find(id); m != 0 {
				s.forget(m)
			}
		}
	}
	if _, waited := s.waiters[e.id()]; waited {
		s.wake(e.id()) // some wait for it to go
	}
	s.touch(n)
}

// forgetOwned forgets what goes with n.
func (s *Session) forgetOwned(n uint32) {
	e := s.at(n)
	for a := e.firstAttr; a != 0; {
		attr := s.at(a)
		next := attr.nextAttr
		attr.nextAttr = 0
		attr.flags &^= flagAttr
		s.forget(a)
		a = next
	}
	e.firstAttr = 0
}

// Done reports whether everything a group wants is there and everything it no longer wants is gone, as far as known for
// certain. err is the last refusal of one of its objects or of something that one waits for, or of the look without
// which nothing is done.
func (s *Session) Done(name string) (bool, error) {
	gi, ok := s.byName[name]
	if !ok {
		return true, nil
	}
	g := &s.groups[gi]
	if g.pending == 0 {
		return true, nil
	}
	for _, n := range s.delayed {
		if f := s.failures[n]; f != nil && s.at(n).group == gi {
			return false, f.err
		}
	}
	if len(s.delayed) > 0 {
		for _, n := range g.entries {
			if err := s.refusedBelow(n); err != nil {
				return false, err
			}
		}
	}
	return false, s.dump.refused
}

// refusedBelow is the last refusal of something that n waits for, itself or by others, nil for none.
func (s *Session) refusedBelow(n uint32) error {
	want := s.at(n).want()
	if want == nil || s.at(n).have() != nil {
		return nil
	}
	for _, k := range want.AppendNeeds(nil) {
		m := s.find(s.ident(&k))
		if m == 0 {
			continue
		}
		if f := s.failures[m]; f != nil && s.at(m).flags&flagDelayed != 0 {
			return f.err
		}
		if err := s.refusedBelow(m); err != nil {
			return err
		}
	}
	return nil
}

// Changed returns the groups that became done since the last call, in order; a group may be named twice. A group that
// wants nothing and has nothing left is forgotten after this. The slice is valid until the next call of a method.
func (s *Session) Changed() []string {
	out := s.changed
	s.changed = s.changed[len(s.changed):]
	if len(out) == 0 {
		s.changed = s.changed[:0]
		return nil
	}
	for _, name := range out {
		gi := s.byName[name]
		if g := &s.groups[gi]; gi != 0 && g.pending == 0 && len(g.entries) == 0 {
			delete(s.byName, name)
			*g = group{}
			s.freeGroups = append(s.freeGroups, gi)
		}
	}
	return out
}

// Dumping reports whether there is something that a dump has yet to show, perhaps after a pause because one failed.
func (s *Session) Dumping() bool { return len(s.dump.steps) > 0 }

// Idle reports whether everything is as wanted, known for certain, and nothing is outstanding.
func (s *Session) Idle() bool {
	return s.connected && !s.out && s.pending == 0 && len(s.dump.steps) == 0
}
