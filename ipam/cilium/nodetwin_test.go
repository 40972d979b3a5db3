package cilium

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// slowNode knows nothing about blocks but their routers; it looks at addresses one by one and works everything out
// anew.
type slowNode struct {
	cfg              NodeConfig
	active, draining []netip.Prefix
	routers          map[netip.Prefix]netip.Addr
	leases           map[ipam.Owner]ipam.Lease
	until            map[ipam.Owner]time.Time
	started          []ipam.Owner // order of until
}

func newSlowNode(c NodeConfig) *slowNode {
	return &slowNode{cfg: c, routers: make(map[netip.Prefix]netip.Addr), leases: make(map[ipam.Owner]ipam.Lease), until: make(map[ipam.Owner]time.Time)}
}

func (s *slowNode) held() []netip.Prefix { return slices.Concat(s.active, s.draining) }

// addrs are the addresses that a block gives out at all.
func addrs(p netip.Prefix) (list []netip.Addr) {
	for a := p.Addr(); p.Contains(a); a = a.Next() {
		list = append(list, a)
	}
	if len(list) > 2 {
		list = list[1 : len(list)-1]
	}
	return list
}

func (s *slowNode) keep(p netip.Prefix) []netip.Addr {
	if s.cfg.Keep == nil {
		return nil
	}
	return s.cfg.Keep(p)
}

// own reports whether a is one of p's own addresses.
func (s *slowNode) own(p netip.Prefix, a netip.Addr) bool {
	return p.Contains(a) && !slices.Contains(addrs(p), a) || s.routers[p] == a || slices.Contains(s.keep(p), a)
}

func (s *slowNode) reserved(held []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(held, func(p netip.Prefix) bool { return s.own(p, a) })
}

func (s *slowNode) owned(a netip.Addr) bool {
	for _, l := range s.leases {
		if l.Addr == a {
			return true
		}
	}
	return false
}

// search finds the first good address of p from where a pick says.
func (s *slowNode) search(p netip.Prefix, good func(netip.Addr) bool) (netip.Addr, bool) {
	list := addrs(p)
	if !slices.ContainsFunc(list, good) {
		return netip.Addr{}, false
	}
	start := s.cfg.Pick.Pick("", len(list))
	for i := range list {
		if a := list[(start+i)%len(list)]; good(a) {
			return a, true
		}
	}
	panic("unreachable")
}

func (s *slowNode) allocate(now time.Time, o ipam.Owner, want netip.Addr) (ipam.Lease, error) {
	if l, ok := s.leases[o]; ok {
		if want.IsValid() && want != l.Addr {
			return ipam.Lease{}, ipam.ErrTaken
		}
		return l, nil
	}
	if len(s.active) == 0 {
		return ipam.Lease{}, ipam.ErrNoBlock
	}
	for _, p := range s.active {
		a, ok := want, true
		switch {
		case !want.IsValid():
			a, ok = s.search(p, func(a netip.Addr) bool { return !s.reserved(s.held(), a) && !s.owned(a) })
		case !p.Contains(want):
			ok = false
		case !slices.Contains(addrs(p), want):
			return ipam.Lease{}, ipam.ErrNotInPool
		case s.owned(want):
			return ipam.Lease{}, ipam.ErrTaken
		case s.reserved(s.held(), want):
			return ipam.Lease{}, ipam.ErrNotInPool
		}
		if ok {
			l := ipam.Lease{Owner: o, Addr: a, Block: p, Gateway: s.routers[p], Since: now}
			s.leases[o] = l
			if s.cfg.Expiration > 0 {
				s.until[o] = now.Add(s.cfg.Expiration)
				s.started = append(s.started, o)
			}
			return l, nil
		}
	}
	if want.IsValid() {
		return ipam.Lease{}, ipam.ErrNotInPool
	}
	return ipam.Lease{}, ipam.ErrExhausted
}

func (s *slowNode) release(o ipam.Owner) {
	l, ok := s.leases[o]
	if !ok {
		return
	}
	delete(s.leases, o)
	s.confirm(o)
	if slices.Contains(s.draining, l.Block) && !s.leased(l.Block) {
		s.draining = slices.DeleteFunc(s.draining, func(p netip.Prefix) bool { return p == l.Block })
		delete(s.routers, l.Block)
	}
}

func (s *slowNode) confirm(o ipam.Owner) {
	delete(s.until, o)
	s.started = slices.DeleteFunc(s.started, func(x ipam.Owner) bool { return x == o })
}

func (s *slowNode) expire(now time.Time) {
	for {
		var first *ipam.Owner
		for i, o := range s.started {
			if !s.until[o].After(now) && (first == nil || s.until[o].Before(s.until[*first])) {
				first = &s.started[i]
			}
		}
		if first == nil {
			return
		}
		s.release(*first)
	}
}

func (s *slowNode) leased(p netip.Prefix) bool {
	for _, l := range s.leases {
		if l.Block == p {
			return true
		}
	}
	return false
}

func (s *slowNode) setBlocks(prefixes []netip.Prefix) error {
	before := s.held()
	stay := slices.DeleteFunc(slices.Clone(before), func(p netip.Prefix) bool { return !s.leased(p) && !slices.Contains(prefixes, p) })
	for i, p := range prefixes {
		if slices.ContainsFunc(prefixes[:i], p.Overlaps) {
			return errors.New("overlap")
		}
	}
	fresh := make(map[netip.Prefix]netip.Addr)
	for _, p := range prefixes {
		if slices.Contains(before, p) {
			continue
		}
		if slices.ContainsFunc(s.keep(p), s.owned) {
			return ipam.ErrTaken
		}
		good := func(a netip.Addr) bool {
			return !s.reserved(stay, a) && !s.owned(a) && !slices.Contains(s.keep(p), a)
		}
		router, ok := netip.Addr{}, false
		if list := addrs(p); s.cfg.FirstRouter {
			if at := slices.IndexFunc(list, good); at >= 0 {
				router, ok = list[at], true
			}
		} else {
			router, ok = s.search(p, good)
		}
		if !ok {
			return ipam.ErrTaken
		}
		fresh[p] = router
	}
	s.active, s.draining = slices.Clone(prefixes), nil
	for _, p := range before {
		switch {
		case slices.Contains(prefixes, p):
		case s.leased(p):
			s.draining = append(s.draining, p)
		default:
			delete(s.routers, p)
		}
	}
	slices.SortFunc(s.draining, netip.Prefix.Compare)
	for p, router := range fresh {
		s.routers[p] = router
	}
	return nil
}

func (s *slowNode) blocks() (list []ipam.Block) {
	for _, p := range s.active {
		list = append(list, ipam.Block{Prefix: p, Gateway: s.routers[p]})
	}
	for _, p := range s.draining {
		list = append(list, ipam.Block{Prefix: p, Gateway: s.routers[p], Draining: true})
	}
	return list
}

func (s *slowNode) sorted() (list []ipam.Lease) {
	for _, l := range s.leases {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b ipam.Lease) int { return a.Addr.Compare(b.Addr) })
	return list
}

func (s *slowNode) capacity() (total, free int) {
	for _, p := range s.active {
		for _, a := range addrs(p) {
			if !s.own(p, a) {
				total++
			}
			if !s.reserved(s.held(), a) && !s.owned(a) {
				free++
			}
		}
	}
	return total, free
}
