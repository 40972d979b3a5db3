package fact

import (
	"net/netip"
	"strconv"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Thing is a kind of object that a VPP or a Linux host holds for a pod or a node.
type Thing string

// Kinds of removed things. Those of Linux begin with "linux".
const (
	RemovedInterface  Thing = "interface"
	RemovedUp         Thing = "up state of interface"
	RemovedMAC        Thing = "MAC of interface"
	RemovedAddress    Thing = "address of interface"
	RemovedUnnumbered Thing = "borrowed address of interface"
	RemovedInTable    Thing = "table of interface"
	RemovedMember     Thing = "bridge membership of interface"
	RemovedTunnel     Thing = "tunnel"
	RemovedRoute      Thing = "route"
	RemovedNeighbor   Thing = "neighbor"
	RemovedFIB        Thing = "L2 FIB entry"
	RemovedBridge     Thing = "bridge domain"
	RemovedTable      Thing = "table"
	RemovedMapping    Thing = "NAT mapping"

	RemovedLink          Thing = "linux link"
	RemovedLinkUp        Thing = "up state of linux link"
	RemovedLinkMAC       Thing = "MAC of linux link"
	RemovedLinuxAddress  Thing = "linux address"
	RemovedLinuxRoute    Thing = "linux route"
	RemovedLinuxNeighbor Thing = "linux neighbor"
)

// Removal is what one call removed from a node's VPP or Linux. Only the fields of its kind are set.
type Removal struct {
	What Thing
	// Call is the binary API message or the Linux operation that did it.
	Call string
	// Replaced: the call replaced it, for example by another MAC or next hop.
	Replaced bool
	// Name is the interface's or link's that the thing is or is on.
	Name string
	// Table is a route's or interface's.
	Table uint32
	// Prefix is a route's destination or an interface's address.
	Prefix netip.Prefix
	// Addr is a neighbor's address, or the far end of the tunnel that the thing is or is on, or with Port and the IP
	// protocol Proto a mapping's.
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
