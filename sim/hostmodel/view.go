package hostmodel

import (
	"iter"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Link finds a link, the loopback too once it has been used. Addrs is valid until the next change.
func (h *Host) Link(netns, name string) (vppwire.LinuxLink, bool) {
	ns := h.namespace(netns)
	if ns == nil {
		return vppwire.LinuxLink{}, false
	}
	if name == loopback {
		if ns.lo == nil {
			return vppwire.LinuxLink{}, false
		}
		return ns.lo.view(), true
	}
	i, ok := ns.find(name)
	if !ok {
		return vppwire.LinuxLink{}, false
	}
	return ns.links[i].view(), true
}

// Links yields a namespace's links by name, the loopback left out; none for a namespace that does not exist. Addrs is
// valid until the next change, and nothing may be changed meanwhile.
func (h *Host) Links(netns string) iter.Seq[vppwire.LinuxLink] {
	return func(yield func(vppwire.LinuxLink) bool) {
		ns := h.namespace(netns)
		if ns == nil {
			return
		}
		for _, l := range ns.links {
			if !yield(l.view()) {
				return
			}
		}
	}
}

// Route is the longest match in a namespace's main table, connected routes included.
func (h *Host) Route(netns string, dst netip.Addr) (vppwire.HostRoute, bool) {
	ns := h.namespace(netns)
	if ns == nil || !dst.IsValid() {
		return vppwire.HostRoute{}, false
	}
	i := ns.routes.next(dst, 0)
	if i == len(ns.routes.list) {
		return vppwire.HostRoute{}, false
	}
	return ns.routes.list[i].view(), true
}

// Routes yields the routes of a namespace's main table.
func (h *Host) Routes(netns string) iter.Seq[vppwire.HostRoute] {
	return func(yield func(vppwire.HostRoute) bool) {
		ns := h.namespace(netns)
		if ns == nil {
			return
		}
		for i := range ns.routes.list {
			if !yield(ns.routes.list[i].view()) {
				return
			}
		}
	}
}

// Neighbor finds a permanent neighbor entry.
func (h *Host) Neighbor(netns, link string, addr netip.Addr) (vppwire.MAC, bool) {
	ns := h.namespace(netns)
	if ns == nil {
		return vppwire.MAC{}, false
	}
	i, ok := ns.find(link)
	if !ok {
		return vppwire.MAC{}, false
	}
	l := ns.links[i]
	j, ok := slices.BinarySearchFunc(l.neighbors, addr, compareNeighbor)
	if !ok {
		return vppwire.MAC{}, false
	}
	return l.neighbors[j].mac, true
}

// Local finds the link that is up and holds addr itself; the loopback holds its whole subnet.
func (h *Host) Local(netns string, addr netip.Addr) (link string, ok bool) {
	ns := h.namespace(netns)
	if ns == nil {
		return "", false
	}
	if addr.IsLoopback() {
		if ns.lo == nil || !ns.lo.up {
			return "", false
		}
		return loopback, true
	}
	i, _ := slices.BinarySearchFunc(ns.locals, addr, compareLocal)
	for ; i < len(ns.locals) && ns.locals[i].addr == addr; i++ {
		if l := ns.locals[i].link; l.up {
			return l.name, true
		}
	}
	return "", false
}

// Namespaces yields existing namespaces except the host's, in ascending order.
func (h *Host) Namespaces() iter.Seq[string] { return slices.Values(h.sortedNames()) }

// MemifFolders are the folders with memif sockets, in ascending order.
func (h *Host) MemifFolders() []string { return slices.Sorted(maps.Keys(h.memifFolders)) }

// WentWith is the namespace with which a link of the host's own has gone, "" where the link exists or was removed by
// itself.
func (h *Host) WentWith(link string) string { return h.wentWith[link] }
