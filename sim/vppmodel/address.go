package vppmodel

import (
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"
)

// addDelAddress follows src/vnet/ip/ip4_forward.c and ip6_forward.c. A clash with an address of the same table, this
// very address on this very interface included, is -105 for IPv4 and -127 for IPv6.
func (v *VPP) addDelAddress(m *interfaces.SwInterfaceAddDelAddress) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil {
		return invalidIndex
	}
	if m.DelAll {
		for len(i.addrs) > 0 {
			v.dropAddress(i, 0)
		}
		return ok
	}
	if i.kind == KindLocal {
		return unsupported
	}
	f, a := decode(m.Prefix.Address)
	if a.isLinkLocal(f) {
		return linkLocalAddress(m.IsAdd, m.Prefix.Len)
	}
	at := slices.IndexFunc(i.addrs, func(p netip.Prefix) bool { return p.Addr() == a.netip(f) })
	if !m.IsAdd {
		if at < 0 {
			return addressNotFound
		}
		v.dropAddressAs(i, at, int(m.Prefix.Len))
		return ok
	}
	if v.clashes(i, f, a, m.Prefix.Len) {
		if f == v6 {
			return duplicateAddress
		}
		return addressInUse
	}
	if m.Prefix.Len == 0 || m.Prefix.Len > f.bits() {
		return lengthMismatch
	}
	if len(i.addrs) == 0 {
		v.numbered = append(v.numbered, i.index)
	}
	p := netip.PrefixFrom(a.netip(f), int(m.Prefix.Len))
	i.addrs = append(i.addrs, p)
	if i.up {
		v.addAddressRoutes(i, p)
	}
	return ok
}

// linkLocalAddress accepts and forgets: the model has no link-local addresses.
func linkLocalAddress(isAdd bool, bits uint8) int32 {
	switch {
	case bits != 128:
		return lengthMismatch
	case !isAdd:
		return addressNotFound
	}
	return ok
}

// clashes reports whether an address overlaps one in the same table; several of one subnet on one interface are fine.
func (v *VPP) clashes(i *iface, f family, a addr, bits uint8) bool {
	for _, index := range v.numbered {
		j := v.ifaces[index]
		if j.tables[f] != i.tables[f] {
			continue
		}
		for _, p := range j.addrs {
			g, b := addrOfNetip(p.Addr())
			shorter := min(bits, uint8(p.Bits()))
			if g != f || a.mask(shorter) != b.mask(shorter) {
				continue
			}
			if j != i || uint8(p.Bits()) != bits || a == b {
				return true
			}
		}
	}
	return false
}

func (v *VPP) dropAddress(i *iface, at int) { v.dropAddressAs(i, at, i.addrs[at].Bits()) }

// dropAddressAs removes an address that the client named with some length. VPP finds it by address alone, and then
// takes the routes of the length that was named: with the wrong one, those of the right one stay.
func (v *VPP) dropAddressAs(i *iface, at, bits int) {
	p := i.addrs[at]
	i.addrs = slices.Delete(i.addrs, at, at+1)
	if i.up {
		v.deleteAddressRoutes(i, p, bits, true)
	}
	if len(i.addrs) == 0 {
		n := slices.Index(v.numbered, i.index)
		v.numbered = slices.Delete(v.numbered, n, n+1)
	}
	f, a := addrOfNetip(p.Addr())
	v.flushCovered(i.index, f, a, uint8(min(bits, int(f.bits()))))
}

// addAddressRoutes installs an address's own entry and, once per subnet and interface, those of its subnet.
func (v *VPP) addAddressRoutes(i *iface, p netip.Prefix) {
	f, a := addrOfNetip(p.Addr())
	t, bits := v.table(i, f), uint8(p.Bits())
	v.setRoute(t, prefix{a, f.bits()}, entry{source: sourceInterface},
		[]path{{addr: a, iface: i.index, kind: pathLocal, family: f, weight: 1, private: true}})
	if bits == f.bits() || !i.firstOfSubnet(p) {
		return
	}
	named := a // IPv4 subnets are shown with the address that brought them, IPv6 subnets without
	if f == v6 {
		named = a.mask(bits)
	}
	v.setRouteAs(t, prefix{a.mask(bits), bits}, named, entry{source: sourceInterface, attached: true},
		[]path{{iface: i.index, kind: pathAttached, family: f, weight: 1, private: true}})
	for _, extra := range subnetExtras(f, a, bits) {
		q := dropPath
		if bits == 31 {
			q = path{addr: extra, iface: i.index, kind: pathNextHop, family: f, weight: 1, private: true}
		}
		v.setRoute(t, prefix{extra, 32}, entry{source: sourceInterface}, []path{q})
	}
}

// firstOfSubnet reports whether no address that came before p shares its subnet.
func (i *iface) firstOfSubnet(p netip.Prefix) bool {
	for _, q := range i.addrs {
		if q == p {
			break
		}
		if q.Bits() == p.Bits() && q.Masked() == p.Masked() {
			return false
		}
	}
	return true
}

// subnetExtras are the host entries that an IPv4 subnet brings: drops for its first and last address, or for a /31 the
// other end.
func subnetExtras(f family, a addr, bits uint8) []addr {
	switch {
	case f == v6 || bits > 31:
		return nil
	case bits == 31:
		return []addr{{hi: a.hi ^ 1<<32}}
	}
	var extras []addr
	if first := a.mask(bits); first != a {
		extras = append(extras, first)
	}
	if last := a.last(f, bits); last != a {
		extras = append(extras, last)
	}
	return extras
}

// deleteAddressRoutes takes an address's entry away and, with the last address of a subnet, the subnet's. i.addrs has
// the address no longer when gone is set; otherwise the whole interface goes down and all go anyway.
func (v *VPP) deleteAddressRoutes(i *iface, p netip.Prefix, bits int, gone bool) {
	f, a := addrOfNetip(p.Addr())
	t := v.table(i, f)
	v.unroute(t, prefix{a, f.bits()}, sourceInterface)
	if bits <= 0 || bits >= int(f.bits()) {
		return
	}
	subnet := netip.PrefixFrom(p.Addr(), bits).Masked()
	if gone && slices.ContainsFunc(i.addrs, func(q netip.Prefix) bool { return q.Bits() == bits && subnet.Contains(q.Addr()) }) {
		return
	}
	if bits != p.Bits() {
		return // no such subnet on this interface
	}
	v.unroute(t, prefix{a.mask(uint8(bits)), uint8(bits)}, sourceInterface)
	for _, extra := range subnetExtras(f, a, uint8(bits)) {
		v.unroute(t, prefix{extra, 32}, sourceInterface)
	}
}

// setUnnumbered makes one interface borrow the addresses of another. The message's names are the wrong way round.
func (v *VPP) setUnnumbered(m *interfaces.SwInterfaceSetUnnumbered) int32 {
	borrower, donor := v.at(uint32(m.UnnumberedSwIfIndex)), v.at(uint32(m.SwIfIndex))
	switch {
	case borrower == nil:
		return invalidIndex
	case !m.IsAdd:
		borrower.borrows, borrower.donor = false, 0
		return ok
	case donor == nil:
		return invalidIndex2
	case borrower.tables != donor.tables:
		return unexpectedState
	}
	borrower.borrows, borrower.donor = true, donor.index
	return ok
}

// setTable refuses while the interface has or borrows an address of the family.
func (v *VPP) setTable(m *interfaces.SwInterfaceSetTable) int32 {
	i, f := v.at(uint32(m.SwIfIndex)), familyOf(m.IsIPv6)
	if i == nil {
		return invalidIndex
	}
	if v.tables[f][m.VrfID] == nil {
		return noSuchFIB
	}
	owner := i
	if i.borrows {
		owner = v.at(i.donor)
	}
	if owner != nil && slices.ContainsFunc(owner.addrs, func(p netip.Prefix) bool { return p.Addr().Is6() == (f == v6) }) {
		return hasAddress
	}
	v.bindTable(i, f, m.VrfID)
	return ok
}

func (v *VPP) addressDump(m *ip.IPAddressDump) []api.Message {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil {
		return nil
	}
	var out []api.Message
	for _, p := range i.addrs {
		if p.Addr().Is6() != m.IsIPv6 {
			continue
		}
		f, a := addrOfNetip(p.Addr())
		out = append(out, &ip.IPAddressDetails{SwIfIndex: m.SwIfIndex,
			Prefix: ip_types.AddressWithPrefix{Address: a.api(f), Len: uint8(p.Bits())}})
	}
	return out
}

func (v *VPP) unnumberedDump(m *ip.IPUnnumberedDump) []api.Message {
	var out []api.Message
	for _, i := range v.ifaces {
		if i == nil || !i.borrows || uint32(m.SwIfIndex) != none && uint32(m.SwIfIndex) != i.index {
			continue
		}
		out = append(out, &ip.IPUnnumberedDetails{SwIfIndex: index(i.index), IPSwIfIndex: index(i.donor)})
	}
	return out
}

// addressCrash: addresses for an interface that borrows some, or below a route that leads nowhere, and of another
// length.
func (v *VPP) addressCrash(m *interfaces.SwInterfaceAddDelAddress) CrashTrigger {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil || m.DelAll {
		return ""
	}
	f, a := decode(m.Prefix.Address)
	switch {
	case m.IsAdd && i.borrows:
		return CrashBorrowerWithOwn
	case m.IsAdd && v.leadsNowhere(v.table(i, f), a):
		return CrashDeadCover
	case m.IsAdd:
		return ""
	}
	for _, p := range i.addrs {
		if p.Addr() == a.netip(f) && p.Bits() != int(m.Prefix.Len) {
			return CrashAddressOtherwise
		}
	}
	return ""
}

// unnumberedCrash: an interface that borrows addresses and has or lends some.
func (v *VPP) unnumberedCrash(m *interfaces.SwInterfaceSetUnnumbered) CrashTrigger {
	b, d := v.at(uint32(m.UnnumberedSwIfIndex)), v.at(uint32(m.SwIfIndex))
	if m.IsAdd && b != nil && d != nil && (len(b.addrs) > 0 || b == d || d.borrows || v.lends(b)) {
		return CrashBorrowerWithOwn
	}
	return ""
}

// lends reports whether another interface borrows an interface's addresses.
func (v *VPP) lends(i *iface) bool {
	for _, o := range v.ifaces {
		if o != nil && o.borrows && o.donor == i.index {
			return true
		}
	}
	return false
}
