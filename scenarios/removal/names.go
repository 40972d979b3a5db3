package removal

import (
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Names follows a conversation with one VPP and with Linux, so that a removal can be told without looking: which interface an
// index is, and where it leads. What was made before the conversation began is known as far as dumps have shown it. It sees what
// is deleted, not what is replaced: it does not know what was there. Not safe for concurrent use; New begins one.
type Names struct {
	byIndex map[uint32]port
	// beyond are the namespaces of veths' other ends, by the device in the host's own namespace.
	beyond map[string]string
	// links are those of the host's own namespace that have an address: one that has another link keeps it.
	links map[netip.Addr][]string
}

// port is one interface of VPP.
type port struct {
	name, netns string
	far         netip.Addr
}

// NewNames returns a Names that knows nothing.
func NewNames() *Names {
	return &Names{byIndex: map[uint32]port{}, beyond: map[string]string{}, links: map[netip.Addr][]string{}}
}

// Forget is for a new life of VPP: indices mean other interfaces now.
func (n *Names) Forget() { clear(n.byIndex) }

// Shown takes a message of a dump.
func (n *Names) Shown(details api.Message) {
	switch m := details.(type) {
	case *interfaces.SwInterfaceDetails:
		p := n.byIndex[uint32(m.SwIfIndex)]
		p.name = m.InterfaceName
		n.byIndex[uint32(m.SwIfIndex)] = p
	case *tapv2.SwInterfaceTapV2Details:
		p := n.byIndex[m.SwIfIndex]
		p.netns = m.HostNamespace
		n.byIndex[m.SwIfIndex] = p
	case *vxlan.VxlanTunnelV2Details:
		p := n.byIndex[uint32(m.SwIfIndex)]
		p.far = addr(m.DstAddress)
		n.byIndex[uint32(m.SwIfIndex)] = p
	case *af_packet.AfPacketDetails:
		p := n.byIndex[uint32(m.SwIfIndex)]
		p.netns = n.beyond[m.HostIfName]
		n.byIndex[uint32(m.SwIfIndex)] = p
	}
}

// ShownLinux takes a dump of the host's own namespace.
func (n *Names) ShownLinux(state vppwire.LinuxState) {
	clear(n.links)
	for _, l := range state.Links {
		for _, a := range l.Addrs {
			n.links[a.Addr()] = append(n.links[a.Addr()], l.Name)
		}
	}
}

// addressed takes a change of the addresses of the host's own links, and reports whether an address that a link lost has another one.
func (n *Names) addressed(op vppwire.LinuxOp) (moved bool) {
	switch o := op.(type) {
	case vppwire.AddrAdd:
		if a := o.Addr.Addr(); o.Netns == "" && !slices.Contains(n.links[a], o.Link) {
			n.links[a] = append(n.links[a], o.Link)
		}
	case vppwire.AddrDel:
		if a := o.Addr.Addr(); o.Netns == "" {
			n.links[a] = slices.DeleteFunc(n.links[a], func(l string) bool { return l == o.Link })
			return len(n.links[a]) > 0
		}
	case vppwire.LinkDel:
		for a := range n.links { //vppdrill:unordered each by itself
			if o.Netns == "" {
				n.links[a] = slices.DeleteFunc(n.links[a], func(l string) bool { return l == o.Name })
			}
		}
	}
	return false
}

// Answered takes a request that VPP has answered with success, and returns what it has taken away, nil for nothing.
func (n *Names) Answered(req, reply api.Message) *fact.Removal {
	switch r := reply.(type) {
	case *tapv2.TapCreateV3Reply:
		n.byIndex[uint32(r.SwIfIndex)] = port{name: "tap", netns: req.(*tapv2.TapCreateV3).HostNamespace}
	case *af_packet.AfPacketCreateV3Reply:
		device := req.(*af_packet.AfPacketCreateV3).HostIfName
		n.byIndex[uint32(r.SwIfIndex)] = port{name: "host-" + device, netns: n.beyond[device]}
	case *interfaces.CreateLoopbackInstanceReply:
		n.byIndex[uint32(r.SwIfIndex)] = port{name: "loop"}
	}
	if m, ok := req.(*vxlan.VxlanAddDelTunnelV3); ok && m.IsAdd {
		if r, ok := reply.(*vxlan.VxlanAddDelTunnelV3Reply); ok {
			n.byIndex[uint32(r.SwIfIndex)] = port{name: "vxlan_tunnel", far: addr(m.DstAddress)}
		}
	}
	t, takes := OfVPP(req)
	if !takes || t.Sets {
		return nil
	}
	p := n.byIndex[t.Index]
	r := &fact.Removal{What: t.What, Call: req.GetMessageName(), Name: p.name, Table: t.Table, Prefix: t.Prefix, Addr: t.Addr, Port: t.Port, Proto: t.Proto, MAC: t.MAC, Netns: p.netns}
	switch {
	case t.What == fact.RemovedTunnel:
		r.Addr = t.Dst
	case !r.Addr.IsValid():
		r.Addr = p.far
	}
	if t.What == fact.RemovedInterface {
		if t.Name != "" {
			r.Name, r.Netns = "host-"+t.Name, n.beyond[t.Name]
		}
		delete(n.byIndex, t.Index)
	}
	return r
}

// Applied takes an operation on Linux that has succeeded, and returns what it has taken away, nil for nothing.
func (n *Names) Applied(op vppwire.LinuxOp) *fact.Removal {
	if v, ok := op.(vppwire.VethAdd); ok && v.Netns == "" {
		n.beyond[v.Name] = v.PeerNetns
	}
	moved := n.addressed(op)
	t, takes := OfLinux(op)
	if !takes || t.Sets || moved {
		return nil
	}
	r := &fact.Removal{What: t.What, Call: OperationName(t), Name: t.Name, Prefix: t.Prefix, Addr: t.Addr, MAC: t.MAC, Netns: t.Netns}
	if t.What == fact.RemovedLink && t.Netns == "" {
		r.Netns = n.beyond[t.Name]
		delete(n.beyond, t.Name)
	}
	return r
}
