package vppwire

import (
	"slices"
	"time"
)

// Session brings one node's VPP and Linux to a desired state, one call at a time. It is not safe for concurrent use.
//
// Desired state comes in named groups by Set. What is there is learnt by dumps, after Connect and whenever an answer
// was lost or contradicted what the Session believed, and kept up to date with each answered call. Deletes go before
// creates; an object is created after what it needs and deleted before it.
type Session struct {
	store
	names  *names
	groups []group
	byName map[string]uint32
	// freeGroups are numbers of forgotten groups.
	freeGroups []uint32

	msg  []any // by kind, see buffers
	call request
	out  bool // call is outstanding
	seq  uint64

	connected bool
	pid       uint32
	deletes   bool

	adds, dels queue
	behind     queue    // creations of groups that are behind
	held       []uint32 // deletions that wait for AllowDelete
	waiters    map[ident][]uint32
	delayed    []uint32
	failures   map[uint32]*failure
	changed    []string
	pending    int

	dump dumper
	ip6  bool // something wanted is IPv6: its dumps are worth their calls
	// steals: some Stolen was wanted.
	steals bool
	// without are VPP's plugins that are not loaded, of those that need not be.
	without []string
	// leases are what DHCP clients have, by interface.
	leases map[string]Lease
	// leasesTold: a dump has told of them since LeasesTold was asked.
	leasesTold bool
	indexes    swIfIndexes
	// down are links of the host's that are down, as they would be when somebody set them up.
	down map[ident]Object
	// packets counts VPP's AF_PACKET interfaces, room is how many there may be; negative: any number.
	packets, room int
	// short: an AF_PACKET interface was refused for want of room since Short was asked.
	short bool
	// acls are the numbers of VPP's ACLs.
	acls aclNumbers
	// sources are the classifier tables of pods' sources.
	sources sourceTables
	// nicMACs are the MACs of interfaces that others have made, as a dump last showed them; nil without any.
	nicMACs map[string]MAC
	keys    []Key // scratch
	keys2   []Key // scratch
	// inNetns counts what is there by namespace number.
	inNetns map[uint32]int
	// needs are the entries that the present call's object needs, as found before the call; feeding is the entry whose
	// answered call is being taken: needs holds for it.
	needs   []uint32
	feeding uint32
	netns   map[string]bool // namespaces that a dump has seen since Connect, or will
	// netnsGone are the namespaces that LookNetns has asked for, true where there was none.
	netnsGone map[string]bool
}

// group is one named set of desired objects.
type group struct {
	name    string
	entries []uint32
	pending int
	live    bool
	dropped bool // see Drop
	behind  bool // see Behind
}

// failure is an object's last error and when it is tried again.
type failure struct {
	err   error
	tries int
	at    time.Time
}

// NewSession returns a Session that wants nothing and is not connected.
func NewSession() *Session {
	s := &Session{
		byName: map[string]uint32{}, waiters: map[ident][]uint32{}, failures: map[uint32]*failure{},
		indexes: swIfIndexes{ofName: map[uint32]uint32{}, nameOf: map[uint32]uint32{}}, netns: map[string]bool{}, netnsGone: map[string]bool{},
		groups: make([]group, 1), // group 0 is "none"
		leases: map[string]Lease{},
		down:   map[ident]Object{}, room: -1, inNetns: map[uint32]int{},
	}
	s.msg = make([]any, len(kinds))
	s.names = &names{byName: map[string]uint32{}}
	s.dump.reset()
	s.sources.reset()
	s.acls.reset()
	return s
}

// Set replaces what a group wants; nil wants nothing. Keys are unique over all groups: a key that two groups want
// belongs to the later one. Costs the group's size, old and new. The slice stays the caller's.
func (s *Session) Set(name string, objects []Object) { s.set(name, objects, nil) }

// set is Set of objects that are kept in alike, nil for nowhere but here.
func (s *Session) set(name string, objects []Object, alike *ObjectSet) {
	gi, ok := s.byName[name]
	if !ok {
		if len(objects) == 0 {
			s.changed = append(s.changed, name)
			return
		}
		if alike != nil {
			name = s.names.list[s.names.number(name)-1] // a copy that all sessions have
		}
		gi = s.newGroup(name)
	}
	old := s.groups[gi].entries
	s.dump.mark++
	mark := s.dump.mark
	next := make([]uint32, 0, len(objects))
	for _, o := range objects {
		k := o.Key()
		id := s.ident(&k)
		n := s.find(id)
		if n == 0 {
			n = s.add(id)
		}
		e := s.at(n)
		if e.mark == mark {
			panic("vppwire: group " + name + " wants twice: " + k.String())
		}
		e.mark = mark
		next = append(next, n)
		s.adopt(n, gi)
		if k.Netns != "" {
			s.needNetns(k.Netns)
		}
		if kinds[k.Kind].dumps[0].rare {
			s.Expect(k.Kind)
		}
		s.steals = s.steals || k.Kind == KindStolen
		if k.Prefix.IsValid() && k.Prefix.Addr().Is6() {
			s.ip6 = true
		}
		if e.want() != o {
			e.set(o, e.have())
			if alike != nil && (e.have() == nil || e.same()) {
				if subject, ok := alike.subjectOf(o, id); ok {
					s.holdAlike(e.entry, subject)
				}
			}
			s.forgetFailure(n)
			if w, ok := o.(incomplete); ok && e.have() != nil && e.flags&flagUnverified == 0 && w.like(e.have()) {
				s.setHave(n, o) // a dump came first and could not tell everything
			}
		}
		s.touch(n)
	}
	s.groups[gi].entries = next
	s.groups[gi].dropped = s.groups[gi].dropped && len(objects) == 0
	for _, n := range slices.Backward(old) { // what was created last goes first, so that little stands in the way
		e := s.at(n)
		if e.flags&flagLive == 0 || e.group != gi || e.mark == mark {
			continue
		}
		e.set(nil, e.have())
		s.forgetFailure(n)
		s.touch(n)
	}
	s.reportIfDone(gi)
}

// Behind says whether what a group wants is made behind what all others want: where VPP has room for some only, it is
// not theirs.
func (s *Session) Behind(name string, behind bool) {
	if gi, ok := s.byName[name]; ok {
		s.groups[gi].behind = behind
	}
}

// Wanting is the group that wants a key, empty for none.
func (s *Session) Wanting(k Key) string {
	if n := s.find(s.ident(&k)); n != 0 {
		if e := s.at(n); e.want() != nil {
			return s.groups[e.group].name
		}
	}
	return ""
}

// Drop is Set of nothing by somebody who knows that the group's objects have had their day, whoever else has not
// reported yet: they are deleted without waiting for AllowDelete.
func (s *Session) Drop(name string) {
	if gi, ok := s.byName[name]; ok {
		s.groups[gi].dropped = true
		for _, n := range s.held {
			if e := s.at(n); e.flags&flagLive != 0 && e.group == gi {
				s.touch(n)
			}
		}
	}
	s.Set(name, nil)
}

func (s *Session) newGroup(name string) uint32 {
	var gi uint32
	if k := len(s.freeGroups); k > 0 {
		gi = s.freeGroups[k-1]
		s.freeGroups = s.freeGroups[:k-1]
	} else {
		s.groups = append(s.groups, group{})
		gi = uint32(len(s.groups) - 1)
	}
	s.groups[gi] = group{name: name, live: true}
	s.byName[name] = gi
	return gi
}

// adopt makes n an entry of group gi.
func (s *Session) adopt(n, gi uint32) {
	e := s.at(n)
	if e.group == gi {
		return
	}
	if e.flags&flagPending != 0 {
		s.groups[e.group].pending--
		s.groups[gi].pending++
	}
	e.group = gi
}

// touch recounts an entry after want or have changed and queues what has to be done.
func (s *Session) touch(n uint32) {
	e := s.at(n)
	pending := !s.right(e)
	if pending != (e.flags&flagPending != 0) {
		g := &s.groups[e.group]
		if pending {
			e.flags |= flagPending
			g.pending++
			s.pending++
		} else {
			e.flags &^= flagPending
			g.pending--
			s.pending--
			if g.pending == 0 {
				s.reportIfDone(e.group)
			}
		}
	}
	if !pending && e.want() == nil {
		e.group = 0 // its group may be forgotten from here on, and the number given to another
	}
	if e.have() != nil && len(s.waiters) > 0 && !s.obsolete(e) {
		s.wake(e.id())
	}
	switch {
	case e.flags&(flagDelayed|flagBusy|flagBlocked) != 0:
	case s.obsolete(e):
		if e.flags&flagDelQueue == 0 {
			e.flags |= flagDelQueue
			s.dels.push(n)
		}
	case pending && e.want() != nil:
		if e.flags&flagAddQueue == 0 {
			e.flags |= flagAddQueue
			s.adds.push(n)
		}
	case e.want() == nil && e.have() == nil:
		s.release(n)
	}
}

// right reports whether what is there is what is wanted.
func (s *Session) right(e item) bool {
	if e.flags&(flagForce|flagUnverified|flagBusy) != 0 {
		return false
	}
	return e.same() || e.want() == nil && kinds[e.kind].noDelete || e.sufficient()
}

// obsolete reports whether what is there has to be deleted before anything else can happen to the key.
func (s *Session) obsolete(e item) bool {
	if e.have() == nil {
		return false
	}
	if e.flags&flagForce != 0 {
		return true
	}
	if e.want() == nil {
		return !kinds[e.kind].noDelete
	}
	return !e.same() && !e.want().replaces(e.have())
}

func (s *Session) reportIfDone(gi uint32) {
	g := &s.groups[gi]
	if gi == 0 || !g.live || g.pending != 0 {
		return
	}
	s.changed = append(s.changed, g.name)
}

// release forgets an entry that neither is wanted nor exists.
func (s *Session) release(n uint32) {
	e := s.at(n)
	if e.refs != 0 || e.firstAttr != 0 || e.flags&(flagAddQueue|flagDelQueue|flagBusy|flagPending) != 0 {
		return // still listed somewhere; whoever lets go of it comes back here
	}
	s.forgetFailure(n)
	s.remove(n)
}
