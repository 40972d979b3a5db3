package probe

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/acl_types"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// acls is what VPP told of ACLs: the rules of each, and which of them interfaces have.
type acls struct {
	rules map[uint32][]fact.ACLRule
	on    []*acl.ACLInterfaceListDetails
}

// aclDumps asks for all of it; a VPP without the plugin knows neither message.
func aclDumps() []api.Message {
	return []api.Message{&acl.ACLDump{ACLIndex: ^uint32(0)}, &acl.ACLInterfaceListDump{SwIfIndex: allInterfaces}}
}

// addACL takes what is about ACLs.
func (t *tables) addACL(m api.Message) bool {
	switch m := m.(type) {
	case *acl.ACLDetails:
		rules := make([]fact.ACLRule, len(m.R))
		for i := range m.R {
			r := &m.R[i]
			rules[i] = fact.ACLRule{Permit: r.IsPermit != acl_types.ACL_ACTION_API_DENY, Reflect: r.IsPermit == acl_types.ACL_ACTION_API_PERMIT_REFLECT,
				Src: prefix(r.SrcPrefix), Dst: prefix(r.DstPrefix), Proto: uint8(r.Proto),
				SrcPorts: [2]uint16{r.SrcportOrIcmptypeFirst, r.SrcportOrIcmptypeLast}, DstPorts: [2]uint16{r.DstportOrIcmpcodeFirst, r.DstportOrIcmpcodeLast}}
		}
		t.acls.rules[m.ACLIndex] = rules
	case *acl.ACLInterfaceListDetails:
		t.acls.on = append(t.acls.on, m)
	default:
		return false
	}
	return true
}

// ACLs implements fact.VPP.
func (t *tables) ACLs(index uint32, leaving bool) (rules []fact.ACLRule, filtered bool) {
	for _, m := range t.acls.on {
		if uint32(m.SwIfIndex) != index {
			continue
		}
		in := min(int(m.NInput), len(m.Acls))
		list := m.Acls[:in]
		if leaving {
			list = m.Acls[in:]
		}
		for _, number := range list {
			rules, filtered = append(rules, t.acls.rules[number]...), true
		}
	}
	return rules, filtered
}
