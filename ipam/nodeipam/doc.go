// Package nodeipam is Kubernetes' way of giving CIDRs to nodes (pkg/controller/nodeipam/ipam): one controller for the
// cluster decides which block of the cluster's range each node holds.
//
// It performs no IO, reads no clock and starts no goroutine: events go in with the time, effects come out for a driver
// to perform. It never wires anything. What the blocks are used for on a node is Node's affair, and below that
// contiv.Allocator's.
//
// Start at RangeAllocator for ranges that the cluster keeps, CloudAllocator for ranges that the cloud keeps, Controller
// for IPAMFromCluster and IPAMFromCloud, where both have to agree, RouteController for the cloud's routes to what a
// RangeAllocator gives, and Node for the pod addresses of one node.
// NewNodeIpamController makes the one that the controller manager's Flags ask for. To a driver each is a Machine;
// package cidrset is the set of blocks.
//
// No two nodes ever have overlapping CIDRs in the API server, as long as only leaders write them, one after the other:
// a block is held until the node object, known by UID, is gone, or until it is certain that the block never got there.
// A request without an answer is unknown, never failed, and every PATCH names UID and version of its object. A new
// leader lists, occupies what it finds, and touches nodes without CIDRs, so that its predecessor's late requests are
// refused. Of whoever else writes pod CIDRs the allocator only tells (CIDRQuarantined). The order of blocks starts anew
// with each leader. The package differs from Kubernetes 1.10 to 1.31 on purpose:
//   - A node whose CIDRs are unreadable, outside the ranges or in use elsewhere is quarantined; the others are served. (Upstream's
//     constructor fails, and the controller manager starts over and over.)
//   - A block is freed when the last holder that overlaps it is gone, whatever the node mask was. (Upstream frees it under the
//     others.) The CIDRs of deleted nodes are freed by UID, when the object is gone. (1.31 frees at the deletion timestamp.)
//   - A refused block is picked anew for the next try; a block in doubt is kept. (Upstream writes the released block again.)
//   - Every CIDR seen on a node is occupied, whoever wrote it and when. Pod CIDRs are matched to ranges by family, not by index.
//   - Nodes that find no block wait in line, are told once, and get what becomes free. (Upstream waits for a heartbeat.)
//   - Dual stack is all or nothing, within one range. (Upstream leaks the IPv4 block.)
//   - Pauses between tries, and no endless tries for a node that is gone. Listing at the start is tried again after 250 ms to 2 s.
//     (Upstream waits 10 s.)
//   - Several ranges may overlap, with different masks; a range without a selector ranks by zero matching labels.
//   - Controller synchronises new nodes at once and knows every alias before it allocates; what it allocated it finds again after a
//     failure, and one CIDR never goes to two nodes. (Upstream waits for the first resync, and leaks.)
//   - Names are Kubernetes' where they exist, prefixes netip values, objects this package's own small types; Run and Step take the
//     place of Run(stopCh), events and answers that of informers and clients.
//
// To add a way of choosing a range, give Candidate.Compare another line; to add a request, an effect and a case in its
// owner's answer.
package nodeipam
