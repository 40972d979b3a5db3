package audit

import (
	"fmt"
	"strings"
	"time"
)

// How long a finding must stand before it counts: a pod, and the record of its address, are not told at one instant.
// Cilium's agents write what is used every 15 seconds (its setting cilium-node-update-rate, 1.18).
const (
	SettledAfter       = 3 * time.Second
	SettledAfterCilium = 16 * time.Second
)

// Settled is how long a finding must stand before it counts.
func Settled(f Finding) time.Duration {
	if strings.Contains(f.Text, "CiliumNode ") {
		return SettledAfterCilium
	}
	return SettledAfter
}

// Standing are the findings that stand, while somebody looks again and again. The zero value is before the first look.
type Standing struct {
	since map[string]*stands
	// order are the keys of since as they came.
	order []string
}

type stands struct {
	Finding
	since time.Time
	told  bool
	seen  bool
}

// Change is a finding that came, or that is gone.
type Change struct {
	At   time.Time `json:"at"`
	Came bool      `json:"came"`
	Finding
}

// String is a line for people.
func (c Change) String() string {
	what := "gone"
	if c.Came {
		what = "came"
	}
	return c.At.UTC().Format(time.RFC3339) + " " + what + " " + c.Finding.String()
}

// Look takes what was found now and returns what has changed: a finding comes when it has stood long enough, and goes
// with the first look without it. Of one that stands on, the text may change without a word.
func (s *Standing) Look(now time.Time, found []Finding) (changes []Change) {
	if s.since == nil {
		s.since = map[string]*stands{}
	}
	twins := map[string]int{}
	for _, f := range found {
		key := f.Law + " " + f.Subject
		twins[key]++
		key = fmt.Sprintf("%s %d", key, twins[key])
		x := s.since[key]
		if x == nil {
			x = &stands{since: now}
			s.since[key], s.order = x, append(s.order, key)
		}
		x.Finding, x.seen = f, true
	}
	stay := s.order[:0]
	for _, key := range s.order {
		switch x := s.since[key]; {
		case !x.seen:
			if delete(s.since, key); x.told {
				changes = append(changes, Change{now, false, x.Finding})
			}
			continue
		case !x.told && now.Sub(x.since) >= Settled(x.Finding):
			x.told = true
			changes = append(changes, Change{now, true, x.Finding})
		}
		s.since[key].seen = false
		stay = append(stay, key)
	}
	s.order = stay
	return changes
}

// Told are the findings that came and stand, in the order in which they came.
func (s *Standing) Told() (list []Finding) {
	for _, key := range s.order {
		if x := s.since[key]; x.told {
			list = append(list, x.Finding)
		}
	}
	return list
}

// Next is when a finding that stands will have stood long enough; the zero time when none waits.
func (s *Standing) Next() (at time.Time) {
	for _, key := range s.order {
		if x := s.since[key]; !x.told {
			if t := x.since.Add(Settled(x.Finding)); at.IsZero() || t.Before(at) {
				at = t
			}
		}
	}
	return at
}
