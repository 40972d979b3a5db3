package vppmodel

import (
	"fmt"

	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
)

// nat is the plugin NAT44-ED: its configuration, without sessions, as the model forwards no packets.
type nat struct {
	on              bool
	inside, outside uint32 // table IDs
	sessions        uint32
	forwarding      bool
	timeouts        nat_types.NatTimeouts // outlives the plugin's being off, as do they alone
	buckets         uint32                // as do these
	addresses       []natAddress
	twice           []natAddress
	interfaces      natInterfaces
	outputs         natInterfaces
	mappings        []*natMapping // by VPP's pool index; nil where free
	mappingAt       indexPool
	external        map[natKey]*natMapping
}

// natSessionsDefault is what sessions of 0 become.
const natSessionsDefault = 63 * 1024

// natTimeoutsDefault are in seconds (src/plugins/nat/lib/nat_inlines.h).
var natTimeoutsDefault = nat_types.NatTimeouts{UDP: 300, TCPEstablished: 7440, TCPTransitory: 240, ICMP: 60}

// enableNAT switches the plugin. Twice the same is refused; what was configured ends with it.
func (v *VPP) enableNAT(m *nat44_ed.Nat44EdPluginEnableDisable) int32 {
	switch {
	case m.Enable && m.Flags&(nat44_ed.NAT44_IS_STATIC_MAPPING_ONLY|nat44_ed.NAT44_IS_CONNECTION_TRACKING) != 0:
		return unsupported
	case m.Enable && v.nat.on:
		return featureAlreadyOn
	case !m.Enable && !v.nat.on:
		return featureAlreadyOff
	case !m.Enable:
		return v.disableNAT()
	}
	v.nat = nat{on: true, inside: m.InsideVrf, outside: m.OutsideVrf, sessions: m.Sessions, timeouts: natTimeoutsDefault,
		external: map[natKey]*natMapping{}}
	v.lockNAT(m.InsideVrf)
	v.lockNAT(m.OutsideVrf)
	if m.Sessions == 0 {
		v.nat.sessions = natSessionsDefault
	}
	v.nat.buckets = buckets(v.nat.sessions)
	return ok
}

// disableNAT gives everything up but the timeouts, and the locks on the two tables and on those of mappings, which VPP forgets. It
// deletes an identity mapping as one of table 0 (nat44_ed_del_static_mappings): where that fails for the last mapping of all, everything
// goes as well, and the answer is an error.
func (v *VPP) disableNAT() (retval int32) {
	n := &v.nat
	for _, m := range n.mappings {
		switch {
		case m == nil:
		case m.identity && m.find(func(l *natLocal) bool { return l.table == 0 }) < 0:
			retval = bug
		default:
			retval = ok
		}
	}
	for _, list := range [][]natAddress{n.addresses, n.twice} {
		for _, a := range list {
			v.unlockNAT(a.table)
		}
	}
	v.nat = nat{timeouts: n.timeouts, buckets: n.buckets}
	return retval
}

// buckets is how many buckets VPP's table for so many sessions has: the power of two next to two fifths of them.
func buckets(sessions uint32) uint32 {
	n := uint32(uint64(sessions) * 2 / 5)
	upper := powerOfTwo(n)
	if upper == n {
		return n
	}
	if lower := upper / 2; n-lower <= upper-n {
		return lower
	}
	return upper
}

// lockNAT makes a table where it is missing and keeps it; ^0 is none.
func (v *VPP) lockNAT(id uint32) {
	if id == none {
		return
	}
	t := v.tables[v4][id]
	if t == nil {
		t = v.addTable(v4, id, "")
	}
	t.nat++
}

func (v *VPP) unlockNAT(id uint32) {
	if id == none {
		return
	}
	if t := v.tables[v4][id]; t != nil {
		t.nat--
		v.reap(t)
	}
}

func (v *VPP) forwardNAT(m *nat44_ed.Nat44ForwardingEnableDisable) int32 {
	v.nat.forwarding = m.Enable
	return ok
}

func (v *VPP) setNATTimeouts(m *nat44_ed.NatSetTimeouts) int32 {
	v.nat.timeouts = nat_types.NatTimeouts(*m)
	return ok
}

func (v *VPP) natConfig(_ *nat44_ed.Nat44ShowRunningConfig, r *nat44_ed.Nat44ShowRunningConfigReply) int32 {
	n := &v.nat
	*r = nat44_ed.Nat44ShowRunningConfigReply{InsideVrf: n.inside, OutsideVrf: n.outside, Sessions: n.sessions,
		ForwardingEnabled: n.forwarding, Timeouts: n.timeouts, Flags: nat44_ed.NAT44_IS_ENDPOINT_DEPENDENT}
	r.TranslationBuckets, r.IpfixLoggingEnabled = n.buckets, true // VPP answers "enabled" whatever is
	return ok
}

// appendNAT appends the plugin's state.
func (v *VPP) appendNAT(b []byte) []byte {
	n := &v.nat
	if !n.on {
		return b
	}
	b = appendNumber(appendNumber(b, "nat44 inside ", n.inside), " outside ", n.outside)
	b = appendNumber(b, " sessions ", n.sessions)
	if n.forwarding {
		b = append(b, " forwarding"...)
	}
	if t := n.timeouts; t != natTimeoutsDefault {
		b = fmt.Appendf(b, " udp %ds tcp %ds %ds icmp %ds", t.UDP, t.TCPEstablished, t.TCPTransitory, t.ICMP)
	}
	b = append(b, '\n')
	for _, a := range n.addresses {
		b = append(a.addr.netip(v4).AppendTo(append(b, "nat44 address "...)), '\n')
	}
	for _, a := range n.twice {
		b = append(a.addr.netip(v4).AppendTo(append(b, "nat44 address "...)), " twice-nat\n"...)
	}
	for _, i := range n.interfaces.list {
		if i != nil {
			b = v.appendIndex(append(b, "nat44 interface "...), i.index)
			b = append(i.sides.appendText(b), '\n')
		}
	}
	for _, i := range n.outputs.list {
		if i != nil {
			b = append(v.appendIndex(append(b, "nat44 output "...), i.index), '\n')
		}
	}
	for _, m := range n.mappings {
		if m != nil {
			b = append(m.appendText(append(b, "nat44 mapping "...)), '\n')
		}
	}
	return b
}
