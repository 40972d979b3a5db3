package vppmodel

import (
	"go.fd.io/govpp/api"
)

// CrashTrigger names what a real VPP 25.10 dies of, or what breaks its memory so that it dies later. The empty one is none. Each
// was seen on a real one; sim/parity/internal/transcript has the same names with the whole story.
type CrashTrigger string

// What a real VPP 25.10 dies of.
const (
	CrashLocal0           CrashTrigger = "local0"                    // a neighbor on local0, or local0 in a bridge domain
	CrashNeighbor         CrashTrigger = "neighbor-without-ethernet" // a neighbor on an interface without Ethernet
	CrashBVI              CrashTrigger = "bvi-without-ethernet"      // an interface without Ethernet becomes a BVI
	CrashBridgedLoopback  CrashTrigger = "bridged-loopback"          // a loopback is an ordinary member of a bridge domain, and hears itself
	CrashARPToNowhere     CrashTrigger = "arp-to-nowhere"            // ARP is for the interface of unknown unicast, and there is none
	CrashTableOfTunnel    CrashTrigger = "table-of-tunnel"           // the table that a tunnel sends through goes
	CrashTableInUse       CrashTrigger = "table-in-use"              // the table that an interface is bound to goes
	CrashTableWithRoutes  CrashTrigger = "table-deleted-with-routes" // a table goes before its routes, which a later table may inherit
	CrashDeadNeighbor     CrashTrigger = "dead-neighbor"             // an address is a static neighbor on an interface that is gone, and one on another
	CrashDeadFlushed      CrashTrigger = "dead-path-flushed"         // a table is flushed that has routes out of an interface that is gone
	CrashDeadCover        CrashTrigger = "dead-cover"                // something resolves through a route out of an interface that is gone
	CrashDeadCopied       CrashTrigger = "dead-path-copied"          // a path is added to or taken from such a route
	CrashUnreachable      CrashTrigger = "unreachable-paths"         // a path answers with an ICMP error
	CrashAttachedBeside   CrashTrigger = "attached-beside-others"    // a path is attached to an interface of another table, beside other paths
	CrashBelowRoute       CrashTrigger = "neighbor-below-its-route"  // a recursive route goes that covers its next hop, which is a neighbor
	CrashBorrowerWithOwn  CrashTrigger = "borrower-with-addresses"   // an interface borrows addresses and has or lends some
	CrashAddressOtherwise CrashTrigger = "address-of-other-length"   // an address is deleted with another length than it has
	crashAFPacketMany     CrashTrigger = "af-packet-many"            // the 16th AF_PACKET interface: as many with a frame at once, and VPP spins for ever
	crashClassifierInUse  CrashTrigger = "classifier-in-use"         // the classifier table goes that an interface's packets are looked up in
	crashNATWeights       CrashTrigger = "nat-weights"               // the weights of a load balancing mapping are 0 altogether, or 256
)

// PredictCrash says what a real VPP would die of if it were asked m now, or because of it some time later. It looks at what there
// is, not at what has been: sim/parity knows some more that only a history tells, all of them about routes attached to an
// interface of another table. m itself is not performed. What each message may die of is beside its handler.
func (v *VPP) PredictCrash(m api.Message) CrashTrigger {
	if r := row(m); r != nil {
		return r.predict(v, m)
	}
	return ""
}

// leadsNowhere reports whether an address is looked up as a route out of an interface that is gone, or one that answers with an ICMP
// error.
func (v *VPP) leadsNowhere(t *table, a addr) bool {
	r := v.lookup(t, a)
	return r.dropped || r.path.kind == pathUnreachable || r.path.kind == pathProhibited
}
