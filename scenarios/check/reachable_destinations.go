package check

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
)

// destination is an address that packets are sent to: an answered pod's, or one that nobody holds.
type destination struct {
	addr netip.Addr
	// home is the index of the node whose block or pod it is, -1 for none; pod the pod's index there, -1 when nobody
	// holds the address.
	home, pod int32
}

// destinations is a cluster's answered pods and one free address per block and per pod subnet, in ascending order.
type destinations struct {
	list []destination
	keys []key
	// last is where the previous search ended: prefixes come in ascending order more often than not.
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
	// Shifts by 64 and more give 0, which is what is wanted.
	mask := key{^(^uint64(0) >> min(bits, 64)), ^(^uint64(0) >> max(bits-64, 0))}
	first = keyOf(p.Addr())
	first.hi, first.lo = first.hi&mask.hi, first.lo&mask.lo
	return first, key{first.hi | ^mask.hi, first.lo | ^mask.lo}
}

// collect gathers the destinations of the nodes that live. Two pods with one address are an error: one of them is
// unreachable.
func collect(s scenarios.Snapshot) (*destinations, error) {
	d := &destinations{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; lives(n) {
			for p := range n.Pods {
				if n.Pods[p].Addr.IsValid() {
					d.list = append(d.list, destination{n.Pods[p].Addr, int32(i), int32(p)})
				}
			}
		}
	}
	d.addFree(s)
	// A pod before a free address that is not so free after all.
	slices.SortStableFunc(d.list, func(a, b destination) int { return a.addr.Compare(b.addr) })
	kept := d.list[:0]
	for _, x := range d.list {
		if len(kept) > 0 && kept[len(kept)-1].addr == x.addr {
			if x.pod < 0 {
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

// addFree picks an address that nobody holds in each block, and one of each pod subnet that lies in no block.
func (d *destinations) addFree(s scenarios.Snapshot) {
	used := map[netip.Addr]bool{}
	var subnets []netip.Prefix
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
				d.list = append(d.list, destination{a, int32(i), -1})
			}
		}
		if n.PodSubnet.IsValid() && !slices.Contains(subnets, n.PodSubnet) {
			subnets = append(subnets, n.PodSubnet)
		}
	}
	for _, p := range subnets {
		if a := beforeLast(p); a.IsValid() && !inSomeBlock(s, a) {
			d.list = append(d.list, destination{a, -1, -1})
		}
	}
}

// beforeLast is the highest address of a subnet that is no broadcast address; the zero Addr when there is none.
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

func inSomeBlock(s scenarios.Snapshot, a netip.Addr) bool {
	for i := range s.Nodes {
		for _, b := range s.Nodes[i].Blocks {
			if b.Prefix.Contains(a) {
				return true
			}
		}
	}
	return false
}

// span returns which destinations, from lo up to but without hi, lie in a prefix.
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
