package mode

import "github.com/vppdrill/vppdrill/vppwire"

// podTap is a tap that VPP creates with its device inside the pod's namespace.
type podTap struct{ ownInterface }

func (podTap) name(_ Config, p Pod) string { return vppwire.TapName(p.Number) }

func (w podTap) ends(c Config, o *objects, p Pod, podMAC, vppMAC vppwire.MAC) {
	o.add(vppwire.Tap{ID: p.Number, MAC: vppMAC, Host: p.IfName, Netns: p.Netns, HostMAC: podMAC, HostMTU: c.MTU,
		RxRing: ring(c.RxRing), TxRing: ring(c.TxRing), Tag: podTag(p)})
	o.add(vppwire.LinkState{Netns: p.Netns, Name: p.IfName, MTU: c.MTU, MAC: podMAC, Of: w.name(c, p)})
}
