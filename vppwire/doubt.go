package vppwire

import (
	"fmt"
	"slices"
)

// Connect tells that a connection to VPP stands. The first one, and each with another pid, forgets all that was known.
func (s *Session) Connect(pid uint32) {
	s.connected = true
	s.seq++
	s.abandon()
	s.pid = pid
	s.Doubt(nil)
}

// Without tells which optional plugins the VPP has not loaded that is connected next. What only they can do is not
// there, and what is wanted of it fails with a reason.
func (s *Session) Without(plugins []string) { s.without = plugins }

// lacks reports whether an optional plugin is not loaded.
func (s *Session) lacks(plugin string) bool {
	return plugin != "" && slices.Contains(s.without, plugin)
}

// impossible says why the present VPP cannot have an object at all.
func (s *Session) impossible(o Object) error {
	if k := &kinds[o.Key().Kind]; s.lacks(k.plugin) {
		return fmt.Errorf("VPP runs without its %s plugin (%s_plugin.so): enable it in startup.conf", k.plugin, k.plugin)
	}
	return nil
}

// Disconnect tells that the connection is lost. An outstanding call is forgotten: its outcome will be seen by dumps.
func (s *Session) Disconnect() {
	s.connected = false
	s.seq++
	s.abandon()
	for n := uint32(1); n <= s.used; n++ {
		s.unverify(n)
	}
}

// abandon gives up the outstanding call: it may or may not have been performed.
func (s *Session) abandon() {
	if !s.out {
		return
	}
	s.out = false
	if s.call.verb == VerbDump {
		s.dump.again(s.call.step)
		return
	}
	n := s.call.entry
	s.at(n).flags &^= flagBusy
	if s.call.verb != VerbDelete {
		s.setHave(n, s.call.obj) // perhaps; a dump decides
	}
	s.unverify(n)
	// An entry that was a guess already stays one, and unverify leaves it alone; the broken call took it off the queue.
	s.touch(n)
}

// unverify marks what is believed of n as a guess, until a dump has looked.
func (s *Session) unverify(n uint32) {
	if e := s.at(n); e.flags&flagLive != 0 && e.have() != nil && e.flags&flagUnverified == 0 {
		e.flags |= flagUnverified
		s.touch(n)
	}
}

// AllowDelete says that every source of desired state has reported: from now on what is not wanted is deleted.
func (s *Session) AllowDelete() {
	if s.deletes {
		return
	}
	s.deletes = true
	for _, n := range s.held {
		if s.at(n).flags&flagLive != 0 {
			s.touch(n)
		}
	}
	s.held = nil
}

// Doubt forgets all that is known of VPP and Linux; dumps come next.
func (s *Session) Doubt(error) {
	s.forgetIndexes()
	clear(s.netns)
	s.sources.reset()
	s.acls.reset()
	clear(s.down)
	asked := slices.Clone(s.dump.steps)
	s.dump.all(s.ip6)
	for n := uint32(1); n <= s.used; n++ {
		s.unverify(n)
		e := s.at(n)
		if e.flags&flagLive == 0 {
			continue
		}
		for _, o := range [...]Object{e.want(), e.have()} { // what nobody wants any more must be looked for too
			if o != nil && e.kind.inLinux() && e.id().num != 0 {
				s.needNetns(o.Key().Netns)
			} else if v, ok := o.(spanning); ok && v.farNetns() != "" {
				s.needNetns(v.farNetns())
			}
		}
	}
	for _, st := range asked { // nobody asks again for a namespace that nothing is wanted in
		if st.dump == linuxDump && st.name != "" {
			s.needNetns(st.name)
		}
	}
}

// Look has everything that a group wants looked at anew, by dumps that come before any change: another hand than ours
// may have changed it. What they find missing is put back afterwards.
func (s *Session) Look(name string) {
	gi, ok := s.byName[name]
	if !ok {
		return
	}
	for _, n := range s.groups[gi].entries {
		if o := s.at(n).want(); o != nil {
			s.doubtObject(o)
		}
	}
}

// Looked reports that no dump is due.
func (s *Session) Looked() bool { return len(s.dump.steps) == 0 }

// LookNetns has a namespace looked at in which nothing need be wanted; NetnsGone says then whether it is there.
func (s *Session) LookNetns(path string) {
	s.netnsGone[path] = false
	s.DoubtNetns(path)
}

// NetnsGone reports whether the look that LookNetns asked for found no such namespace.
func (s *Session) NetnsGone(path string) bool { return s.netnsGone[path] }

// NetnsLooked forgets what LookNetns asked for.
func (s *Session) NetnsLooked() { clear(s.netnsGone) }

// DoubtNetns forgets what is known of one namespace.
func (s *Session) DoubtNetns(path string) {
	s.netns[path] = true
	s.dump.push(dumpStep{dump: linuxDump, name: path})
}
