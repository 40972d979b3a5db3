package parity

import (
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/acl_types"
	"go.fd.io/govpp/binapi/ip_types"
)

// aclOps are drawn beside ops in another third of all chains.
var aclOps = []op{{10, (*generator).aclChange}, {3, (*generator).aclDelete}, {14, (*generator).aclList}, {6, (*generator).aclOne}}

// aclNumber is one that is there, most of the time: sequences make a few.
func (g *generator) aclNumber() uint32 { return pick[uint32](g, 0, 0, 0, 1, 1, 2, 3, 9) }

func (g *generator) aclChange() api.Message {
	m := &acl.ACLAddReplace{ACLIndex: none, Tag: pick(g, "", "policy/a", "policy/b")}
	if g.chance(60) {
		m.ACLIndex = g.aclNumber()
	}
	for range 1 + g.rand.IntN(3) {
		m.R = append(m.R, g.aclRule())
	}
	if g.chance(40) { // or hardly anything would pass
		m.R = append(m.R, acl_types.ACLRule{IsPermit: acl_types.ACL_ACTION_API_PERMIT}, acl_types.ACLRule{IsPermit: acl_types.ACL_ACTION_API_PERMIT,
			SrcPrefix: ip_types.Prefix{Address: ip_types.Address{Af: ip_types.ADDRESS_IP6}}, DstPrefix: ip_types.Prefix{Address: ip_types.Address{Af: ip_types.ADDRESS_IP6}}})
	}
	m.Count = uint32(len(m.R))
	return m
}

// aclRule is about probes more often than not. Those that let them through begin no sessions, which would outlive the
// rule: reflecting rules are about TCP.
func (g *generator) aclRule() acl_types.ACLRule {
	is6 := g.is6()
	r := acl_types.ACLRule{IsPermit: pick[acl_types.ACLAction](g, 0, 1, 1), SrcportOrIcmptypeLast: 65535, DstportOrIcmpcodeLast: 65535}
	from := tester
	if is6 {
		from = tester6
	}
	r.SrcPrefix, r.DstPrefix = g.prefixAround(from), g.prefixAround(g.addr(is6))
	switch n := g.rand.IntN(100); {
	case n < 40:
		r.Proto = ip_types.IP_API_PROTO_UDP
		if g.chance(40) {
			r.DstportOrIcmpcodeFirst, r.DstportOrIcmpcodeLast = pick[uint16](g, 80, probePort), probePort
		}
		if g.chance(20) {
			r.SrcportOrIcmptypeFirst = pick[uint16](g, probePort, probePort+1)
		}
	case n < 60:
		r.Proto, r.IsPermit = ip_types.IP_API_PROTO_TCP, pick[acl_types.ACLAction](g, 0, 1, 2)
	}
	switch n := g.rand.IntN(100); {
	case n < 3:
		r.DstPrefix = g.prefix(!is6)
	case n < 6:
		r.DstportOrIcmpcodeFirst, r.DstportOrIcmpcodeLast = 9, 8
	case n < 9:
		r.SrcPrefix = ip_types.Prefix{Address: message(from), Len: pick[uint8](g, 8, 40)}
	}
	return r
}

// prefixAround is a prefix with an address in it, or, in IPv4, one beside it.
func (g *generator) prefixAround(a netip.Addr) ip_types.Prefix {
	p, _ := a.Prefix(pick(g, 0, 0, 8, 16, 24, a.BitLen()))
	return ip_types.Prefix{Address: message(p.Addr()), Len: uint8(p.Bits())}
}

func (g *generator) aclDelete() api.Message { return &acl.ACLDel{ACLIndex: g.aclNumber()} }

// aclOne gives an interface one list more, or takes one.
func (g *generator) aclOne() api.Message {
	return &acl.ACLInterfaceAddDel{IsAdd: g.chance(60), IsInput: g.chance(60), SwIfIndex: g.iface(), ACLIndex: g.aclNumber()}
}

// aclList names each ACL once: VPP 25.10 has died of packets behind lists that name one twice, which it refuses by half.
func (g *generator) aclList() api.Message {
	m := &acl.ACLInterfaceSetACLList{SwIfIndex: g.iface()}
	for range pick(g, 0, 1, 1, 2, 3) {
		if n := g.aclNumber(); !slices.Contains(m.Acls, n) {
			m.Acls = append(m.Acls, n)
		}
	}
	m.Count, m.NInput = uint8(len(m.Acls)), uint8(g.rand.IntN(3))
	return m
}
