package mode

import "github.com/vppdrill/vppdrill/vppwire"

// hostVeth is a veth pair in the host's namespace; VPP sits on one end by AF_PACKET.
type hostVeth struct{}

func (hostVeth) name() string { return vppwire.AFPacketName(vppwire.HostVPPDevice) }

func (hostVeth) offload() bool { return true }

func (w hostVeth) ends(c Config, o *objects, vppMAC, _ vppwire.MAC) (of string) {
	device := vppwire.HostVPPDevice
	o.add(vppwire.Veth{Device: device, Peer: vppwire.HostLinuxDevice})
	o.add(vppwire.LinkState{Name: device, MTU: c.MTU, Of: device})
	o.add(vppwire.AFPacket{Device: device, MAC: vppMAC})
	o.add(vppwire.Tag{If: w.name(), Text: "afpacket-vpp2"})
	return device
}
