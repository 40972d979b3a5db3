package cilium

import (
	"maps"
	"net/netip"
	"slices"
)

// pickable reports whether AllocateNext may take ip, which is in the pool.
func (s *NodeStore) pickable(ip netip.Addr) bool {
	if _, used := s.used[ip]; used || s.state(ip).Blocked() {
		return false
	}
	if _, was := s.node.Status.IPAM.Used[ip]; was && !s.restored {
		return false
	}
	_, excluded := s.excluded.Contains(ip)
	return !excluded
}

// index works the free lists out anew, in ascending order.
func (s *NodeStore) index() {
	clear(s.place)
	s.free = [2][]netip.Addr{}
	if s.node == nil {
		return
	}
	for _, ip := range slices.SortedFunc(maps.Keys(s.node.Spec.IPAM.Pool), netip.Addr.Compare) {
		s.offer(ip)
	}
}

// offer puts ip on its free list if it may be there.
func (s *NodeStore) offer(ip netip.Addr) {
	if _, there := s.place[ip]; there || !s.pickable(ip) {
		return
	}
	list := &s.free[DeriveFamily(ip).at()]
	s.place[ip] = len(*list)
	*list = append(*list, ip)
}

// withdraw takes ip off its free list if it is there.
func (s *NodeStore) withdraw(ip netip.Addr) {
	at, there := s.place[ip]
	if !there {
		return
	}
	list := &s.free[DeriveFamily(ip).at()]
	last := len(*list) - 1
	moved := (*list)[last]
	(*list)[at], s.place[moved] = moved, at
	*list = (*list)[:last]
	delete(s.place, ip)
}
