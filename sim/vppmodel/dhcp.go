package vppmodel

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/dhcp"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip_types"
)

type dhcpClient struct {
	config dhcp.DHCPClient
	lease  Lease
	client uint32 // the client that is notified of leases
}

// Lease is what a DHCP server gave. The zero Lease is none.
type Lease struct {
	// Addr is the address with the length of its subnet; IPv4.
	Addr netip.Prefix
	// Router is the default gateway; the zero Addr where the server named none.
	Router netip.Addr
}

// dhcpConfig: adding where there is a client, or deleting where there is none, is -7. A client outlives its interface.
func (v *VPP) dhcpConfig(m *dhcp.DHCPClientConfig) int32 {
	at := uint32(m.Client.SwIfIndex)
	if v.at(at) == nil {
		return invalidIndex
	}
	c, exists := v.dhcp[at]
	switch {
	case m.IsAdd == exists:
		return invalidValue
	case m.IsAdd:
		v.dhcp[at] = &dhcpClient{config: m.Client, client: v.caller}
	default:
		v.unbind(at, c)
		delete(v.dhcp, at)
	}
	if v.leasing != nil {
		v.leasing(at, m.IsAdd)
	}
	return ok
}

// Up reports whether an interface is there and up.
func (v *VPP) Up(at uint32) bool { i := v.at(at); return i != nil && i.up }

// BindLease lets an interface's DHCP client receive a lease, or lose it when the lease is zero: address and default
// route change, and the client that subscribed to events is notified. The error says that there is no such client.
func (v *VPP) BindLease(at uint32, l Lease) error {
	c := v.dhcp[at]
	if c == nil || v.at(at) == nil {
		return fmt.Errorf("bind lease: no DHCP client on interface %d", at)
	}
	v.unbind(at, c)
	c.lease = l
	if l == (Lease{}) {
		return nil
	}
	v.leaseAddress(at, l, true)
	if l.Router.IsValid() {
		_, router := addrOfNetip(l.Router)
		v.setRoute(v.table(v.ifaces[at], v4), prefix{}, entry{source: sourceDHCP},
			[]path{{addr: router, iface: at, kind: pathNextHop, weight: 1}})
	}
	v.tellLease(at, c)
	return nil
}

func (v *VPP) unbind(at uint32, c *dhcpClient) {
	if c.lease == (Lease{}) {
		return
	}
	if i := v.at(at); i != nil {
		v.unroute(v.table(i, v4), prefix{}, sourceDHCP)
		v.leaseAddress(at, c.lease, false)
	}
	c.lease = Lease{}
}

// leaseAddress is refused like any other address that clashes; the client does not care.
func (v *VPP) leaseAddress(at uint32, l Lease, isAdd bool) {
	_, a := addrOfNetip(l.Addr.Addr())
	v.addDelAddress(&interfaces.SwInterfaceAddDelAddress{SwIfIndex: index(at), IsAdd: isAdd,
		Prefix: ip_types.AddressWithPrefix{Address: a.api(v4), Len: uint8(l.Addr.Bits())}})
}

func (v *VPP) leaseMessage(at uint32, c *dhcpClient) dhcp.DHCPLease {
	l := dhcp.DHCPLease{SwIfIndex: index(at), Hostname: c.config.Hostname}
	if c.lease == (Lease{}) {
		return l
	}
	if i := v.at(at); i != nil {
		l.HostMac = [6]byte(i.mac)
	}
	_, a := addrOfNetip(c.lease.Addr.Addr())
	l.State, l.MaskWidth, l.HostAddress = dhcp.DHCP_CLIENT_STATE_API_BOUND, uint8(c.lease.Addr.Bits()), a.api(v4)
	if c.lease.Router.IsValid() {
		_, r := addrOfNetip(c.lease.Router)
		l.RouterAddress = r.api(v4)
	}
	return l
}

func (v *VPP) dhcpDump(*dhcp.DHCPClientDump) []api.Message {
	var out []api.Message
	for _, at := range slices.Sorted(maps.Keys(v.dhcp)) {
		c := v.dhcp[at]
		out = append(out, &dhcp.DHCPClientDetails{Client: c.config, Lease: v.leaseMessage(at, c)})
	}
	return out
}
