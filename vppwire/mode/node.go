package mode

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire"
)

// MainInterface is the VPP name of the interface that carries the node's address.
func (n Node) MainInterface() string {
	if n.NIC != "" {
		return n.NIC
	}
	return LoopbackNIC
}

// NodeObjects wires the node itself: tables, main interface, host interconnect, BVI and bridge, routes between the
// VRFs.
func (c Config) NodeObjects(n Node) []vppwire.Object {
	if !c.Wires() {
		return nil
	}
	if n.Second == nil {
		return c.familyObjects(n)
	}
	o := objects{list: c.familyObjects(n)}
	o.merge(c.familyObjects(*n.Second))
	return o.list
}

// familyObjects is NodeObjects of one family.
func (c Config) familyObjects(n Node) []vppwire.Object {
	o := objects{list: c.UplinkObjects(n)}
	c.hostInterconnect(&o, n)
	wiring := nodeModes[c.Node]
	wiring.interconnect(c, &o, n)
	c.gateway(&o, n)
	podModes[c.Pod].node(c, &o, n)
	wiring.betweenTables(c, &o, n)
	c.nat(&o, n)
	age := uint32(0) // never: what an earlier configuration left in VPP ends with it
	if c.ScanNeighbors {
		age = uint32(c.StaleMinutes) * 60
	}
	o.add(vppwire.NeighborConfig{IP6: n.Address.Addr().Is6(), MaxNumber: neighborsMax, MaxAge: age})
	return o.list
}

// UplinkObjects are of NodeObjects what does not need the node's address: a node that leases one begins with them.
func (c Config) UplinkObjects(n Node) []vppwire.Object {
	if !c.Wires() {
		return nil
	}
	var o objects
	for _, t := range [...]uint32{c.MainTable, c.PodTable} {
		if t != 0 {
			o.add(vppwire.Table{ID: t, IP6: n.Address.Addr().Is6()})
		}
	}
	c.mainInterface(&o, n)
	return o.list
}

// mainInterface leaves a stolen NIC's addresses and routes to stolenInterconnect.
func (c Config) mainInterface(o *objects, n Node) {
	name := n.MainInterface()
	if n.NIC == "" {
		o.add(vppwire.Loopback{Instance: nicInstance, MAC: vppwire.MAC{0x02, 0x36, byte(n.ID >> 24), byte(n.ID >> 16), byte(n.ID >> 8), byte(n.ID)}})
		o.add(vppwire.Tag{If: name, Text: "loopbackNIC"})
	}
	if c.MainTable != 0 {
		o.add(vppwire.InTable{If: name, Table: c.MainTable, IP6: n.Address.Addr().Is6()})
	}
	if n.DHCP {
		o.add(vppwire.DHCPClient{If: name, Table: c.MainTable, Hostname: hostname(n.Hostname)})
	} else if n.Address.IsValid() && !n.Stolen.Has() {
		o.add(vppwire.Address{If: name, Addr: n.Address, Table: c.MainTable})
	}
	o.add(vppwire.Up{If: name})
	if !n.gatewayBehindOther() && !n.Stolen.Has() {
		c.defaultRoute(o, n)
	}
}

// hostname is as much of a node's name as VPP tells a DHCP server.
func hostname(name string) string { return name[:min(len(name), 63)] }

// everything is the default route's prefix in a's family.
func everything(a netip.Addr) netip.Prefix {
	if a.Is4() {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

// lends reports whether there is a gateway, of either family.
func (n *Node) lends() bool {
	return len(n.Gateways) > 0 || n.Second != nil && len(n.Second.Gateways) > 0
}

// gateway makes the pods' gateway addresses real, for pod interfaces to borrow. In a cluster of two families the lender
// is in both tables from the beginning: VPP takes no interface into another table that borrows addresses of one that
// has some.
func (c Config) gateway(o *objects, n Node) {
	if n.PodIf.IsValid() || !n.lends() {
		return
	}
	o.add(vppwire.Loopback{Instance: gwInstance, MAC: gatewayMAC(n.ID)})
	o.add(vppwire.Tag{If: GatewayLoop, Text: "podGwLoop"})
	ip6 := n.Address.Addr().Is6()
	o.add(vppwire.InTable{If: GatewayLoop, Table: c.PodTable, IP6: ip6})
	if n.Second != nil {
		o.add(vppwire.InTable{If: GatewayLoop, Table: c.PodTable, IP6: !ip6})
	}
	for _, g := range n.Gateways {
		o.add(vppwire.Address{If: GatewayLoop, Addr: g, Table: c.PodTable})
	}
	o.add(vppwire.Up{If: GatewayLoop})
}
