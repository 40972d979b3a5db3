package hostmodel

import (
	"net/netip"
	"slices"
)

// routes is a namespace's main table, in the order of key.before; several routes to one destination stand in the order
// in which the kernel tries them. A pod's table has two routes and a host's some dozens, so a sorted slice beats a
// tree.
type routes struct {
	list []route
}

type route struct {
	key key
	dst netip.Prefix
	// via is the gateway; the zero Addr for a link-scope route.
	via  netip.Addr
	link *link
	// connected routes come from an address.
	connected bool
	// metric orders IPv4's routes to one destination, lower ones first; those of addresses have 0.
	metric uint32
}

// family restricts dropLink.
type family uint8

const (
	everyFamily family = iota
	familyIPv4
)

// scanMax is how many routes are compared one by one before a search by length pays: measured with BenchmarkRoute.
const scanMax = 16

// to returns the range of places of the routes to exactly dst; empty, where they would be, for none.
func (t *routes) to(dst netip.Prefix) (from, end int) {
	k := keyOf(dst.Addr(), dst.Bits())
	from = t.search(0, k)
	for end = from; end < len(t.list) && t.list[end].key == k; end++ {
	}
	return from, end
}

// search returns the first place at or after i whose key is not before k.
func (t *routes) search(i int, k key) int {
	end := len(t.list)
	for i < end {
		if mid := int(uint(i+end) >> 1); t.list[mid].key.before(k) {
			i = mid + 1
		} else {
			end = mid
		}
	}
	return i
}

// next returns the place of the next route that contains addr, at i or after it: longest first; len(t.list) for none.
// In a long table it searches once per length that exists.
func (t *routes) next(addr netip.Addr, i int) int {
	k := keyOf(addr, addr.BitLen())
	for ; len(t.list)-i > scanMax; i++ {
		at := &t.list[i].key
		if at.contains(k) {
			return i
		}
		if at.rank < k.rank {
			// These are of IPv4 and addr is not; what it can match begins at its own, full length.
			i = t.search(i, key{rank: k.rank}) - 1
			continue
		}
		if at.rank > rankIPv4Last && k.rank < rankIPv6First {
			return len(t.list)
		}
		want := k.shortened(at.rank)
		if i = t.search(i, want); i < len(t.list) && t.list[i].key == want {
			return i
		}
		i = t.search(i, key{rank: want.rank + 1}) - 1
	}
	for ; i < len(t.list); i++ {
		if t.list[i].key.contains(k) {
			return i
		}
	}
	return i
}

// set adds r or replaces a route to the same destination: in IPv4 the first of its metric, a connected one too; in IPv6
// never a connected one, whose metric is lower. False when the same route stands behind the first of its metric.
func (t *routes) set(r route) bool {
	r.key = keyOf(r.dst.Addr(), r.dst.Bits())
	from, end := t.to(r.dst)
	at, behind := end, from
	for i := from; i < end; i++ {
		x := &t.list[i]
		if x.metric <= r.metric {
			behind = i + 1
		}
		if *x == r {
			return at == end || r.dst.Addr().Is6()
		}
		if at == end && x.metric == r.metric && (r.dst.Addr().Is4() || !x.connected) {
			at = i
		}
	}
	r.link.routes++
	if at < end {
		t.list[at].link.routes--
		t.list[at] = r
		return true
	}
	t.list = slices.Insert(t.list, behind, r)
	return true
}

// del removes the first route that agrees with what is given: gateway, link, metric.
func (t *routes) del(dst netip.Prefix, via netip.Addr, l *link, metric uint32) bool {
	from, end := t.to(dst)
	for i := from; i < end; i++ {
		r := &t.list[i]
		if (via.IsValid() && r.via != via) || (l != nil && r.link != l) || metric != 0 && r.metric != metric {
			continue
		}
		t.remove(i)
		return true
	}
	return false
}

// addConnected adds a connected route unless it is there: behind all others of metric 0 in IPv4, before set ones in
// IPv6.
func (t *routes) addConnected(dst netip.Prefix, l *link) {
	r := route{key: keyOf(dst.Addr(), dst.Bits()), dst: dst, link: l, connected: true}
	from, end := t.to(dst)
	at := end
	for i := from; i < end; i++ {
		if t.list[i] == r {
			return
		}
		if dst.Addr().Is6() && !t.list[i].connected || t.list[i].metric > 0 {
			at = min(at, i)
		}
	}
	t.list = slices.Insert(t.list, at, r)
	l.routes++
}

func (t *routes) dropConnected(dst netip.Prefix, l *link) {
	from, end := t.to(dst)
	for i := from; i < end; i++ {
		if r := &t.list[i]; r.connected && r.link == l {
			t.remove(i)
			return
		}
	}
}

// dropLink removes every route over a link.
func (t *routes) dropLink(l *link, f family) {
	for i := len(t.list) - 1; i >= 0 && l.routes > 0; i-- {
		if t.list[i].link == l && (f == everyFamily || t.list[i].dst.Addr().Is4()) {
			t.remove(i)
		}
	}
}

func (t *routes) remove(i int) {
	t.list[i].link.routes--
	t.list = slices.Delete(t.list, i, i+1)
}
