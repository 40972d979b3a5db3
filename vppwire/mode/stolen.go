package mode

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Stolen is what the host had on a NIC that VPP has now; the zero Stolen is none. VPP answers to the host's addresses,
// keeps what is its own, and hands the host the rest by rules of its STN plugin; the host sends all by VPP.
type Stolen struct {
	// Link is Linux' name of the NIC.
	Link string
	// Addrs are the addresses with their subnets' lengths, of IPv4. The first is the node's.
	Addrs []netip.Prefix
	// Routes are those over the link that have a gateway.
	Routes []vppwire.HostRoute
}

// Has reports whether a NIC is stolen at all.
func (s Stolen) Has() bool { return s.Link != "" }

// Equal compares values.
func (s Stolen) Equal(o Stolen) bool {
	return s.Link == o.Link && slices.Equal(s.Addrs, o.Addrs) && slices.Equal(s.Routes, o.Routes)
}

// Gateway is the next hop of the default route, zero without one.
func (s Stolen) Gateway() netip.Addr {
	for _, r := range s.Routes {
		if r.Dst.Bits() == 0 {
			return r.Via
		}
	}
	return netip.Addr{}
}

// neighbor is an address beyond the link by which the host sends to VPP what is for pods: the gateway's, else any other
// of the subnet, as VPP answers for all of them.
func (s Stolen) neighbor() netip.Addr {
	if gw := s.Gateway(); gw.IsValid() {
		return gw
	}
	r := vppwire.ProxyARPOf(0, s.Addrs[0])
	if r.Low == s.Addrs[0].Addr() {
		return r.High
	}
	return r.Low
}

// byVPP is the host's route to pods.
func (n Node) byVPP(dst netip.Prefix) vppwire.LinuxRoute {
	if n.Stolen.Has() {
		return vppwire.LinuxRoute{Link: vppwire.HostLinuxDevice, Dst: dst, Via: n.Stolen.neighbor(), By: n.Stolen.Addrs[0]}
	}
	return vppwire.LinuxRoute{Link: vppwire.HostLinuxDevice, Dst: dst, Via: n.HostVPP}
}

// stolenRoutes are the host's by its NIC.
func (c Config) stolenRoutes(o *objects, n Node) {
	if !n.gatewayBehindOther() {
		c.defaultRoute(o, n)
	}
	for _, r := range n.Stolen.Routes {
		if r.Dst.Bits() > 0 {
			o.add(vppwire.Route{Table: c.MainTable, Prefix: r.Dst, Via: r.Via, If: n.NIC})
		}
	}
}

// stolenInterconnect connects VPP with a host whose NIC it has. VPP's end borrows the NIC's addresses, Linux' end has
// them. What hands the host its packets comes first, up to the addresses at Linux' end: as soon as VPP has an address too
// it answers ARP requests for it, and what it gets then has to reach the host, also if Linux drops what comes by a link
// without an address (rp_filter). Then the host's routes move, and only then the NIC loses the addresses.
func (c Config) stolenInterconnect(o *objects, n Node) {
	s, link := &n.Stolen, vppwire.HostLinuxDevice
	name, wiring, vppMAC := c.InterconnectName(), hostModes[c.Host], interconnectMAC(n.ID)
	of := wiring.ends(c, o, vppMAC, vppwire.STNMAC)
	if c.MainTable != 0 {
		o.add(vppwire.InTable{If: name, Table: c.MainTable})
	}
	o.add(vppwire.Unnumbered{If: name, Donor: n.NIC, Table: c.MainTable})
	if c.MTU != 0 {
		o.add(vppwire.MTU{If: name, Bytes: c.MTU})
	}
	o.add(vppwire.Up{If: name})
	o.add(vppwire.LinkState{Name: link, MTU: c.MTU, MAC: vppwire.STNMAC, Of: of})
	if wiring.offload() && !c.KeepOffload {
		o.add(vppwire.Offload{Name: link})
	}
	for _, a := range n.HostAddrs {
		if !slices.ContainsFunc(s.Addrs, func(own netip.Prefix) bool { return own.Addr() == a }) {
			// Upstream's next hop was the stolen address. A static neighbor of that, where it comes before the address itself, has
			// VPP 25.10 answer no ARP request for it any more (seen on a VPP whose NIC came late).
			o.once(vppwire.Neighbor{If: name, Addr: a, MAC: vppwire.STNMAC})
			o.once(vppwire.Route{Table: c.MainTable, Prefix: netip.PrefixFrom(a, a.BitLen()), Via: a, If: name})
		}
	}
	c.stolenRoutes(o, n)
	for _, a := range s.Addrs {
		o.once(vppwire.ProxyARPOf(c.MainTable, a))
	}
	o.add(vppwire.ProxyARPOn{If: name})
	for _, a := range s.Addrs {
		o.add(vppwire.STN{Addr: a.Addr(), If: name, Bits: uint8(a.Bits()), Table: c.MainTable, Routes: vppwire.Destinations(s.Routes)})
	}
	for _, a := range s.Addrs {
		o.add(vppwire.LinuxAddress{Link: link, Addr: a, Stolen: true})
	}
	for _, a := range s.Addrs {
		o.add(vppwire.Address{If: n.NIC, Addr: a, Table: c.MainTable, Stolen: true})
	}
	if gw := s.Gateway(); gw.IsValid() {
		o.add(vppwire.LinuxNeighborEntry{Link: link, Addr: gw, MAC: vppMAC})
	}
	for _, r := range s.Routes {
		o.add(vppwire.LinuxRoute{Link: link, Dst: r.Dst, Via: r.Via, Metric: r.Metric, By: s.by(r.Via), NIC: s.Link, Uplink: n.NIC, Table: c.MainTable})
	}
	for _, p := range n.podRanges() {
		o.once(n.byVPP(p))
	}
	o.add(vppwire.OwnARP{Link: s.Link})
	for _, a := range s.Addrs {
		o.add(vppwire.Stolen{Link: s.Link, Addr: a, Uplink: n.NIC, Routes: vppwire.Destinations(s.Routes)})
	}
}

// by is the address in whose subnet a gateway is.
func (s Stolen) by(via netip.Addr) netip.Prefix {
	for _, a := range s.Addrs {
		if a.Masked().Contains(via) {
			return a
		}
	}
	return s.Addrs[0]
}

// Undo is what has to be undone on Linux for the host to have its NIC as before, in order: the NIC has the addresses
// and then the routes, and only then the interconnect loses them.
func (s Stolen) Undo() (list []vppwire.Object) {
	for _, a := range s.Addrs {
		list = append(list, vppwire.Stolen{Link: s.Link, Addr: a, Routes: vppwire.Destinations(s.Routes)})
	}
	list = append(list, vppwire.OwnARP{Link: s.Link})
	for _, r := range s.Routes {
		list = append(list, vppwire.LinuxRoute{Link: vppwire.HostLinuxDevice, Dst: r.Dst, Via: r.Via, Metric: r.Metric, By: s.by(r.Via), NIC: s.Link})
	}
	for _, a := range s.Addrs {
		list = append(list, vppwire.LinuxAddress{Link: vppwire.HostLinuxDevice, Addr: a, Stolen: true})
	}
	return list
}
