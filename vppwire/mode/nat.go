package mode

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire"
)

// NAT is what VPP translates. The zero NAT is nothing.
type NAT struct {
	On bool
	// External has the sources of what leaves by the NIC translated to the node's address. Only with an overlay, a NIC and
	// a gateway.
	External bool
	// TCPIdle and OtherIdle are after how many seconds without a packet a session ends.
	TCPIdle, OtherIdle uint32
}

// natSessions is how many sessions VPP keeps: a connection of a pod through a service is one, so that 250 pods have 500
// each.
const natSessions = 128 * 1024

// tcpTransitory is how long a TCP session is kept that is not established, or not any more, in seconds: VPP's default.
const tcpTransitory = 240

// nat adds what services need of a node beside themselves. Clients and endpoints are behind the same interfaces, so
// that each of them is on both sides of NAT: VPP then looks for a session, or a mapping of the destination, and leaves
// all else alone.
//
// The address that a client has which is its own endpoint, or that comes from outside, is VPP's end of the
// interconnect: all nodes and hosts have a way to it, and no pod has it.
//
// What nobody serves is dropped: without a route of its own the service range would lead to the default gateway.
func (c Config) nat(o *objects, n Node) {
	if !c.NAT.On {
		return
	}
	o.add(vppwire.NAT{Table: c.MainTable, Sessions: natSessions})
	o.add(vppwire.NATForwarding{})
	o.add(vppwire.NATTimeouts{UDP: c.NAT.OtherIdle, TCPEstablished: c.NAT.TCPIdle, TCPTransitory: min(tcpTransitory, c.NAT.TCPIdle), ICMP: c.NAT.OtherIdle})
	o.add(vppwire.NATAddress{Addr: n.HostVPP, Twice: true})
	c.natSides(o, c.InterconnectName())
	if c.Overlay() {
		c.natSides(o, BVIName)
	}
	if wiring := podModes[c.Pod]; wiring.shared() && (len(n.Gateways) > 0 || n.PodIf.IsValid()) {
		c.natSides(o, wiring.name(c, Pod{}))
	}
	switch out, addr := n.DefaultInterface(); {
	case n.NIC == "":
	case c.outputs(n):
		o.add(vppwire.NATAddress{Addr: addr})
		o.add(vppwire.NATOutput{If: out})
		if out != n.NIC {
			c.natSides(o, n.NIC)
		}
		// What the node sends and gets itself: packets of tunnels still count as those of the pods' table.
		o.add(vppwire.Identity{Addr: addr, Table: c.MainTable, Proto: vppwire.UDP, Port: vxlanPort})
		o.add(vppwire.Identity{Addr: addr, Table: c.MainTable})
		o.add(vppwire.Identity{Addr: addr, Table: c.PodTable})
	default:
		c.natSides(o, n.NIC)
	}
	if n.Services.IsValid() {
		o.once(vppwire.Route{Table: c.MainTable, Prefix: n.Services, Drop: true})
		o.once(vppwire.Route{Table: c.PodTable, Prefix: n.Services, Drop: true})
		o.once(vppwire.LinuxRoute{Link: vppwire.HostLinuxDevice, Dst: n.Services, Via: n.HostVPP})
	}
	// Other hosts' endpoints answer clients that have such an address.
	for _, p := range n.HostSubnets[:min(1, len(n.HostSubnets))] { // peers of former ranges bring theirs
		o.once(vppwire.LinuxRoute{Link: vppwire.HostLinuxDevice, Dst: p, Via: n.HostVPP})
	}
	// NAT makes addresses of mappings VPP's own in the tables of its interfaces; the host's have to go on leading there.
	for _, a := range n.HostAddrs {
		o.once(vppwire.Route{Table: c.PodTable, Prefix: netip.PrefixFrom(a, a.BitLen()), ToTable: true, Lookup: c.MainTable})
	}
}

// OuterAddresses are objects for the outer addresses of services, none of which is the node's: what services answer
// from them leaves as it is. An output interface of NAT's finds a session only in the table that its packet came in by,
// which is never the NIC's (nat44_ed_not_translate_output_feature, src/plugins/nat/nat44-ed/nat44_ed_in2out.c, 25.10),
// and would give the answer the node's address: identities keep it from that. Pods' own requests would be left alone
// for them too, were the address not one of NAT's; it is one for a table that no packet comes from, so that none ever
// gets it.
func (c Config) OuterAddresses(n Node, addrs []netip.Addr) (list []vppwire.Object) {
	if !c.outputs(n) {
		return nil
	}
	if len(addrs) > 0 {
		list = append(list, vppwire.Table{ID: c.emptyTable()})
	}
	for _, a := range addrs {
		list = append(list, vppwire.NATAddress{Addr: a, Table: c.emptyTable()}, vppwire.Identity{Addr: a, Table: c.MainTable}, vppwire.Identity{Addr: a, Table: c.PodTable})
	}
	return list
}

// emptyTable is the number of a table that no interface is in.
func (c Config) emptyTable() uint32 {
	id := uint32(1)
	for id == c.MainTable || id == c.PodTable {
		id++
	}
	return id
}

// outputs reports whether what leaves by the default interface gets its address.
func (c Config) outputs(n Node) bool {
	out, _ := n.DefaultInterface()
	return c.NAT.On && c.NAT.External && c.Overlay() && n.NIC != "" && out != ""
}

// natPeer leads the host's answers to clients whose address is a peer's end of its interconnect, where no range does.
func (c Config) natPeer(o *objects, n Node, p Peer) {
	if !c.NAT.On || !p.HostSubnet.IsValid() || covered(p.HostSubnet, n.HostSubnets[:min(1, len(n.HostSubnets))]) {
		return
	}
	o.once(vppwire.LinuxRoute{Link: vppwire.HostLinuxDevice, Dst: p.HostSubnet, Via: n.HostVPP})
}

// vxlanPort is where VPP takes tunnels' packets (RFC 7348).
const vxlanPort = 4789

// natSides puts an interface on both sides of NAT.
func (c Config) natSides(o *objects, name string) {
	o.once(vppwire.NATInterface{If: name})
	o.once(vppwire.NATInterface{If: name, Outside: true})
}
