package vppmodel

import (
	"go.fd.io/govpp/api"
)

// CrashTrigger names what a real VPP 25.10 dies of, or what breaks its memory so that it dies later. The empty one is
// none. Each was seen on a real one; sim/parity/internal/transcript has the same names with the whole story.
type CrashTrigger string

// What a real VPP 25.10 dies of.
const (
	CrashLocal0   CrashTrigger = "local0"                    // a neighbor on local0, or local0 in a bridge domain
	CrashNeighbor CrashTrigger = "neighbor-without-ethernet" // a neighbor on an interface without Ethernet
	CrashBVI      CrashTrigger = "bvi-without-ethernet"      // an interface without Ethernet becomes a BVI
	// a loopback is an ordinary member of a bridge domain, and hears itself
	CrashBridgedLoopback CrashTrigger = "bridged-loopback"
	// ARP is for the interface of unknown unicast, and there is none
	CrashARPToNowhere  CrashTrigger = "arp-to-nowhere"
	CrashTableOfTunnel CrashTrigger = "table-of-tunnel" // the table that a tunnel sends through goes
	CrashTableInUse    CrashTrigger = "table-in-use"    // the table that an interface is bound to goes
	// a table goes before its routes, which a later table may inherit
	CrashTableWithRoutes CrashTrigger = "table-deleted-with-routes"
	// an address is a static neighbor on an interface that is gone, and one on another
	CrashDeadNeighbor CrashTrigger = "dead-neighbor"
	// neighbors are flushed, or replaced, among them a static one on an interface that is gone
	CrashDeadNeighborFlushed CrashTrigger = "dead-neighbor-flushed"
	// a table is flushed that has routes out of an interface that is gone
	CrashDeadFlushed CrashTrigger = "dead-path-flushed"
	// something resolves through a route out of an interface that is gone
	CrashDeadCover   CrashTrigger = "dead-cover"
	CrashDeadCopied  CrashTrigger = "dead-path-copied"  // a path is added to or taken from such a route
	CrashUnreachable CrashTrigger = "unreachable-paths" // a path answers with an ICMP error
	// a path is attached to an interface of another table, beside other paths
	CrashAttachedBeside CrashTrigger = "attached-beside-others"
	// a recursive route goes that covers its next hop, which is a neighbor
	CrashBelowRoute CrashTrigger = "neighbor-below-its-route"
	// an interface borrows addresses and has or lends some
	CrashBorrowerWithOwn CrashTrigger = "borrower-with-addresses"
	// an address is deleted with another length than it has
	CrashAddressOtherwise CrashTrigger = "address-of-other-length"
	// the 16th AF_PACKET interface: as many with a frame at once, and VPP spins indefinitely
	CrashAFPacketMany CrashTrigger = "af-packet-many"
	// the classifier table goes that an interface's packets are looked up in
	CrashClassifierInUse CrashTrigger = "classifier-in-use"
	// an interface outside of bridge domains that an L2 FIB entry leads to gets an outbound ACL
	CrashACLBehindMAC CrashTrigger = "acl-behind-mac"
	// the weights of a load balancing mapping are 0 altogether, or 256
	CrashNATWeights CrashTrigger = "nat-weights"
	// an STN rule names an interface that there is not
	CrashSTNInterface CrashTrigger = "stn-without-interface"
	// a memif is made in a mode that the plugin does not have
	CrashMemifMode CrashTrigger = "memif-mode"
	// a memif's socket could not be listened on, and VPP has lost count of who uses it
	CrashMemifMiscounted CrashTrigger = "memif-miscounted"
)

// PredictCrash says what a real VPP would die of if it were asked m now, or because of it some time later. It looks at
// what there is, not at what has been: sim/parity knows some more that only a history tells, all of them about routes
// attached to an interface of another table. m itself is not performed. What each message may die of is beside its
// handler.
func (v *VPP) PredictCrash(m api.Message) CrashTrigger {
	if r := row(m); r != nil {
		return r.predict(v, m)
	}
	return ""
}

// leadsNowhere reports whether an address is looked up as a route out of an interface that is gone, or one that answers
// with an ICMP error.
func (v *VPP) leadsNowhere(t *table, a addr) bool {
	r := v.lookup(t, a)
	return r.dropped || r.path.kind == pathUnreachable || r.path.kind == pathProhibited
}
