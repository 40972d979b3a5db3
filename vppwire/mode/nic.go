package mode

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire"
)

// NICs are the physical interfaces among VPP's interface names: those that VPP did not make itself, in the order in
// which VPP lists them.
func NICs(names []string) []string {
	var nics []string
	for _, name := range names {
		if !vppwire.MadeByVPP(name) {
			nics = append(nics, name)
		}
	}
	return nics
}

// OtherNIC is a physical interface of a node beside the one to the interconnect. It is in the main VRF.
type OtherNIC struct {
	Name string
	// Addr is its address with its subnet's length; the zero Prefix where it has none, or where VPP leases it.
	Addr netip.Prefix
	DHCP bool
}

// DefaultInterface is the physical interface whose subnet holds the node's gateway, and its address, the main one
// before others; the main one where none does. The name is empty without gateway or main interface.
//
// Leased addresses do not count: the gateway behind one is what the server names, and the way to it VPP's client's
// affair.
func (n Node) DefaultInterface() (string, netip.Addr) {
	if !n.Gateway.IsValid() || n.NIC == "" {
		return "", netip.Addr{}
	}
	if !n.Address.Masked().Contains(n.Gateway) {
		for _, o := range n.Others {
			if o.Addr.IsValid() && o.Addr.Masked().Contains(n.Gateway) {
				return o.Name, o.Addr.Addr()
			}
		}
	}
	return n.NIC, n.Address.Addr()
}

// gatewayBehindOther reports whether the default route goes out of another interface than the main one.
func (n Node) gatewayBehindOther() bool {
	name, _ := n.DefaultInterface()
	return name != "" && name != n.NIC
}

// OtherObjects wires the node's other interfaces, and the default route where it goes out of one of them.
func (c Config) OtherObjects(n Node) []vppwire.Object {
	var o objects
	for _, nic := range n.Others {
		if c.MainTable != 0 {
			o.add(vppwire.InTable{If: nic.Name, Table: c.MainTable, IP6: nic.Addr.Addr().Is6()})
		}
		switch {
		case nic.DHCP:
			o.add(vppwire.DHCPClient{If: nic.Name, Table: c.MainTable, Hostname: hostname(n.Hostname)})
		case nic.Addr.IsValid():
			o.add(vppwire.Address{If: nic.Name, Addr: nic.Addr, Table: c.MainTable})
		}
		o.add(vppwire.Up{If: nic.Name})
	}
	if n.gatewayBehindOther() {
		c.defaultRoute(&o, n)
	}
	return o.list
}

func (c Config) defaultRoute(o *objects, n Node) {
	if name, _ := n.DefaultInterface(); name != "" {
		o.add(vppwire.Route{Table: c.MainTable, Prefix: everything(n.Gateway), Via: n.Gateway, If: name})
	}
}
