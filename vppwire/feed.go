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
	case r.Err == nil:
		if s.call.index != nil {
			s.bind(s.call.obj.Key().Name, r.index)
		}
		s.forgetFailure(n)
		s.feeding = n
		s.setHave(n, s.call.obj)
		s.feeding = 0
		s.imply(s.call.obj)
	case s.call.verb == VerbDelete && (errors.Is(r.Err, ErrLinuxMissing) || errors.Is(r.Err, ErrNoNamespace)):
		s.forgetFailure(n)
		s.forget(n) // gone is gone
	default:
		s.fail(n, r.Err, now)
	}
}

// imply notes what comes with a created object: VPP brings a new VXLAN tunnel up by itself (25.10, src/plugins/vxlan).
func (s *Session) imply(o Object) {
	t, ok := o.(VXLAN)
	if !ok {
		return
	}
	up := Up{If: VXLANName(t.Instance)}
	k := up.Key()
	if n := s.find(s.ident(&k)); n != 0 && s.at(n).have == nil {
		s.setHave(n, up)
	}
}

// fail notes a refusal, plans the next try and looks at what contradicts the Session's belief.
func (s *Session) fail(n uint32, err error, now time.Time) {
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
	s.touch(n)
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

// WakeAt is when Next is worth asking again although nothing was fed: the end of the earliest back-off.
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
	if w, ok := e.want.(dumped); ok && w.like(o) {
		o = e.want // a dump knows less than what we asked for
	}
	if e.have == o {
		if e.flags&flagUnknown != 0 {
			e.flags &^= flagUnknown
			s.touch(n)
		}
		return
	}
	if e.have != nil {
		s.dropNeeds(n, e.have)
	} else {
		s.countNetns(e.id, 1)
	}
	e.have = o
	e.flags &^= flagUnknown
	s.addNeeds(n, o)
	s.touch(n)
}

// forget notes that nothing is there, and nothing of what would have been swept along.
func (s *Session) forget(n uint32) {
	e := s.at(n)
	old := e.have
	if old == nil {
		return
	}
	e.have = nil
	s.countNetns(e.id, -1)
	e.flags &^= flagForce | flagParked | flagUnknown
	s.dropNeeds(n, old)
	if k := old.Key(); k.Kind == KindTap || k.Kind == KindAFPacket || k.Kind == KindVXLAN || k.Kind == KindLoopback {
		s.unbind(k.Name)
	}
	for a := e.firstAttr; a != 0; {
		attr := s.at(a)
		next := attr.nextAttr
		attr.nextAttr = 0
		attr.flags &^= flagAttr
		s.forget(a)
		a = next
	}
	e.firstAttr = 0
	// A link that only a dump has told of does not know what it belongs to; it goes all the same.
	switch o := old.(type) {
	case Veth:
		s.forgetLink("", o.Device)
		s.forgetLink(o.PeerNetns, o.Peer)
	case Tap:
		s.forgetLink(o.Netns, o.Host)
	}
	s.touch(n)
}

// countNetns keeps inNetns.
func (s *Session) countNetns(id ident, by int) {
	if id.netns == 0 {
		return
	}
	for int(id.netns) >= len(s.inNetns) {
		s.inNetns = append(s.inNetns, 0)
	}
	s.inNetns[id.netns] += by
}

func (s *Session) forgetLink(netns, name string) {
	k := linkKey(netns, name)
	if n := s.find(s.ident(&k)); n != 0 {
		s.forget(n)
	}
}

// addNeeds counts n, which is there as o, with everything it needs, and hangs it below its sweeper.
func (s *Session) addNeeds(n uint32, o Object) {
	var sweeperID ident
	sweeper, swept := o.sweptBy()
	if swept {
		sweeperID = s.ident(&sweeper)
		m := s.findOrAdd(sweeperID)
		p, e := s.at(m), s.at(n)
		e.nextAttr, p.firstAttr = p.firstAttr, n
		e.flags |= flagAttr
	}
	if s.feeding == n {
		for _, m := range s.needs {
			if need := s.at(m); !swept || need.id != sweeperID {
				need.refs++
			}
		}
		return
	}
	s.keys2 = o.AppendNeeds(s.keys2[:0])
	for i := range s.keys2 {
		id := s.ident(&s.keys2[i])
		if swept && id == sweeperID {
			continue
		}
		s.at(s.findOrAdd(id)).refs++
	}
}

// dropNeeds undoes addNeeds.
func (s *Session) dropNeeds(n uint32, o Object) {
	var sweeperID ident
	sweeper, swept := o.sweptBy()
	if swept {
		sweeperID = s.ident(&sweeper)
		s.unlinkAttr(n, sweeperID)
	}
	s.keys2 = o.AppendNeeds(s.keys2[:0])
	for _, k := range s.keys2 {
		id := s.ident(&k)
		if swept && id == sweeperID {
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
		if need.flags&flagParked != 0 {
			need.flags &^= flagParked
			s.touch(m)
		} else if need.want == nil && need.have == nil {
			s.release(m)
		}
	}
}

func (s *Session) unlinkAttr(n uint32, sweeper ident) {
	e := s.at(n)
	if e.flags&flagAttr == 0 {
		return
	}
	e.flags &^= flagAttr
	m := s.find(sweeper)
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
	if p.want == nil && p.have == nil {
		s.release(m)
	}
}

func (s *Session) findOrAdd(id ident) uint32 {
	if n := s.find(id); n != 0 {
		return n
	}
	return s.add(id)
}

// Done reports whether everything a group wants is there and everything it no longer wants is gone, as far as known for
// certain. err is the last refusal of one of its objects.
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
	return false, nil
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

// Idle reports whether everything is as wanted, known for certain, and nothing is outstanding.
func (s *Session) Idle() bool {
	return s.connected && !s.out && s.pending == 0 && len(s.dump.steps) == 0
}
