package vppwire

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// miscounted is a group whose number of pending entries is not that of its entries, or an entry that is pending in a
// group which is forgotten.
func (s *Session) miscounted() string {
	counts := make([]int, len(s.groups))
	for n := uint32(1); n <= s.used; n++ {
		e := s.at(n)
		if e.flags&flagLive == 0 || e.flags&flagPending == 0 {
			continue
		}
		counts[e.group]++
		if e.group != 0 && !s.groups[e.group].live {
			o := e.want()
			if o == nil {
				o = e.have()
			}
			return fmt.Sprintf("%v is pending in a group that is forgotten", o)
		}
	}
	for gi, g := range s.groups {
		if gi != 0 && g.live && g.pending != counts[gi] {
			return fmt.Sprintf("group %s counts %d pending entries, and has %d", g.name, g.pending, counts[gi])
		}
	}
	return ""
}

// Goal: a group is said to be done when nothing of it is left to do, and not a call before. Method: groups come and go
// under ever new names on a dataplane that is a map, which dies and loses calls; after each step each group's count is
// that of its pending entries.
func TestGroupsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, s, now, pid := newBare(), NewSession(), time.Unix(0, 0), uint32(1)
		s.AllowDelete()
		s.Connect(pid)
		var names []string
		for round := range 60 {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				name := fmt.Sprint("g", round)
				names = append(names, name)
				var free []Object
				for _, o := range draw(t, "objects") {
					if k := o.Key(); s.Wanting(k) == "" {
						free = append(free, o)
					}
				}
				s.Set(name, free)
			case 1, 2:
				if len(names) > 0 {
					i := rapid.IntRange(0, len(names)-1).Draw(t, "group")
					s.Set(names[i], nil)
					names = slices.Delete(names, i, i+1)
				}
			case 3:
				b.die()
				pid++
				s.Disconnect()
			case 4:
				s.Connect(pid)
			case 5:
				s.Changed()
			default:
				for range rapid.IntRange(1, 40).Draw(t, "calls") {
					c, ok := s.Next(now)
					if !ok {
						now = now.Add(time.Second)
						break
					}
					switch rapid.IntRange(0, 20).Draw(t, "fate") {
					case 0:
						s.Feed(now, c.Unanswered())
					case 1:
						s.Feed(now, c.Refused(errors.New("refused")))
					default:
						s.Feed(now, b.call(c))
					}
				}
			}
			if wrong := s.miscounted(); wrong != "" {
				t.Fatal(wrong)
			}
		}
	})
}
