package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip_types"
)

// allInterfaces is VPP's ~0: every interface in a dump, no interface in a path, "choose" for an instance.
const (
	allInterfaces      = ^uint32(0)
	allInterfacesIndex = interface_types.InterfaceIndex(allInterfaces)
)

func toMAC(m MAC) ethernet_types.MacAddress { return ethernet_types.MacAddress(m) }

func addressFamily(ip6 bool) ip_types.AddressFamily {
	if ip6 {
		return ip_types.ADDRESS_IP6
	}
	return ip_types.ADDRESS_IP4
}

func toAddress(a netip.Addr) (out ip_types.Address) {
	if a.Is4() {
		out.Af = ip_types.ADDRESS_IP4
		b := a.As4()
		copy(out.Un.XXX_UnionData[:], b[:])
		return out
	}
	out.Af = ip_types.ADDRESS_IP6
	b := a.As16()
	copy(out.Un.XXX_UnionData[:], b[:])
	return out
}

func fromAddress(a ip_types.Address) netip.Addr { return fromUnion(a.Un, a.Af == ip_types.ADDRESS_IP6) }

func fromUnion(u ip_types.AddressUnion, is6 bool) netip.Addr {
	if is6 {
		return netip.AddrFrom16(u.XXX_UnionData)
	}
	return netip.AddrFrom4([4]byte(u.XXX_UnionData[:4]))
}

func toPrefix(p netip.Prefix) ip_types.Prefix {
	return ip_types.Prefix{Address: toAddress(p.Addr()), Len: uint8(p.Bits())}
}

func fromPrefix(p ip_types.Prefix) netip.Prefix {
	return netip.PrefixFrom(fromAddress(p.Address), int(p.Len))
}
