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
	on    []filter
}

// filter is the ACLs that one direction of an interface has, in order.
type filter struct {
	index   uint32
	leaving bool
	acls    []uint32
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
		in := min(int(m.NInput), len(m.Acls))
		t.acls.on = append(t.acls.on, filter{uint32(m.SwIfIndex), false, m.Acls[:in]}, filter{uint32(m.SwIfIndex), true, m.Acls[in:]})
	default:
		return false
	}
	return true
}

// ACLs implements fact.VPP.
func (t *tables) ACLs(index uint32, leaving bool) (rules []fact.ACLRule, filtered bool) {
	for _, f := range t.acls.on {
		if f.index != index || f.leaving != leaving {
			continue
		}
		for _, number := range f.acls {
			rules, filtered = append(rules, t.acls.rules[number]...), true
		}
	}
	return rules, filtered
}
