package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// rules are what an interface's packets are held against.
type rules struct {
	list     []fact.ACLRule
	filtered bool
}

// side is one direction of an interface.
type side struct {
	index   uint32
	leaving bool
}

// permitted is what a VPP remembers of a packet that a reflecting rule let through: what is like it, and what answers
// it, passes the interface (src/plugins/acl/session_inlines.h).
type permitted struct {
	node     *node
	at       side
	src, dst netip.AddrPort
	proto    uint8
}

func (n *node) rulesOf(at side) rules {
	r, known := n.rules[at]
	if !known {
		if n.rules == nil {
			n.rules = map[side]rules{}
		}
		r.list, r.filtered = n.VPP.ACLs(at.index, at.leaving)
		n.rules[at] = r
	}
	return r
}

// filtered holds a packet against the ACLs of an interface that it comes in or leaves by. A packet without a protocol is
// no connection's and is not asked: what it finds is how things are wired. Answers pass only in an Exchange, which knows
// of the request.
func (t *trip) filtered(n *node, ifc *fact.Interface, leaving bool) Kind {
	if t.dut == nil && (t.proto == 0 || t.depth > 0) {
		return 0
	}
	at := side{ifc.Index, leaving}
	r := n.rulesOf(at)
	switch {
	case !r.filtered:
		return 0
	case t.dut != nil && (t.depth > 0 || t.kind != Plain || t.uncut != 0):
		return t.unsure(n, "the interface has ACLs, and the packet is no plain one")
	}
	src, dst := netip.AddrPortFrom(t.src, t.sport), netip.AddrPortFrom(t.dst, t.dport)
	if t.w.nat != nil && t.dut == nil {
		for _, p := range t.w.nat.permitted {
			if p.node == n && p.at.index == ifc.Index && p.proto == t.proto &&
				(p.at.leaving == leaving && p.src == src && p.dst == dst || p.at.leaving != leaving && p.src == dst && p.dst == src) {
				return 0
			}
		}
	}
	for i := range r.list {
		x := &r.list[i]
		if !x.Matches(t.src, t.dst, t.proto, t.sport, t.dport) {
			continue
		}
		if x.Permit && x.Reflect && t.w.nat != nil {
			t.w.nat.permitted = append(t.w.nat.permitted, permitted{n, at, src, dst, t.proto})
		}
		if x.Permit && x.Reflect && t.dut != nil {
			return t.unsure(n, "VPP may know the packet's session")
		}
		if x.Permit {
			return 0
		}
		break
	}
	return t.drop(n, refused+ifc.Name)
}

// refused is why a packet is dropped that an interface's ACLs do not let through.
const refused = "no ACL lets it through "

// Refused reports whether a packet was dropped because of an interface's ACLs.
func (o Outcome) Refused() bool {
	return o.Kind == Dropped && len(o.Why) > len(refused) && o.Why[:len(refused)] == refused
}
