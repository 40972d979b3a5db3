package check

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// destination is an address that receives packets.
type destination struct {
	addr netip.Addr
	// home is the index of its node, or -1.
	home int32
	// pod is the index of a toPod destination there.
	pod  int32
	kind destinationKind
}

// destinationKind is the kind of an address's owner. The bits make sets.
type destinationKind uint8

// Kinds of destinations. Service addresses are none: services-reached judges them.
const (
	// toPod is an answered pod's address, toFree an unassigned address of the pods' ranges.
	toPod destinationKind = 1 << iota
	toFree
	// toHost is an address of a node's Linux side: its end of the link to VPP, or one of its management network.
	toHost
	// toVPP is a node's address on its VPP.
	toVPP
	// toOutside is an address of the network between the nodes that belongs to no node.
	toOutside

	everything = toPod | toFree | toHost | toVPP | toOutside
)

// destinations are all destinations in a cluster, in ascending order.
type destinations struct {
	list []destination
	keys []key
	// podSubnets are the cluster-wide pod subnets that agents use.
	podSubnets []netip.Prefix
	// last is the end of the previous search: prefixes mostly come in ascending order.
	last int
}

// key is an address as a number; IPv4 as IPv6-mapped.
type key struct{ hi, lo uint64 }

func (k key) less(o key) bool { return k.hi < o.hi || k.hi == o.hi && k.lo < o.lo }

func keyOf(a netip.Addr) key {
	b := a.As16()
	return key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// bounds are the first and the last address of a prefix.
func bounds(p netip.Prefix) (first, last key) {
	bits := p.Bits()
	if p.Addr().Is4() {
		bits += 96
	}
	// Shifts by 64 and more give 0, as needed here.
	mask := key{^(^uint64(0) >> min(bits, 64)), ^(^uint64(0) >> max(bits-64, 0))}
	first = keyOf(p.Addr())
	first.hi, first.lo = first.hi&mask.hi, first.lo&mask.lo
	return first, key{first.hi | ^mask.hi, first.lo | ^mask.lo}
}

// collect gathers the destinations of live nodes. Two pods with one address are an error, because one of them is
// unreachable. Of other duplicates, the first is taken.
func collect(s fact.Snapshot) (*destinations, error) {
	d := &destinations{}
	for i := range s.Nodes {
		subnets := [...]netip.Prefix{s.Nodes[i].PodSubnet, {}}
		if second := s.Nodes[i].Second; second != nil {
			subnets[1] = second.PodSubnet
		}
		for _, p := range subnets {
			if p.IsValid() && lives(&s.Nodes[i]) && !slices.Contains(d.podSubnets, p) {
				d.podSubnets = append(d.podSubnets, p)
			}
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; lives(n) {
			for p := range n.Pods {
				if n.Pods[p].Addr.IsValid() {
					d.list = append(d.list, destination{n.Pods[p].Addr, int32(i), int32(p), toPod})
				}
			}
			d.addNode(n, int32(i))
		}
	}
	d.addFree(s)
	d.addOutside(s)
	// A pod comes before a node or a free address that is not free after all.
	slices.SortStableFunc(d.list, func(a, b destination) int { return a.addr.Compare(b.addr) })
	kept := d.list[:0]
	for _, x := range d.list {
		if len(kept) > 0 && kept[len(kept)-1].addr == x.addr {
			if x.kind != toPod || kept[len(kept)-1].kind != toPod {
				continue
			}
			a, b := &s.Nodes[kept[len(kept)-1].home], &s.Nodes[x.home]
			return nil, broken(reachableName, s.At, b.Name, "%s on %s and %s on %s both have %s, so one of them is unreachable",
				a.Pods[kept[len(kept)-1].pod].Pod, a.Name, b.Pods[x.pod].Pod, b.Name, x.addr)
		}
		kept = append(kept, x)
	}
	d.list = kept
	d.keys = make([]key, len(kept))
	for i := range kept {
		d.keys[i] = keyOf(kept[i].addr)
	}
	return d, nil
}

// addNode adds a node's own addresses. Addresses of its Linux side are reached through VPP only where the two are
// joined.
func (d *destinations) addNode(n *fact.NodeState, i int32) {
	if a := n.Address.Addr(); a.IsValid() && a != n.HostLinux {
		d.list = append(d.list, destination{addr: a, home: i, kind: toVPP})
	}
	if s := n.Second; s != nil {
		d.list = append(d.list, destination{addr: s.Address.Addr(), home: i, kind: toVPP})
		if s.HostLinux.IsValid() {
			d.list = append(d.list, destination{addr: s.HostLinux, home: i, kind: toHost})
		}
	}
	if !n.HostLinux.IsValid() {
		return
	}
	d.list = append(d.list, destination{addr: n.HostLinux, home: i, kind: toHost})
	for _, a := range n.Management {
		ours := a.Is6() == n.HostLinux.Is6() || n.Second != nil && a.Is6() == n.Second.HostLinux.Is6()
		if ours && !d.ofPods(a) { // pods of a cluster of one family have no address to reach the other by
			d.list = append(d.list, destination{addr: a, home: i, kind: toHost})
		}
	}
}

// ofPods reports whether an address lies in a range of the pods. A management network there is an error in the address
// plan, which the plan's lint reports: the owner of such an address is ambiguous.
func (d *destinations) ofPods(a netip.Addr) bool {
	return slices.ContainsFunc(d.podSubnets, func(p netip.Prefix) bool { return p.Contains(a) })
}

// addOutside picks, in each network between the nodes, an address that no node has: a router's or another machine's.
func (d *destinations) addOutside(s fact.Snapshot) {
	var networks []netip.Prefix
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if p := n.Address.Masked(); lives(n) && p.IsValid() && !slices.Contains(networks, p) {
			networks = append(networks, p)
		}
		if n.Second == nil || !lives(n) {
			continue
		}
		if p := n.Second.Address.Masked(); !slices.Contains(networks, p) {
			networks = append(networks, p)
		}
	}
	for _, p := range networks {
		a := beforeLast(p)
		for a.IsValid() && slices.ContainsFunc(d.list, func(x destination) bool { return x.addr == a }) {
			a = a.Prev()
		}
		if a.IsValid() && p.Contains(a) && a != p.Addr() {
			d.list = append(d.list, destination{addr: a, home: -1, kind: toOutside})
		}
	}
}

// addFree picks an unassigned address in each block, and one of each pod subnet that lies in no block.
func (d *destinations) addFree(s fact.Snapshot) {
	used := map[netip.Addr]bool{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) {
			continue
		}
		clear(used)
		for _, a := range n.Reserved {
			used[a] = true
		}
		for p := range n.Pods {
			used[n.Pods[p].Addr] = true
		}
		if n.Leases != nil {
			for l := range n.Leases() {
				used[l.Addr] = true
			}
		}
		for _, b := range n.Blocks {
			used[b.Gateway] = true
			a := b.Prefix.Addr().Next()
			for b.Prefix.Contains(a) && used[a] {
				a = a.Next()
			}
			if b.Prefix.Contains(a) {
				d.list = append(d.list, destination{addr: a, home: int32(i), kind: toFree})
			}
		}
	}
	for _, p := range d.podSubnets {
		if a := beforeLast(p); a.IsValid() && !inSomeBlock(s, a) {
			d.list = append(d.list, destination{addr: a, home: -1, kind: toFree})
		}
	}
}

// beforeLast is the highest address of a subnet that is no broadcast address, or the zero Addr.
func beforeLast(p netip.Prefix) netip.Addr {
	if p.IsSingleIP() {
		return netip.Addr{}
	}
	_, last := bounds(p)
	last.lo--
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], last.hi)
	binary.BigEndian.PutUint64(b[8:], last.lo)
	a := netip.AddrFrom16(b)
	if p.Addr().Is4() {
		a = a.Unmap()
	}
	return a
}

func inSomeBlock(s fact.Snapshot, a netip.Addr) bool {
	for i := range s.Nodes {
		for _, b := range s.Nodes[i].Blocks {
			if b.Prefix.Contains(a) {
				return true
			}
		}
	}
	return false
}

// span returns the destinations in a prefix: from lo up to, excluding, hi.
func (d *destinations) span(p netip.Prefix) (lo, hi int) {
	if !p.IsValid() {
		return 0, 0
	}
	first, last := bounds(p)
	lo = d.search(d.last, first)
	d.last = lo
	if lo == len(d.keys) || last.less(d.keys[lo]) {
		return lo, lo
	}
	if last == (key{^uint64(0), ^uint64(0)}) {
		return lo, len(d.keys)
	}
	if last.lo++; last.lo == 0 {
		last.hi++
	}
	return lo, d.search(lo, last)
}

// families are the bounds of IPv4's destinations: a range of both families would be judged by one of them.
func (d *destinations) families() (lo, hi int) {
	return d.span(netip.PrefixFrom(netip.IPv4Unspecified(), 0))
}

// search finds the first key that is not less than k, looking ahead from start in doubling steps.
func (d *destinations) search(start int, k key) int {
	lo, step := start, 1
	if lo > 0 && !d.keys[lo-1].less(k) {
		lo = 0
	}
	hi := lo
	for hi < len(d.keys) && d.keys[hi].less(k) {
		lo = hi + 1
		hi += step
		step *= 2
	}
	hi = min(hi, len(d.keys))
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if d.keys[mid].less(k) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
