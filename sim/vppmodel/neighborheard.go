package vppmodel

import (
	"net/netip"

	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
)

// Hear is an ARP request for an address of an interface's that comes in there: VPP learns who asks, a for mac, whatever it
// knew before, but for a static entry (src/vnet/arp/arp.c, arp_reply and arp_learn). An interface that is down hears nothing,
// and nobody is learned whose address is of none of its subnets.
func (v *VPP) Hear(at uint32, a netip.Addr, mac [6]byte) {
	i, ok := v.Interface(at)
	if !ok || !i.Up || !a.Is4() {
		return
	}
	for _, p := range i.Addrs {
		if p.Contains(a) && p.Addr() != a {
			v.changeNeighbor(&ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{
				SwIfIndex: interface_types.InterfaceIndex(at), MacAddress: ethernet_types.MacAddress(mac),
				IPAddress: ip_types.Address{Af: ip_types.ADDRESS_IP4, Un: ip_types.AddressUnionIP4(a.As4())}}})
			return
		}
	}
}
