package mode

import "github.com/vppdrill/vppdrill/vppwire"

// PeerObjects wires the way to one other node.
func (c Config) PeerObjects(n Node, p Peer) []vppwire.Object {
	if !c.Wires() {
		return nil
	}
	o := objects{list: make([]vppwire.Object, 0, 6+len(p.PodNetworks)+2*len(p.Management))}
	nodeModes[c.Node].peer(c, &o, n, p)
	c.natPeer(&o, n, p)
	if n.Second != nil && p.Second != nil {
		var second objects
		nodeModes[c.Node].peer(c, &second, *n.Second, *p.Second)
		o.merge(second.list) // but the tunnel, which is there already
	}
	return o.list
}
