package vppmodel

import (
	"maps"
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/stn"
)

// stolen are the rules of the STN plugin: what nothing in VPP takes of an address' packets leaves through the interface.
// Nothing is punted to them here. Rules are global, whatever the tables, and name interfaces by index; they stay when
// those go (src/plugins/stn/stn.c).
type stolen map[netip.Addr]uint32

// sorted are the addresses in ascending order, IPv4 first.
func (s stolen) sorted() []netip.Addr { return slices.SortedFunc(maps.Keys(s), netip.Addr.Compare) }

// stolenAddr is an address as the plugin has it: in 16 bytes, of which those with nothing in the upper 12 are IPv4's.
func stolenAddr(a ip_types.Address) netip.Addr {
	f, at := decode(a)
	ip := at.netip(f)
	if b := ip.As16(); ip.Is6() && [12]byte(b[:12]) == [12]byte{} {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

// stnAddDel: an address has one rule, and adding another moves it. Deleting looks at the address alone.
func (v *VPP) stnAddDel(m *stn.StnAddDelRule) int32 {
	a := stolenAddr(m.IPAddress)
	if m.IsAdd {
		v.stolen[a] = uint32(m.SwIfIndex)
		return ok
	}
	if _, is := v.stolen[a]; !is {
		return noSuchEntry
	}
	delete(v.stolen, a)
	return ok
}

// stnCrash: the plugin looks for the interface's output node without asking whether there is such an interface.
func (v *VPP) stnCrash(m *stn.StnAddDelRule) CrashTrigger {
	if m.IsAdd && v.at(uint32(m.SwIfIndex)) == nil {
		return CrashSTNInterface
	}
	return ""
}

func (v *VPP) stnDump(*stn.StnRulesDump) []api.Message {
	var out []api.Message
	for _, a := range v.stolen.sorted() {
		f, at := addrOfNetip(a)
		out = append(out, &stn.StnRulesDetails{IPAddress: at.api(f), SwIfIndex: index(v.stolen[a])})
	}
	return out
}

func (v *VPP) appendStolen(b []byte) []byte {
	for _, a := range v.stolen.sorted() {
		b = append(a.AppendTo(append(b, "stn "...)), ' ')
		b = append(v.appendIndex(b, v.stolen[a]), '\n')
	}
	return b
}
