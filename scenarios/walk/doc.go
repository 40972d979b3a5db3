// Package walk follows packets through VPPs and Linuxes, table by table, and says where they end up.
//
// It decides which lookups a packet meets and what each one does with it: a pod's own routes, its veth or tap, VPP's
// tables, neighbors, bridge domains and VXLAN tunnels, the wire between the nodes, the host's own stack.
//
// It never changes, guesses or repairs anything, and it knows no wiring: names, tags and address plans mean nothing to
// it. It asks only fact.VPP and fact.Linux, so the same walk runs over the simulator's live tables and over
// the dumps of a real VPP. Nothing else forwards packets in this project: laws judge by it, and sim/parity compares it
// with where packets come out of a real VPP.
//
// A Packet has a size, if it is given one: whatever is too small for it refuses, cuts or drops it, and a tunnel makes it larger. What is
// cut goes on as its longest fragment, since all of them take the same way.
//
// Start at Walk for one packet, at Walker for many; a Walker is valid as long as its snapshot. DUT is one VPP by itself,
// with frames instead of packets, flooded copies, fragments and ARP requests.
//
// Nothing here depends on time, order or chance: the same snapshot gives the same path. Every way of not arriving is an
// Outcome with a reason; nothing panics on a broken cluster. The hop limits are those of IP and of VPP. Where the real
// outcome hangs on something that a snapshot does not hold (learned MACs, flooding, routers outside), a walk through a
// cluster is strict, and a DUT asks its Policy: see the comments at the place in question.
//
// To follow packets through another kind of interface, extend transmit and receive in route.go.
package walk
