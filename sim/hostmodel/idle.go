package hostmodel

import (
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Idle reports whether an operation says what is so already, of those that Linux answers with success then too: it would change nothing. To
// set a link's MAC forgets its neighbors, and is something. A link beside VPP goes up and down with VPP's interface, which whoever made that has to
// know. Idle changes nothing itself.
func (h *Host) Idle(op vppwire.LinuxOp) bool {
	switch op := op.(type) {
	case vppwire.LinkSet:
		l, err := h.at(op.Netns, op.Name)
		return err == nil && l.up == op.Up && (op.MTU == 0 || l.mtu == op.MTU) && op.MAC == vppwire.MAC{}
	case vppwire.OffloadSet:
		l, err := h.at(op.Netns, op.Name)
		return err == nil && l.offloadOff == op.Off && !l.lowered
	case vppwire.NeighSet:
		l, err := h.at(op.Netns, op.Link)
		return err == nil && slices.Contains(l.neighbors, neighbor{addr: op.Addr, mac: op.MAC})
	case vppwire.RouteSet:
		ns := h.namespace(op.Route.Netns)
		if ns == nil {
			return false
		}
		from, end := ns.routes.to(op.Route.Dst.Masked())
		return slices.ContainsFunc(ns.routes.list[from:end], func(r route) bool {
			return !r.connected && r.via == op.Route.Via && (op.Route.Link == "" || r.link.name == op.Route.Link)
		})
	}
	return false
}
