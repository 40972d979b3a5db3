package clustertest

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Gateway is the next hop of hosts' default route where VPP has their NIC.
var Gateway = netip.MustParseAddr("192.168.31.254")

// Steal has the node's VPP take the only NIC, whose address is the host's: VPP's end of the interconnect borrows it, Linux' end has it.
func (n *Node) Steal() {
	n.Uplink, n.Management = "eth0", []netip.Addr{n.Address.Addr()}
	n.HostSubnet, n.HostVPP, n.HostLinux = netip.Prefix{}, netip.Addr{}, n.Address.Addr()
	i := &n.VPP.Ifaces[IfaceHost]
	i.Addrs, i.Unnumbered, i.HasUnnumbered = nil, IfaceNIC, true
	n.VPP.Stolen = map[netip.Addr]uint32{n.Address.Addr(): IfaceHost}
	n.VPP.Proxies = map[uint32]netip.Prefix{IfaceHost: n.Address.Masked()}
	n.VPP.API = append(n.VPP.API, fact.Route{Table: MainTable, Prefix: defaultNet, Action: fact.ActionForward, Via: Gateway, Index: IfaceNIC})
	s := n.Linux.Spaces[""]
	s.Routes = []vppwire.HostRoute{{Dst: PodSubnet, Via: Gateway, Link: "vpp1"}}
	s.Neighbors = append(s.Neighbors, vppwire.LinuxNeighbor{Link: "vpp1", Addr: Gateway, MAC: hostMAC})
	for k := range s.Links {
		if s.Links[k].Name == "vpp1" {
			s.Links[k].MAC = vppwire.STNMAC
		}
	}
	n.Has("vpp1")
	n.VPP.Freeze()
}

// Has gives the host's address and default route to one or both of the NIC's link and the interconnect's end, the route to the first.
func (n *Node) Has(links ...string) {
	s := n.Linux.Spaces[""]
	for i := range s.Links {
		l := &s.Links[i]
		if l.Name != n.Uplink && l.Name != "vpp1" {
			continue
		}
		l.Addrs = nil
		for _, name := range links {
			if name == l.Name {
				l.Addrs = []netip.Prefix{n.Address}
			}
		}
	}
	kept := s.Routes[:0]
	for _, r := range s.Routes {
		if r.Dst != defaultNet {
			kept = append(kept, r)
		}
	}
	s.Routes = append(kept, vppwire.HostRoute{Dst: defaultNet, Via: Gateway, Link: links[0]})
}
