package vppwire

import "fmt"

// Size is how many objects the Session knows, wanted or there.
func (s *Session) Size() int { return int(s.used) - len(s.free) }

// Inconsistent says where the Session's own books contradict each other, nil where they do not: each key is in them
// once, what is wanted is of a group, and what is still to be done is counted. It costs a walk over all objects: for
// simulators and tests.
func (s *Session) Inconsistent() error {
	pending, of := 0, make([]int, len(s.groups))
	for n := uint32(1); n <= s.used; n++ {
		e := s.at(n)
		if e.flags&flagLive == 0 {
			continue
		}
		if other := s.find(e.id()); other != n {
			return fmt.Errorf("session: entry %d and entry %d have one key", n, other)
		}
		if e.want() != nil && (e.group == 0 || !s.groups[e.group].live) {
			return fmt.Errorf("session: %s is wanted by no group", e.want().Key())
		}
		if due := e.flags&flagPending != 0; due == s.right(e) {
			return fmt.Errorf("session: entry %d counts as to be done: %t, and is right: %t", n, due, s.right(e))
		} else if due {
			pending++
			of[e.group]++
		}
	}
	for gi := range s.groups {
		if g := &s.groups[gi]; g.live && g.pending != of[gi] {
			return fmt.Errorf("session: group %s counts %d objects to be done, and has %d", g.name, g.pending, of[gi])
		}
	}
	if s.pending != pending {
		return fmt.Errorf("session: %d objects count as to be done, and there are %d", s.pending, pending)
	}
	return nil
}
