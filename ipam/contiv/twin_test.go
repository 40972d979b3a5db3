package contiv

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// slow is the Allocator's twin: addresses are looked at one by one, blocks know nothing, everything is worked out anew.
type slow struct {
	cfg      Config
	active   []netip.Prefix
	draining []netip.Prefix
	cursors  map[netip.Prefix]netip.Addr // of held blocks
	leases   map[ipam.Owner]ipam.Lease
	released map[netip.Addr]time.Time
}

func newSlow(cfg Config) *slow {
	return &slow{
		cfg:      cfg,
		cursors:  make(map[netip.Prefix]netip.Addr),
		leases:   make(map[ipam.Owner]ipam.Lease),
		released: make(map[netip.Addr]time.Time),
	}
}

func (s *slow) held() []netip.Prefix { return slices.Concat(s.active, s.draining) }

func (s *slow) reserved(a netip.Addr) bool {
	return slices.ContainsFunc(s.held(), func(p netip.Prefix) bool { return own(p, a) })
}

func own(p netip.Prefix, a netip.Addr) bool {
	return a == p.Addr() || a == p.Addr().Next() || a == space.Last(p) || a == space.Last(p).Prev()
}

func (s *slow) owner(a netip.Addr) bool {
	for _, l := range s.leases {
		if l.Addr == a {
			return true
		}
	}
	return false
}

func (s *slow) cools(now time.Time, a netip.Addr) bool {
	at, ok := s.released[a]
	return ok && now.Before(at.Add(s.cfg.ReuseDelay))
}

func (s *slow) free(now time.Time, a netip.Addr) bool {
	return !s.reserved(a) && !s.owner(a) && !s.cools(now, a)
}

func (s *slow) allocate(now time.Time, o ipam.Owner, want netip.Addr) (ipam.Lease, error) {
	if l, ok := s.leases[o]; ok {
		if want.IsValid() && want != l.Addr {
			return ipam.Lease{}, ipam.ErrTaken
		}
		return l, nil
	}
	if len(s.active) == 0 {
		return ipam.Lease{}, ipam.ErrNoBlock
	}
	if want.IsValid() {
		for _, p := range s.active {
			switch {
			case !p.Contains(want):
			case own(p, want):
				return ipam.Lease{}, ipam.ErrNotInPool
			case s.owner(want):
				return ipam.Lease{}, ipam.ErrTaken
			case s.reserved(want):
				return ipam.Lease{}, ipam.ErrNotInPool
			case s.cools(now, want):
				return ipam.Lease{}, ipam.ErrExhausted
			default:
				return s.give(now, o, p, want), nil
			}
		}
		return ipam.Lease{}, ipam.ErrNotInPool
	}
	if s.cfg.External {
		return ipam.Lease{}, ipam.ErrNotInPool
	}
	for _, p := range s.active {
		a := s.cursors[p]
		for range space.Count(p) {
			if a = a.Next(); !p.Contains(a) {
				a = p.Addr()
			}
			if s.free(now, a) {
				return s.give(now, o, p, a), nil
			}
		}
	}
	return ipam.Lease{}, ipam.ErrExhausted
}

func (s *slow) give(now time.Time, o ipam.Owner, p netip.Prefix, a netip.Addr) ipam.Lease {
	s.cursors[p] = a
	s.leases[o] = ipam.Lease{Owner: o, Addr: a, Block: p, Gateway: p.Addr().Next(), Since: now}
	return s.leases[o]
}

func (s *slow) release(now time.Time, o ipam.Owner) {
	if l, ok := s.leases[o]; ok {
		delete(s.leases, o)
		s.released[l.Addr] = now
		if slices.Contains(s.draining, l.Block) && !s.leased(l.Block) {
			s.draining = slices.DeleteFunc(s.draining, func(p netip.Prefix) bool { return p == l.Block })
			delete(s.cursors, l.Block)
		}
	}
}

func (s *slow) leased(p netip.Prefix) bool {
	for _, l := range s.leases {
		if l.Block == p {
			return true
		}
	}
	return false
}

func (s *slow) setBlocks(prefixes []netip.Prefix) error {
	for i, p := range prefixes {
		for _, q := range prefixes[:i] {
			if p.Overlaps(q) {
				return errors.New("overlap")
			}
		}
		if !slices.Contains(s.held(), p) && (s.owner(p.Addr().Next()) || s.owner(space.Last(p).Prev())) {
			return ipam.ErrTaken
		}
	}
	before := s.held()
	s.active, s.draining = slices.Clone(prefixes), nil
	for _, p := range before {
		if slices.Contains(prefixes, p) {
			continue
		}
		if s.leased(p) {
			s.draining = append(s.draining, p)
		} else {
			delete(s.cursors, p)
		}
	}
	slices.SortFunc(s.draining, netip.Prefix.Compare)
	for _, p := range prefixes {
		if _, known := s.cursors[p]; !known {
			s.cursors[p] = p.Addr().Next()
		}
	}
	return nil
}

func (s *slow) blocks() (list []ipam.Block) {
	for _, p := range s.active {
		list = append(list, ipam.Block{Prefix: p, Gateway: p.Addr().Next()})
	}
	for _, p := range s.draining {
		list = append(list, ipam.Block{Prefix: p, Gateway: p.Addr().Next(), Draining: true})
	}
	return list
}

func (s *slow) sorted() (list []ipam.Lease) {
	for _, l := range s.leases {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b ipam.Lease) int { return a.Addr.Compare(b.Addr) })
	return list
}

// freeNow counts what active blocks could give, and finds when the next cooling address of theirs is free.
func (s *slow) freeNow(now time.Time) (free int, next time.Time) {
	for _, p := range s.active {
		for a := p.Addr(); p.Contains(a); a = a.Next() {
			if s.free(now, a) {
				free++
			} else if s.cools(now, a) && !s.reserved(a) && !s.owner(a) {
				if at := s.released[a].Add(s.cfg.ReuseDelay); next.IsZero() || at.Before(next) {
					next = at
				}
			}
		}
	}
	return free, next
}
