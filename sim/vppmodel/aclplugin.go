package vppmodel

import (
	"slices"

	"go.fd.io/govpp/binapi/acl"
)

// aclSessionsDefault is the plugin's own default (src/plugins/acl/fa_node.h, ACL_FA_CONN_TABLE_DEFAULT_MAX_ENTRIES).
const aclSessionsDefault = 500000

// aclAddDel gives an interface one list more, behind its others, or takes one away, into whose place the last one comes
// (acl_interface_add_del_inout_acl).
func (v *VPP) aclAddDel(m *acl.ACLInterfaceAddDel) int32 {
	at := uint32(m.SwIfIndex)
	if v.at(at) == nil {
		return invalidIndex
	}
	side, refusal := 1, aclOutbound
	if m.IsInput {
		side, refusal = 0, aclInbound
	}
	var list []uint32
	if lists := v.acls.on[at]; lists != nil {
		list = slices.Clone(lists[side])
	}
	n := slices.Index(list, m.ACLIndex)
	switch {
	case m.IsAdd && n >= 0:
		return refusal
	case m.IsAdd && v.aclAt(m.ACLIndex) == nil, !m.IsAdd && n < 0:
		return noSuchEntry
	case m.IsAdd:
		list = append(list, m.ACLIndex)
	default:
		list[n] = list[len(list)-1]
		list = list[:len(list)-1]
	}
	v.setACLs(at, side, list)
	return ok
}

// aclAddCrash is that of a whole list of the same interface.
func (v *VPP) aclAddCrash(m *acl.ACLInterfaceAddDel) CrashTrigger {
	if m.IsInput || !m.IsAdd {
		return ""
	}
	return v.aclCrash(&acl.ACLInterfaceSetACLList{SwIfIndex: m.SwIfIndex, Acls: []uint32{m.ACLIndex}})
}

func (v *VPP) aclVersion(_ *acl.ACLPluginGetVersion, r *acl.ACLPluginGetVersionReply) int32 {
	*r = acl.ACLPluginGetVersionReply{Major: 1, Minor: 4}
	return ok
}

func (v *VPP) aclPing(_ *acl.ACLPluginControlPing, r *acl.ACLPluginControlPingReply) int32 {
	*r = acl.ACLPluginControlPingReply{VpePID: v.pid}
	return ok
}

func (v *VPP) aclSessionsMax(_ *acl.ACLPluginGetConnTableMaxEntries, r *acl.ACLPluginGetConnTableMaxEntriesReply) int32 {
	*r = acl.ACLPluginGetConnTableMaxEntriesReply{ConnTableMaxEntries: aclSessionsDefault}
	return ok
}

func (v *VPP) aclHashSet(m *acl.ACLPluginUseHashLookupSet) int32 {
	v.acls.linear = !m.Enable
	return ok
}

func (v *VPP) aclHashGet(_ *acl.ACLPluginUseHashLookupGet, r *acl.ACLPluginUseHashLookupGetReply) int32 {
	*r = acl.ACLPluginUseHashLookupGetReply{Enable: !v.acls.linear}
	return ok
}
