// Package contiv is Contiv-VPP's way of giving out addresses: a node's ID decides its ranges, and pods get the next
// address of the node's block.
//
// It never talks to a store, VPP or the network, and it never agrees on node IDs with other nodes: whoever calls it
// brings the ID. The wiring of these addresses is vppwire/mode.
//
// Start at Allocator for the pods of one node and at IPAMConfig.Resolve for a cluster's ranges (Plan) and what follows
// from a node ID (NodePlan). IPAM has the names of contiv/vpp's plugins/ipam and asks these two: it keeps itself only
// the addresses that no allocator gives, reserved ones found by a resync and external ones outside of the node's block.
//
// An address that was released comes back only after every other free one (the cursor), and with a ReuseDelay not
// before that time either; both survive a restart, because Allocator's Records carry them. Nothing here is safe for
// concurrent use, save IPAM with Deps.Lock.
//
// IPAM differs from contiv/vpp 2.1.4 and 3.4 on purpose:
//   - A default gateway moves node addresses only if it lies in the interconnect's range, and never onto the broadcast
//     address or out of the range: ErrNoNodeAddress. (Upstream gives both, and lets a gateway elsewhere count.)
//   - The NAT loopback, gateway, network and broadcast addresses are never handed out, whatever pods a resync found.
//     (Upstream gives the NAT loopback after a resync with a pod on the broadcast address.)
//   - 4-in-6 forms are IPv4 addresses everywhere, so that a resync keeps the place in the order. (3.x loses it.)
//   - A podCIDR is compared by value, and a node without an earlier state is no crash. (Upstream compares pointers.)
//   - NodeIDFromPodIP knows the last node, which owns block 0. (Upstream answers 0.)
//   - Overlapping ranges are refused unless WithOverlap; contivCIDR beside ranges that it decides is refused.
//     (Upstream ignores those ranges.)
//   - Node ID 0 is out of range. (Upstream treats it as the last ID.)
//   - An external address that another pod has is refused. (Upstream keeps both.)
//   - A reuse delay (WithReuseDelay) exists, and a resync does not end it.
//   - GetPodIP locks like every other method. A failed Resync changes nothing.
//   - Addresses are netip values, events and dependencies are this package's own small types, Resync takes no
//     transaction, DefaultPlugin is a function, and the SRv6 helpers return an error instead of a wrong identifier.
//
// To add a range, give it a key in IPAMConfig, a field in Plan and a line in Plan.ranges.
package contiv
