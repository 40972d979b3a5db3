package fact

import (
	"net/netip"
	"strconv"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Removed is a kind of thing that a VPP or a Linux host holds for a pod or a node.
type Removed string

// Kinds of removed things. Those of Linux begin with "linux".
const (
	RemovedInterface  Removed = "interface"
	RemovedUp         Removed = "up state of interface"
	RemovedMAC        Removed = "MAC of interface"
	RemovedAddress    Removed = "address of interface"
	RemovedUnnumbered Removed = "borrowed address of interface"
	RemovedInTable    Removed = "table of interface"
	RemovedMember     Removed = "bridge membership of interface"
	RemovedTunnel     Removed = "tunnel"
	RemovedRoute      Removed = "route"
	RemovedNeighbor   Removed = "neighbor"
	RemovedFIB        Removed = "L2 FIB entry"
	RemovedBridge     Removed = "bridge domain"
	RemovedTable      Removed = "table"
	RemovedMapping    Removed = "NAT mapping"

	RemovedLink          Removed = "linux link"
	RemovedLinkUp        Removed = "up state of linux link"
	RemovedLinkMAC       Removed = "MAC of linux link"
	RemovedLinuxAddress  Removed = "linux address"
	RemovedLinuxRoute    Removed = "linux route"
	RemovedLinuxNeighbor Removed = "linux neighbor"
)

// Removal is what one call took away from a node's VPP or Linux. Of its fields only those are set that the kind has.
type Removal struct {
	What Removed
	// Call is the binary API message or the Linux operation that did it.
	Call string
	// Replaced: something else stands in its place now, such as another MAC or next hop.
	Replaced bool
	// Name is the interface's or link's that the thing is or is on.
	Name string
	// Table is a route's or interface's.
	Table uint32
	// Prefix is a route's destination or an interface's address.
	Prefix netip.Prefix
	// Addr is a neighbor's address, or the far end of the tunnel that the thing is or is on, or with Port and the IP protocol Proto a
	// mapping's.
	Addr  netip.Addr
	Port  uint16
	Proto uint8
	MAC   vppwire.MAC
	// Netns is the pod's namespace that the thing is in, or that its interface leads into; empty for the host's own.
	Netns string
	// Addrs are those of an interface that was deleted or set down; the slice is valid during the call of the watcher.
	Addrs []netip.Prefix
}

// String names the thing as VPP or Linux would.
func (r *Removal) String() string {
	text := string(r.What)
	if r.Name != "" {
		text += " " + r.Name
	}
	switch {
	case r.Prefix.IsValid() && r.What == RemovedRoute:
		text += " " + r.Prefix.String() + " of table " + strconv.FormatUint(uint64(r.Table), 10)
	case r.Prefix.IsValid():
		text += " " + r.Prefix.String()
	case r.What == RemovedTable || r.What == RemovedInTable || r.What == RemovedBridge:
		text += " " + strconv.FormatUint(uint64(r.Table), 10)
	}
	if r.MAC != (vppwire.MAC{}) {
		text += " " + r.MAC.String()
	}
	switch {
	case r.What == RemovedMapping:
		text += " of " + netip.AddrPortFrom(r.Addr, r.Port).String()
	case r.Addr.IsValid():
		text += " to " + r.Addr.String()
	}
	return text + " (" + r.Call + ")"
}
