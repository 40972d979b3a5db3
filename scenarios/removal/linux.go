package removal

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// OfLinux reads an operation on a Linux host; false for one that takes nothing away.
func OfLinux(op vppwire.LinuxOp) (Target, bool) {
	t := Target{Index: none}
	switch o := op.(type) {
	case vppwire.LinkDel:
		t.What, t.Netns, t.Name = fact.RemovedLink, o.Netns, o.Name
	case vppwire.LinkSet:
		t.What, t.Netns, t.Name, t.MAC = fact.RemovedLinkMAC, o.Netns, o.Name, o.MAC
		if !o.Up {
			t.What = fact.RemovedLinkUp
			return t, true
		}
		t.Sets = true
		return t, o.MAC != vppwire.MAC{}
	case vppwire.AddrDel:
		t.What, t.Netns, t.Name, t.Prefix = fact.RemovedLinuxAddress, o.Netns, o.Link, o.Addr
	case vppwire.RouteSet:
		t.What, t.Netns, t.Name, t.Prefix, t.Sets = fact.RemovedLinuxRoute, o.Route.Netns, o.Route.Link, o.Route.Dst, true
	case vppwire.RouteDel:
		t.What, t.Netns, t.Name, t.Prefix = fact.RemovedLinuxRoute, o.Route.Netns, o.Route.Link, o.Route.Dst
	case vppwire.NeighSet:
		t.What, t.Netns, t.Name, t.Addr, t.MAC, t.Sets = fact.RemovedLinuxNeighbor, o.Netns, o.Link, o.Addr, o.MAC, true
	case vppwire.NeighDel:
		t.What, t.Netns, t.Name, t.Addr = fact.RemovedLinuxNeighbor, o.Netns, o.Link, o.Addr
	default:
		return Target{}, false
	}
	return t, true
}

// OperationName is what reports call an operation: the kind of thing and what is done.
func OperationName(t Target) string {
	if t.Sets {
		return "set " + string(t.What)
	}
	return "delete " + string(t.What)
}
