package mode

import "github.com/vppdrill/vppdrill/vppwire"

// podVeth is a veth pair between the pod's namespace and the host's, where VPP sits on the end by AF_PACKET.
type podVeth struct{ ownInterface }

func (podVeth) name(_ Config, p Pod) string {
	return vppwire.AFPacketName(PodDevice(p.Container, p.IfName))
}

func (w podVeth) ends(c Config, o *objects, p Pod, podMAC, vppMAC vppwire.MAC) {
	device := PodDevice(p.Container, p.IfName)
	o.add(vppwire.Veth{Device: device, Peer: p.IfName, PeerNetns: p.Netns})
	o.add(vppwire.LinkState{Name: device, MTU: c.MTU, Of: device})
	o.add(vppwire.AFPacket{Device: device, MAC: vppMAC})
	o.add(vppwire.Tag{If: w.name(c, p), Text: podTag(p)})
	o.add(vppwire.LinkState{Netns: p.Netns, Name: p.IfName, MTU: c.MTU, MAC: podMAC, Of: device})
	if !c.KeepOffload {
		// AF_PACKET forwards frames whose checksum the kernel left for hardware to finish: they arrive broken.
		o.add(vppwire.Offload{Name: device})
		o.add(vppwire.Offload{Netns: p.Netns, Name: p.IfName})
	}
}

// PodDevice is the Linux device in the host's namespace that belongs to a pod: the prefix and 13 hexadecimal digits of
// a hash, 15 bytes, the longest name that Linux takes.
func PodDevice(container, ifName string) string {
	const digits = "0123456789abcdef"
	h := hash(container, ifName)
	b := append(make([]byte, 0, 15), vppwire.DevicePrefix...)
	for i := 0; i < 13; i++ {
		b = append(b, digits[h>>(60-4*i)&15])
	}
	return string(b)
}
