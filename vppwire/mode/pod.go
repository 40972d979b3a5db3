package mode

import (
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
)

// PodObjects wires one pod.
func (c Config) PodObjects(n Node, p Pod) []vppwire.Object {
	if !c.Wires() {
		return nil
	}
	o := objects{list: make([]vppwire.Object, 0, 20)}
	wiring := c.podWired(p)
	podMAC, vppMAC := wiring.macs(n, p)
	wiring.ends(c, &o, p, podMAC, vppMAC)
	if p.Filter != nil && !wiring.shared() {
		o.filter(c.PodInterface(p), p.Filter)
	}
	if p.Memif == 0 {
		c.podTowardsVPP(&o, p, vppMAC)
	}
	c.vppTowardsPod(&o, n, p, c.PodInterface(p), podMAC)
	if p.SecondAddr.IsValid() {
		var second objects
		other := p
		other.Addr, other.Gateway = p.SecondAddr, p.SecondGateway
		if p.Memif == 0 {
			c.podTowardsVPP(&second, other, vppMAC)
		}
		c.vppTowardsPod(&second, n, other, c.PodInterface(p), podMAC)
		o.merge(second.list)
	}
	return o.list
}

func (c Config) podTowardsVPP(o *objects, p Pod, vppMAC vppwire.MAC) {
	o.add(vppwire.LinuxAddress{Netns: p.Netns, Link: p.IfName, Addr: netip.PrefixFrom(p.Addr, p.Addr.BitLen())})
	o.add(vppwire.LinuxRoute{Netns: p.Netns, Link: p.IfName, Dst: netip.PrefixFrom(p.Gateway, p.Gateway.BitLen())})
	o.add(vppwire.LinuxRoute{Netns: p.Netns, Link: p.IfName, Dst: everything(p.Gateway), Via: p.Gateway})
	o.add(vppwire.LinuxNeighborEntry{Netns: p.Netns, Link: p.IfName, Addr: p.Gateway, MAC: vppMAC})
}

func (c Config) vppTowardsPod(o *objects, n Node, p Pod, name string, podMAC vppwire.MAC) {
	own := o
	if c.podWired(p).shared() {
		own = &objects{} // the node's
	}
	c.inPodTable(own, name, p.Addr.Is6())
	if n.PodIf.IsValid() {
		o.add(vppwire.Address{If: name, Addr: netip.PrefixFrom(p.VPPEnd, p.VPPEnd.BitLen()), Table: c.PodTable})
	} else {
		own.add(vppwire.Unnumbered{If: name, Donor: GatewayLoop, Table: c.PodTable, IP6: p.Addr.Is6(), Both: p.SecondAddr.IsValid()})
	}
	c.podMTU(own, name)
	own.add(vppwire.Up{If: name, Filtered: p.Filter != nil})
	if c.NAT.On {
		c.natSides(own, name)
	}
	o.add(vppwire.Neighbor{If: name, Addr: p.Addr, MAC: podMAC})
	o.add(vppwire.Route{Table: c.PodTable, Prefix: netip.PrefixFrom(p.Addr, p.Addr.BitLen()), Via: p.Addr, If: name})
}

func (c Config) inPodTable(o *objects, name string, ip6 bool) {
	if c.PodTable != 0 {
		o.add(vppwire.InTable{If: name, Table: c.PodTable, IP6: ip6})
	}
}

func (c Config) podMTU(o *objects, name string) {
	if c.MTU != 0 {
		o.add(vppwire.MTU{If: name, Bytes: c.MTU})
	}
}

// tagMax is VPP's longest interface tag in bytes.
const tagMax = 63

func podTag(p Pod) string {
	tag := "pod/" + p.Namespace + "/" + p.Name
	if p.Name == "" {
		tag = "pod/" + p.Container
	}
	tag = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, tag)
	return tag[:min(len(tag), tagMax)]
}
