package mode

import (
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
)

// PodObjects wires one pod.
func (c Config) PodObjects(n Node, p Pod) []vppwire.Object {
	o := objects{list: make([]vppwire.Object, 0, 20)}
	podMAC, vppMAC := PodMACs(p.Container, p.IfName)
	name := c.PodInterface(p)
	of := name
	if c.Pod == PodTap {
		o.add(vppwire.Tap{ID: p.Number, MAC: vppMAC, Host: p.IfName, Netns: p.Netns, HostMAC: podMAC, HostMTU: c.MTU,
			RxRing: ring(c.RxRing), TxRing: ring(c.TxRing), Tag: podTag(p)})
	} else {
		of = PodDevice(p.Container, p.IfName)
		o.add(vppwire.Veth{Device: of, Peer: p.IfName, PeerNetns: p.Netns})
		o.add(vppwire.LinkState{Name: of, MTU: c.MTU, Of: of})
		o.add(vppwire.AFPacket{Device: of, MAC: vppMAC})
		o.add(vppwire.Tag{If: name, Text: podTag(p)})
	}
	o.add(vppwire.LinkState{Netns: p.Netns, Name: p.IfName, MTU: c.MTU, MAC: podMAC, Of: of})
	if c.Pod == PodVeth && !c.KeepOffload {
		// AF_PACKET forwards frames whose checksum the kernel left for hardware to finish: they arrive broken.
		o.add(vppwire.Offload{Name: of})
		o.add(vppwire.Offload{Netns: p.Netns, Name: p.IfName})
	}
	c.podTowardsVPP(&o, p, vppMAC)
	c.vppTowardsPod(&o, n, p, name, podMAC)
	return o.list
}

func (c Config) podTowardsVPP(o *objects, p Pod, vppMAC vppwire.MAC) {
	o.add(vppwire.LinuxAddress{Netns: p.Netns, Link: p.IfName, Addr: netip.PrefixFrom(p.Addr, p.Addr.BitLen())})
	o.add(vppwire.LinuxRoute{Netns: p.Netns, Link: p.IfName, Dst: netip.PrefixFrom(p.Gateway, p.Gateway.BitLen())})
	o.add(vppwire.LinuxRoute{Netns: p.Netns, Link: p.IfName, Dst: everything(p.Gateway), Via: p.Gateway})
	o.add(vppwire.LinuxNeighborEntry{Netns: p.Netns, Link: p.IfName, Addr: p.Gateway, MAC: vppMAC})
}

func (c Config) vppTowardsPod(o *objects, n Node, p Pod, name string, podMAC vppwire.MAC) {
	if c.PodTable != 0 {
		o.add(vppwire.InTable{If: name, Table: c.PodTable, IP6: p.Addr.Is6()})
	}
	if n.PodIf.IsValid() {
		o.add(vppwire.Address{If: name, Addr: podIfAddress(n.PodIf, p.Addr), Table: c.PodTable})
	} else {
		o.add(vppwire.Unnumbered{If: name, Donor: GatewayLoop, Table: c.PodTable})
	}
	if c.MTU != 0 {
		o.add(vppwire.MTU{If: name, Bytes: c.MTU})
	}
	o.add(vppwire.Up{If: name})
	o.add(vppwire.Neighbor{If: name, Addr: p.Addr, MAC: podMAC})
	o.add(vppwire.Route{Table: c.PodTable, Prefix: netip.PrefixFrom(p.Addr, p.Addr.BitLen()), Via: p.Addr, If: name})
}

// PodInterface is the VPP name of a pod's interface.
func (c Config) PodInterface(p Pod) string {
	if c.Pod == PodTap {
		return vppwire.TapName(p.Number)
	}
	return vppwire.AFPacketName(PodDevice(p.Container, p.IfName))
}

// podIfAddress is base with the host bits of a, full length.
func podIfAddress(base netip.Prefix, a netip.Addr) netip.Prefix {
	b, x := base.Addr().As16(), a.As16()
	network := base.Bits()
	if base.Addr().Is4() {
		network += 96
	}
	for i := network; i < 128; i++ {
		bit := byte(1) << (7 - i%8)
		b[i/8] = b[i/8]&^bit | x[i/8]&bit
	}
	addr := netip.AddrFrom16(b)
	if base.Addr().Is4() {
		addr = addr.Unmap()
	}
	return netip.PrefixFrom(addr, addr.BitLen())
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

// PodDevice is the Linux device in the host's namespace that belongs to a pod: the prefix and 13 hexadecimal digits of a
// hash, 15 bytes, the longest name that Linux takes.
func PodDevice(container, ifName string) string {
	const digits = "0123456789abcdef"
	h := hash(container, ifName)
	b := append(make([]byte, 0, 15), vppwire.DevicePrefix...)
	for i := 0; i < 13; i++ {
		b = append(b, digits[h>>(60-4*i)&15])
	}
	return string(b)
}

// PodMACs are the MACs of a pod's two ends: 02:fe and four bytes of a hash of container and interface; the VPP end has them
// inverted (upstream's later rule).
func PodMACs(container, ifName string) (pod, vpp vppwire.MAC) {
	h := uint32(hash(container, ifName))
	pod = vppwire.MAC{0x02, 0xfe, byte(h), byte(h >> 8), byte(h >> 16), byte(h >> 24)}
	vpp = vppwire.MAC{0x02, 0xfe, ^byte(h), ^byte(h >> 8), ^byte(h >> 16), ^byte(h >> 24)}
	return pod, vpp
}

// hash is FNV-1a of 64 bits over "container/ifName".
func hash(container, ifName string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := 0; i < len(container); i++ {
		h = (h ^ uint64(container[i])) * prime
	}
	h = (h ^ '/') * prime
	for i := 0; i < len(ifName); i++ {
		h = (h ^ uint64(ifName[i])) * prime
	}
	return h
}
