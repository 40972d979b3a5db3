package mode

import "github.com/vppdrill/vppdrill/vppwire"

// hostTap is a tap whose device is the host's end.
type hostTap struct{}

func (hostTap) name() string { return vppwire.TapName(hostTapID) }

func (hostTap) offload() bool { return false }

func (w hostTap) ends(c Config, o *objects, vppMAC, linuxMAC vppwire.MAC) (of string) {
	o.add(vppwire.Tap{ID: hostTapID, MAC: vppMAC, Host: vppwire.HostLinuxDevice, HostMAC: linuxMAC, HostMTU: c.MTU,
		RxRing: ring(c.RxRing), TxRing: ring(c.TxRing), Tag: "tap-vpp2"})
	return w.name()
}

// ring is a tap's ring size as a dump reports it.
func ring(size uint16) uint16 {
	if size == 0 {
		return defaultRing
	}
	return size
}
