package mode

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire"
)

// hostInterconnect connects VPP with its host, and the host with the pods.
func (c Config) hostInterconnect(o *objects, n Node) {
	if !c.Interconnected() {
		return
	}
	if n.Stolen.Has() {
		c.stolenInterconnect(o, n)
		return
	}
	name, link := c.InterconnectName(), vppwire.HostLinuxDevice
	vppMAC, linuxMAC := interconnectMAC(n.ID), hostEndMAC(n.ID)
	wiring := hostModes[c.Host]
	of := wiring.ends(c, o, vppMAC, linuxMAC)
	if c.MainTable != 0 {
		o.add(vppwire.InTable{If: name, Table: c.MainTable, IP6: n.HostVPP.Is6()})
	}
	o.add(vppwire.Address{If: name, Addr: netip.PrefixFrom(n.HostVPP, n.HostSubnet.Bits()), Table: c.MainTable})
	if c.MTU != 0 {
		o.add(vppwire.MTU{If: name, Bytes: c.MTU})
	}
	o.add(vppwire.Up{If: name})
	o.add(vppwire.LinkState{Name: link, MTU: c.MTU, MAC: linuxMAC, Of: of})
	if wiring.offload() && !c.KeepOffload {
		o.add(vppwire.Offload{Name: link})
	}
	o.add(vppwire.LinuxAddress{Link: link, Addr: netip.PrefixFrom(n.HostLinux, n.HostSubnet.Bits())})
	o.add(vppwire.LinuxNeighborEntry{Link: link, Addr: n.HostVPP, MAC: vppMAC})
	o.add(vppwire.Neighbor{If: name, Addr: n.HostLinux, MAC: linuxMAC})
	for _, p := range n.podRanges() {
		o.once(n.byVPP(p))
	}
	if c.outsideByHost(n) {
		o.add(vppwire.Route{Table: c.MainTable, Prefix: everything(n.HostLinux), Via: n.HostLinux, If: name})
	}
	for _, a := range n.HostAddrs {
		if a != n.HostLinux {
			o.once(vppwire.Route{Table: c.MainTable, Prefix: netip.PrefixFrom(a, a.BitLen()), Via: n.HostLinux, If: name})
		}
	}
}

// outsideByHost: what nothing else leads to leaves by the host. So does what is for the hosts of other nodes, as it is
// also the answer to what came from them by this host: a service's node port whose packets keep the client's address.
// Its connection tracking has to see both ways.
func (c Config) outsideByHost(n Node) bool {
	return c.OutsideByHost && !(n.Gateway.IsValid() && n.NIC != "")
}
