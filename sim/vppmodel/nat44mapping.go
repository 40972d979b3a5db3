package vppmodel

import (
	"fmt"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
)

// natKey is what a mapping is found by from the outside; port and protocol are 0 for a whole address.
type natKey struct {
	addr  addr
	port  uint16
	proto uint8
}

// natLocal is one end of a mapping. Identity mappings have one for each table.
type natLocal struct {
	addr   addr
	port   uint16
	weight uint8
	table  uint32
}

// natMapping is a load balancing mapping, or one of an address to itself.
type natMapping struct {
	natKey
	flags    nat_types.NatConfigFlags
	identity bool
	affinity uint32
	// kept are removed locals under the affinity of clients, which are sent there still: only the end of the whole mapping
	// flushes them (nat_affinity_flush_service, src/plugins/nat/nat44-ed/nat44_ed.c).
	kept    []natLocal
	tag     string
	locals  []*natLocal // by VPP's pool index; nil where free
	localAt indexPool
}

func (m *natMapping) add(l natLocal) {
	at := m.localAt.get()
	m.locals = grown(m.locals, at)
	m.locals[at] = &l
}

func (m *natMapping) find(is func(*natLocal) bool) int {
	return slices.IndexFunc(m.locals, func(l *natLocal) bool { return l != nil && is(l) })
}

func (m *natMapping) remove(at int) {
	m.locals[at] = nil
	m.localAt.put(uint32(at))
}

func (m *natMapping) len() (n int) {
	for _, l := range m.locals {
		if l != nil {
			n++
		}
	}
	return n
}

func (m *natMapping) appendText(b []byte) []byte {
	b = m.addr.netip(v4).AppendTo(b)
	if m.port != 0 || m.proto != 0 {
		b = fmt.Appendf(b, ":%d/%d", m.port, m.proto)
	}
	if m.identity {
		b = append(b, " itself"...)
	}
	if m.flags != 0 {
		b = fmt.Appendf(b, " %v", m.flags)
	}
	for _, l := range m.locals {
		switch {
		case l == nil:
		case m.identity:
			b = appendNumber(b, " table ", l.table)
		default:
			b = fmt.Appendf(b, " to %v:%d table %d weight %d", l.addr.netip(v4), l.port, l.table, l.weight)
		}
	}
	return b
}

// identity adds or deletes a mapping of an address, or of one port, to itself for packets of one table. A deletion does
// not ask what kind of mapping it finds: of a load balancing one it takes every local of that table
// (nat44_ed_del_static_mapping_internal).
func (v *VPP) identity(m *nat44_ed.Nat44AddDelIdentityMapping) int32 {
	n := &v.nat
	k := natKey{addrOfIP4(m.IPAddress), m.Port, m.Protocol}
	if m.Flags&nat_types.NAT_IS_ADDR_ONLY != 0 {
		k.port, k.proto = 0, 0
	}
	table := m.VrfID
	if table == none {
		table = n.inside
	}
	switch {
	case !n.on:
		return unsupported
	case m.IsAdd:
		return v.addIdentity(k, table, m)
	}
	old := n.external[k]
	if old == nil {
		return noSuchEntry
	}
	of := func(l *natLocal) bool { return l.table == table }
	if old.find(of) < 0 {
		return noSuchEntry
	}
	v.unlockNAT(table) // once, however many go
	for at := old.find(of); at >= 0; at = old.find(of) {
		if old.affinity != 0 {
			old.kept = append(old.kept, *old.locals[at])
		}
		old.remove(at)
	}
	if old.len() == 0 {
		v.dropMapping(uint32(slices.Index(n.mappings, old)))
	}
	return ok
}

func (v *VPP) addIdentity(k natKey, table uint32, m *nat44_ed.Nat44AddDelIdentityMapping) int32 {
	n := &v.nat
	old := n.external[k]
	switch {
	case old != nil && !old.identity:
		return valueExists
	case old != nil && old.find(func(l *natLocal) bool { return l.table == table }) >= 0:
		return valueExists
	case old == nil:
		old = &natMapping{natKey: k, identity: true, tag: truncate(m.Tag, tagMax), flags: m.Flags & nat_types.NAT_IS_ADDR_ONLY}
		v.keepMapping(old)
	}
	v.lockNAT(table)
	old.add(natLocal{addr: k.addr, port: k.port, table: table})
	return ok
}

func (v *VPP) keepMapping(m *natMapping) {
	n := &v.nat
	at := n.mappingAt.get()
	n.mappings = grown(n.mappings, at)
	n.mappings[at] = m
	n.external[m.natKey] = m
}

func (v *VPP) dropMapping(at uint32) {
	n := &v.nat
	m := n.mappings[at]
	for _, l := range m.locals {
		if l != nil {
			v.unlockNAT(l.table)
		}
	}
	delete(n.external, m.natKey)
	n.mappings[at] = nil
	n.mappingAt.put(at)
}

func (v *VPP) identityDump(*nat44_ed.Nat44IdentityMappingDump) []api.Message {
	var out []api.Message
	for _, m := range v.nat.mappings {
		if m == nil || !m.identity {
			continue
		}
		for _, l := range m.locals {
			if l != nil {
				out = append(out, &nat44_ed.Nat44IdentityMappingDetails{Flags: m.flags, IPAddress: ip_types.IP4Address(m.addr.netip(v4).As4()),
					Protocol: m.proto, Port: m.port, SwIfIndex: index(none), VrfID: l.table, Tag: m.tag})
			}
		}
	}
	return out
}

// balance adds or deletes a load balancing mapping. Two locals are the least, and they may be the same. One that is not
// for packets from the outside alone needs its address among those of NAT.
func (v *VPP) balance(m *nat44_ed.Nat44AddDelLbStaticMapping) int32 {
	n := &v.nat
	k := natKey{addrOfIP4(m.ExternalAddr), m.ExternalPort, m.Protocol}
	old := n.external[k]
	switch {
	case !n.on:
		return unsupported
	case !m.IsAdd && old == nil:
		return noSuchEntry
	case !m.IsAdd && old.identity:
		return invalidValue
	case !m.IsAdd:
		v.dropMapping(uint32(slices.Index(n.mappings, old)))
		return ok
	case old != nil:
		return valueExists
	case len(m.Locals) < 2:
		return invalidValue
	}
	flags := m.Flags & (nat_types.NAT_IS_TWICE_NAT | nat_types.NAT_IS_SELF_TWICE_NAT | nat_types.NAT_IS_OUT2IN_ONLY)
	if flags&nat_types.NAT_IS_TWICE_NAT != 0 {
		flags &^= nat_types.NAT_IS_SELF_TWICE_NAT
	}
	if flags&nat_types.NAT_IS_OUT2IN_ONLY == 0 && !slices.ContainsFunc(n.addresses, func(a natAddress) bool { return a.addr == k.addr }) {
		return noSuchEntry
	}
	lb := &natMapping{natKey: k, flags: flags, affinity: m.Affinity, tag: truncate(m.Tag, tagMax)}
	for _, l := range m.Locals {
		v.lockNAT(l.VrfID)
		lb.add(natLocal{addrOfIP4(l.Addr), l.Port, l.Probability, l.VrfID})
	}
	v.keepMapping(lb)
	return ok
}

// balanceLocal adds a local to a load balancing mapping or takes one away; two have to stay.
func (v *VPP) balanceLocal(m *nat44_ed.Nat44LbStaticMappingAddDelLocal) int32 {
	n := &v.nat
	if !n.on {
		return unsupported
	}
	lb := n.external[natKey{addrOfIP4(m.ExternalAddr), m.ExternalPort, m.Protocol}]
	switch {
	case lb == nil:
		return noSuchEntry
	case lb.identity:
		return invalidValue
	}
	want := natLocal{addrOfIP4(m.Local.Addr), m.Local.Port, m.Local.Probability, m.Local.VrfID}
	at := lb.find(func(l *natLocal) bool { return l.addr == want.addr && l.port == want.port && l.table == want.table })
	switch {
	case m.IsAdd && at >= 0:
		return valueExists
	case m.IsAdd:
		v.lockNAT(want.table)
		lb.add(want)
	case at < 0:
		return noSuchEntry
	case lb.len() < 3:
		return unspecified
	default:
		v.unlockNAT(want.table)
		if lb.affinity != 0 {
			lb.kept = append(lb.kept, *lb.locals[at])
		}
		lb.remove(at)
	}
	return ok
}

func (v *VPP) balanceDump(*nat44_ed.Nat44LbStaticMappingDump) []api.Message {
	var out []api.Message
	for _, m := range v.nat.mappings {
		if m == nil || m.identity {
			continue
		}
		d := &nat44_ed.Nat44LbStaticMappingDetails{ExternalAddr: ip_types.IP4Address(m.addr.netip(v4).As4()), ExternalPort: m.port,
			Protocol: m.proto, Flags: m.flags, Tag: m.tag}
		for _, l := range m.locals {
			if l != nil {
				d.Locals = append(d.Locals, nat44_ed.Nat44LbAddrPort{Addr: ip_types.IP4Address(l.addr.netip(v4).As4()), Port: l.port,
					Probability: l.weight, VrfID: l.table})
			}
		}
		out = append(out, d)
	}
	return out
}

// weights is what VPP makes of the locals' weights: a sum of eight bits, by which it divides for each new session
// (snat_static_mapping_match, src/plugins/nat/nat44-ed/nat44_ed.c).
func (m *natMapping) weights() (sum uint8) {
	for _, l := range m.locals {
		if l != nil {
			sum += l.weight
		}
	}
	return sum
}

// balanceCrash: a mapping whose weights are 0 altogether, or 256. The next packet for it divides by zero.
func (v *VPP) balanceCrash(m *nat44_ed.Nat44AddDelLbStaticMapping) CrashTrigger {
	var sum uint8
	for _, l := range m.Locals {
		sum += l.Probability
	}
	switch {
	case !m.IsAdd, len(m.Locals) < 2, !v.nat.on, sum != 0:
		return ""
	case v.nat.external[natKey{addrOfIP4(m.ExternalAddr), m.ExternalPort, m.Protocol}] != nil:
		return ""
	}
	return CrashNATWeights
}

func (v *VPP) balanceLocalCrash(m *nat44_ed.Nat44LbStaticMappingAddDelLocal) CrashTrigger {
	lb := v.nat.external[natKey{addrOfIP4(m.ExternalAddr), m.ExternalPort, m.Protocol}]
	if lb == nil || lb.identity {
		return ""
	}
	at := lb.find(func(l *natLocal) bool {
		return l.addr == addrOfIP4(m.Local.Addr) && l.port == m.Local.Port && l.table == m.Local.VrfID
	})
	sum := lb.weights()
	switch {
	case m.IsAdd == (at >= 0), !m.IsAdd && lb.len() < 3: // refused, as one that comes twice is
		return ""
	case m.IsAdd:
		sum += m.Local.Probability
	default:
		sum -= lb.locals[at].weight
	}
	if sum == 0 {
		return CrashNATWeights
	}
	return ""
}
