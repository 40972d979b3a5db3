package vppmodel

import (
	"math/bits"
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/acl_types"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip_types"
)

// acls is the plugin acl: lists of rules, and which interfaces have them, without sessions, as the model forwards no
// packets.
type acls struct {
	list []*aclList // by VPP's index; nil where free
	at   indexPool
	// on are the lists of interfaces that have some: inbound, then outbound.
	on map[uint32]*[2][]uint32
	// linear: rules are looked up one by one, in place of by hash.
	linear bool
}

type aclList struct {
	tag   string
	rules []acl_types.ACLRule
}

// aclTagMax is what the tag field holds beside its terminating zero, in bytes.
const aclTagMax = 63

func (v *VPP) aclAt(index uint32) *aclList {
	if index < uint32(len(v.acls.list)) {
		return v.acls.list[index]
	}
	return nil
}

// aclAddReplace makes a list, or gives one that is there other rules and another tag (acl_add_list).
func (v *VPP) aclAddReplace(m *acl.ACLAddReplace, r *acl.ACLAddReplaceReply) int32 {
	*r = acl.ACLAddReplaceReply{ACLIndex: m.ACLIndex}
	if len(m.Tag) > aclTagMax {
		r.Retval = invalidValue
		return r.Retval
	}
	for i := range m.R {
		if r.Retval = aclRefusal(&m.R[i]); r.Retval != ok {
			return r.Retval
		}
	}
	a := &aclList{m.Tag, slices.Clone(m.R)}
	switch {
	case m.ACLIndex == none:
		r.ACLIndex = v.acls.at.get()
		v.acls.list = grown(v.acls.list, r.ACLIndex)
	case v.aclAt(m.ACLIndex) == nil:
		r.Retval = noSuchEntry
		return r.Retval
	}
	v.acls.list[r.ACLIndex] = a
	return ok
}

// aclRefusal is what is wrong with a rule.
func aclRefusal(r *acl_types.ACLRule) int32 {
	switch {
	case !masked(&r.SrcPrefix):
		return invalidSrcAddress
	case !masked(&r.DstPrefix):
		return invalidDstAddress
	case r.SrcPrefix.Address.Af != r.DstPrefix.Address.Af:
		return invalidSrcAddress
	case r.SrcportOrIcmptypeFirst > r.SrcportOrIcmptypeLast, r.DstportOrIcmpcodeFirst > r.DstportOrIcmpcodeLast:
		return invalidValue2
	}
	return ok
}

// masked reports whether a prefix is one, without bits behind its length.
func masked(p *ip_types.Prefix) bool {
	n := 4
	if p.Address.Af == ip_types.ADDRESS_IP6 {
		n = 16
	}
	last := 0
	for i, b := range p.Address.Un.XXX_UnionData[:n] {
		if b != 0 {
			last = 8*i + 8 - bits.TrailingZeros8(b)
		}
	}
	return p.Address.Af <= ip_types.ADDRESS_IP6 && int(p.Len) <= 8*n && last <= int(p.Len)
}

// aclDel deletes a list that no interface has; inbound is looked at first.
func (v *VPP) aclDel(m *acl.ACLDel) int32 {
	if v.aclAt(m.ACLIndex) == nil {
		return noSuchEntry
	}
	for side, refusal := range [...]int32{aclInbound, aclOutbound} {
		for _, lists := range v.acls.on { // in any order: one is enough
			if slices.Contains(lists[side], m.ACLIndex) {
				return refusal
			}
		}
	}
	v.acls.list[m.ACLIndex] = nil
	v.acls.at.put(m.ACLIndex)
	return ok
}

// aclSet gives an interface lists in place of those that it has, outbound ones first. What is wrong with a side's is
// answered by 1, and leaves it as it is (vl_api_acl_interface_set_acl_list_t_handler: "rv = rv || …").
func (v *VPP) aclSet(m *acl.ACLInterfaceSetACLList) int32 {
	at := uint32(m.SwIfIndex)
	if v.at(at) == nil {
		return invalidIndex
	}
	for _, index := range m.Acls {
		if v.aclAt(index) == nil {
			return noSuchEntry
		}
	}
	in := min(int(m.NInput), len(m.Acls))
	for side, list := range [...][]uint32{m.Acls[in:], m.Acls[:in]} {
		if twice(list) {
			return 1
		}
		v.setACLs(at, 1-side, list)
	}
	return ok
}

// aclCrash: an outbound list on an interface that is in no bridge domain while an L2 FIB entry leads to it, as one that stayed when the
// interface left, or went and another got its index. The next frame for that MAC has no feature left behind the ACLs, and VPP takes the
// number of none for one (src/vnet/l2/l2_in_out_feat_arc.c, set_next_in_arc_tail_xN).
func (v *VPP) aclCrash(m *acl.ACLInterfaceSetACLList) CrashTrigger {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil || i.bridged || len(m.Acls) <= int(m.NInput) {
		return ""
	}
	for _, e := range v.macs { //vppdrill:unordered one is enough
		if e.index == i.index && !e.filter {
			return CrashACLBehindMAC
		}
	}
	return ""
}

func twice(list []uint32) bool {
	list = slices.Sorted(slices.Values(list))
	return len(slices.Compact(slices.Clone(list))) < len(list)
}

func (v *VPP) setACLs(at uint32, side int, list []uint32) {
	lists := v.acls.on[at]
	if lists == nil {
		lists = new([2][]uint32)
		v.acls.on[at] = lists
	}
	lists[side] = slices.Clone(list)
	if len(lists[0])+len(lists[1]) == 0 {
		delete(v.acls.on, at)
	}
}

func (v *VPP) aclDump(m *acl.ACLDump) (out []api.Message) {
	for index, a := range v.acls.list {
		if a != nil && (m.ACLIndex == none || m.ACLIndex == uint32(index)) {
			out = append(out, &acl.ACLDetails{ACLIndex: uint32(index), Tag: a.tag, Count: uint32(len(a.rules)), R: slices.Clone(a.rules)})
		}
	}
	return out
}

// aclListDump shows every interface, also those that have no list.
func (v *VPP) aclListDump(m *acl.ACLInterfaceListDump) (out []api.Message) {
	for _, i := range v.ifaces {
		if i == nil || uint32(m.SwIfIndex) != none && uint32(m.SwIfIndex) != i.index {
			continue
		}
		d := &acl.ACLInterfaceListDetails{SwIfIndex: interface_types.InterfaceIndex(i.index), Acls: []uint32{}}
		if lists := v.acls.on[i.index]; lists != nil {
			d.Acls, d.NInput = slices.Concat(lists[0], lists[1]), uint8(len(lists[0]))
			d.Count = uint8(len(d.Acls))
		}
		out = append(out, d)
	}
	return out
}

// appendACLs appends the plugin's state.
func (v *VPP) appendACLs(b []byte) []byte {
	for index, a := range v.acls.list {
		if a == nil {
			continue
		}
		b = append(appendNumber(b, "acl ", uint32(index), ' '), a.tag...)
		b = append(appendNumber(b, " rules ", uint32(len(a.rules))), '\n')
	}
	for _, i := range v.ifaces {
		if i == nil || v.acls.on[i.index] == nil {
			continue
		}
		b = append(append(b, "acls "...), i.name...)
		for side, word := range [...]string{" in", " out"} {
			b = append(b, word...)
			for _, index := range v.acls.on[i.index][side] {
				b = appendNumber(b, " ", index)
			}
		}
		b = append(b, '\n')
	}
	return b
}

// ACLRule is one rule of a list, as a packet meets it; TCP flags are left out.
type ACLRule struct {
	Permit, Reflect bool
	Src, Dst        netip.Prefix
	Proto           uint8 // 0 for every protocol
	// SrcPorts and DstPorts are first and last, or ICMP's types and codes.
	SrcPorts, DstPorts [2]uint16
}

// ACLs returns what an interface's packets are held against, inbound or outbound, list behind list; false where it has
// none.
func (v *VPP) ACLs(at uint32, outbound bool) (rules []ACLRule, filtered bool) {
	lists := v.acls.on[at]
	if lists == nil {
		return nil, false
	}
	side := 0
	if outbound {
		side = 1
	}
	for _, index := range lists[side] {
		for i := range v.acls.list[index].rules {
			r := &v.acls.list[index].rules[i]
			rules = append(rules, ACLRule{Permit: r.IsPermit != acl_types.ACL_ACTION_API_DENY, Reflect: r.IsPermit == acl_types.ACL_ACTION_API_PERMIT_REFLECT,
				Src: prefixOf(&r.SrcPrefix), Dst: prefixOf(&r.DstPrefix), Proto: uint8(r.Proto), SrcPorts: [2]uint16{r.SrcportOrIcmptypeFirst, r.SrcportOrIcmptypeLast},
				DstPorts: [2]uint16{r.DstportOrIcmpcodeFirst, r.DstportOrIcmpcodeLast}})
		}
	}
	return rules, len(lists[side]) > 0
}

func prefixOf(p *ip_types.Prefix) netip.Prefix {
	if p.Address.Af == ip_types.ADDRESS_IP6 {
		return netip.PrefixFrom(netip.AddrFrom16(p.Address.Un.XXX_UnionData), int(p.Len))
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte(p.Address.Un.XXX_UnionData[:4])), int(p.Len))
}
