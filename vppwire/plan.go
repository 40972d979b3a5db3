package vppwire

// AppendPlan appends desired against known state as text: one line per object in group order, "=" right, "+" to be
// created, "~" to be changed, "-" to be deleted, "?" not known for certain; then why an object is not right.
func (s *Session) AppendPlan(b []byte) []byte {
	for gi := range s.groups {
		g := &s.groups[gi]
		if !g.live {
			continue
		}
		b = append(b, g.name...)
		b = append(b, '\n')
		for _, n := range g.entries {
			b = s.appendEntry(b, n)
		}
		b = s.appendLeaving(b, uint32(gi))
	}
	b = append(b, "(nobody's)\n"...)
	return s.appendLeaving(b, 0)
}

// appendLeaving appends what a group no longer wants and what is still there.
func (s *Session) appendLeaving(b []byte, gi uint32) []byte {
	for n := uint32(1); n <= s.used; n++ {
		if e := s.at(n); e.flags&flagLive != 0 && e.group == gi && e.want() == nil && e.have() != nil && !kinds[e.kind].noDelete {
			b = s.appendEntry(b, n)
		}
	}
	return b
}

func (s *Session) appendEntry(b []byte, n uint32) []byte {
	e := s.at(n)
	if e.want() == nil && e.have() == nil {
		return b
	}
	sign, o := byte('='), e.want()
	switch {
	case e.flags&(flagUnverified|flagBusy) != 0:
		sign = '?'
	case e.want() == nil:
		sign, o = '-', e.have()
	case e.have() == nil:
		sign = '+'
	case e.want() != e.have() && !e.sufficient() || e.flags&flagForce != 0:
		sign = '~'
	}
	if o == nil {
		o = e.have()
	}
	b = append(b, ' ', ' ', sign, ' ')
	b = o.AppendText(b)
	if sign == '~' {
		b = e.have().AppendText(append(b, "  (is: "...))
		b = append(b, ')')
	}
	if f := s.failures[n]; f != nil {
		b = appendWord(b, "  (", f.err.Error(), ")")
	}
	return append(b, '\n')
}

// LeftOver is what Wrong says where all that is wanted is there, and more.
const LeftOver = "something is left over"

// Wrong says what is the first thing of a group that is not as wanted; empty when everything is.
func (s *Session) Wrong(name string) string {
	gi, ok := s.byName[name]
	if !ok || s.groups[gi].pending == 0 {
		return ""
	}
	for _, n := range s.groups[gi].entries {
		e := s.at(n)
		switch {
		case s.right(e) || e.want() == nil:
		case e.have() == nil:
			return string(e.want().AppendText(nil)) + " is missing"
		case e.have() != e.want():
			return string(e.have().AppendText(nil)) + " should be " + string(e.want().AppendText(nil))
		default:
			return string(e.want().AppendText(nil)) + " is not certain"
		}
	}
	return LeftOver
}

// Withheld reports whether nothing is left to do but deletions, and replacements, that wait for AllowDelete.
func (s *Session) Withheld() bool {
	if s.deletes || !s.connected || s.out || len(s.dump.steps) > 0 || len(s.delayed) > 0 {
		return false
	}
	for n := uint32(1); n <= s.used; n++ {
		if e := s.at(n); e.flags&flagLive != 0 && e.flags&flagPending != 0 && (!s.obsolete(e) || e.flags&flagDelQueue != 0) {
			return false
		}
	}
	return true
}

// Pending says in one sentence why the Session is not idle; empty when it is.
func (s *Session) Pending() string {
	switch {
	case !s.connected:
		return "VPP is not connected"
	case len(s.delayed) > 0:
		return "not yet right: " + string(s.appendEntry(nil, s.delayed[0]))
	case s.out:
		return "waits for an answer to " + Call{p: &s.call}.String()
	case len(s.dump.steps) > 0:
		return "a dump is due"
	case s.pending == 0:
		return ""
	}
	for n := uint32(1); n <= s.used; n++ {
		if e := s.at(n); e.flags&flagLive != 0 && e.flags&flagPending != 0 {
			return "not yet right: " + string(s.appendEntry(nil, n))
		}
	}
	return "objects are pending"
}
