package audit

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Shape is where pods have their addresses from, by those objects of a cluster that count: what a CNI shows that is
// gone,
// and pod CIDRs that nobody uses, do not.
type Shape struct {
	// System is who has the say, "Calico" for instance; empty when nothing shows it.
	System string
	// Blocks are the ranges that nodes have of the cluster's own network, ascending; single addresses among them are as
	// long as an address. Whole: a node's are all that it ever gets.
	Blocks []netip.Prefix
	Whole  bool
	// Pools are the ranges that blocks and addresses are of, ascending, where they are prefixes.
	Pools []netip.Prefix
	// Unread counts objects of kinds that nobody knows.
	Unread map[string]int
}

// ShapeOf is the shape of a cluster that shows these objects.
func ShapeOf(o *Objects) Shape {
	j := newJudge(o)
	j.gather()
	j.networks()
	j.choose()
	s := Shape{Whole: true, Unread: j.Unread}
	blocks, pools := map[netip.Prefix]bool{}, map[netip.Prefix]bool{}
	of := nobody
	for _, r := range j.ranges {
		if j.used.has(r.source) && r.network == "" && r.source != whereabouts {
			of = cmp.Or(of, r.source)
			blocks[r.prefix] = true
			s.Whole = s.Whole && (r.whole || r.source == podCIDRs)
		}
	}
	for _, p := range j.pools {
		if !j.used.has(p.source) || p.network != "" || p.source == whereabouts {
			continue
		}
		if whole, ok := p.prefix(); ok {
			of = cmp.Or(of, p.source)
			pools[whole] = true
		}
	}
	if of != nobody {
		s.System = known[of].name
	}
	s.Whole = s.Whole && len(blocks) > 0
	s.Blocks = slices.SortedFunc(maps.Keys(blocks), netip.Prefix.Compare)
	s.Pools = slices.SortedFunc(maps.Keys(pools), netip.Prefix.Compare)
	return s
}

// prefix is the span as one; false when it is none.
func (s span) prefix() (netip.Prefix, bool) {
	for bits := s.first.BitLen(); bits >= 0; bits-- {
		switch p := netip.PrefixFrom(s.first, bits); {
		case p.Masked().Addr() != s.first:
			return netip.Prefix{}, false
		case space.Last(p) == s.last:
			return p, true
		}
	}
	return netip.Prefix{}, false
}
