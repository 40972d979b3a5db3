package hostmodel

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

var _ vppwire.Linux = (*Host)(nil)

// Apply performs one operation at once. Its errors are those of vppwire.Linux, ErrInvalid, ErrDown or ErrUnsupported.
func (h *Host) Apply(op vppwire.LinuxOp) error {
	switch op := op.(type) {
	case vppwire.VethAdd:
		return h.vethAdd(op)
	case vppwire.MacvlanAdd:
		return h.macvlanAdd(op)
	case vppwire.LinkDel:
		return h.linkDel(op)
	case vppwire.LinkSet:
		return h.linkSet(op)
	case vppwire.OffloadSet:
		return h.offloadSet(op)
	case vppwire.ARPSet:
		return h.arpSet(op)
	case vppwire.AddrAdd:
		return h.addrAdd(op)
	case vppwire.AddrDel:
		return h.addrDel(op)
	case vppwire.RouteSet:
		return h.routeSet(op.Route)
	case vppwire.RouteDel:
		return h.routeDel(op.Route)
	case vppwire.NeighSet:
		return h.neighSet(op)
	case vppwire.NeighDel:
		return h.neighDel(op)
	case vppwire.MemifFolderAdd:
		return h.memifFolderAdd(op)
	case vppwire.MemifFolderDel:
		h.memifFolderDel(op)
		return nil
	default:
		panic(fmt.Sprintf("hostmodel: unknown operation %T", op))
	}
}

// Dump lists a namespace: links by name with addresses in order, routes by link, destination and gateway, neighbors by
// link and address. What is a program's own, as MemifJoin has it, is not Linux'. Everything in it is the caller's. vppwire.ErrNoNamespace where there is no such namespace.
func (h *Host) Dump(netns string) (vppwire.LinuxState, error) {
	ns := h.namespace(netns)
	if ns == nil {
		return vppwire.LinuxState{}, fmt.Errorf("namespace %s: %w", netns, vppwire.ErrNoNamespace)
	}
	s := vppwire.LinuxState{Links: make([]vppwire.LinuxLink, 0, len(ns.links))}
	for _, l := range ns.links {
		if l.kind == kindProgram {
			continue
		}
		view := l.view()
		view.Addrs = slices.Clone(view.Addrs)
		s.Links = append(s.Links, view)
		for _, n := range l.neighbors {
			s.Neighbors = append(s.Neighbors, vppwire.LinuxNeighbor{Link: l.name, Addr: n.addr, MAC: n.mac})
		}
	}
	if len(ns.routes.list) > 0 {
		s.Routes = make([]vppwire.HostRoute, 0, len(ns.routes.list))
	}
	for i := range ns.routes.list {
		if ns.routes.list[i].link.kind != kindProgram {
			s.Routes = append(s.Routes, ns.routes.list[i].view())
		}
	}
	if netns == "" && len(h.memifFolders) > 0 {
		s.MemifFolders = h.MemifFolders()
	}
	slices.SortStableFunc(s.Routes, func(a, b vppwire.HostRoute) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), compareAddrs(a.Dst, b.Dst), a.Via.Compare(b.Via))
	})
	return s, nil
}

// view is the link as others see it; Addrs is the link's own slice.
func (l *link) view() vppwire.LinuxLink {
	v := vppwire.LinuxLink{
		Name: l.name, Type: l.kind.String(), MAC: l.mac, MTU: l.mtu, Up: l.up, OffloadOff: l.offloadOff, OwnARP: l.ownARP, Addrs: l.addrs,
	}
	if l.parent != nil {
		v.Parent = l.parent.name
	}
	if l.peer != nil {
		v.Peer, v.PeerNetns = l.peer.name, l.peer.ns.path
	}
	return v
}

func (r *route) view() vppwire.HostRoute {
	return vppwire.HostRoute{Netns: r.link.ns.path, Dst: r.dst, Via: r.via, Link: r.link.name, Metric: r.metric}
}
