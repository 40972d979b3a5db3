// Package calico is Calico's way of giving out addresses: the cluster's pools are cut into small blocks, each with an
// affinity to one host, and every address is assigned by a compare-and-swap of its block's object, by whichever host
// needs one.
//
// It performs no IO, reads no clock and starts no goroutine: events go in with the time, effects come out for a driver
// to perform, which writes a block only if nobody was faster. It never wires anything.
//
// Start at Host, which is Calico's IPAM on one node, and at Tender, which is the cluster's controllers. What they write
// is said by Pools.Assign, Block.Release and Pools.Tend, in which order of requests by Order. Node is the allocator of one host's agent, whose blocks are
// the single addresses that the host was assigned.
//
// An event answers in order: WriteBlock is one at a time and answered once, with Unknown when the driver gives up,
// which is unknown and never failed. An event that comes while effects are performed waits until all of them are.
//
// A Block is a value: its methods return another one. Hosts are named by incarnation, so that a host which comes anew
// under its name is another one. Within a block the address that has been free for the longest is given first, as
// Calico's allocation queue does. A swap that fails has changed nothing: the host looks at the block again. It differs
// from projectcalico/calico on purpose:
//   - A host's search for a block starts at a place that its name decides, and goes up. (Upstream draws from a generator with the name
//     as its seed; both keep hosts out of each other's way and need no luck.)
//   - A pod of a node with two families has an address assigned of each, and none of either where one is exhausted. (Upstream assigns what
//     it can, its plugin fails, and what was assigned is released.) A pod that asks for an address of one family gets any of the other.
//   - What a machine asks for is a block's write alone, and affinity stands in the block. The objects that upstream has beside it,
//     BlockAffinity in its states and IPAMHandle, follow from the difference that a write makes: Order is their order, for drivers
//     whose store has them.
//
// To add a way of choosing a block, give Pools.Assign another line; to add a request, an effect and a case in the Step
// that it answers.
package calico
