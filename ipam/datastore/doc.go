// Package datastore is AWS' way of giving out addresses: a node's network interfaces (ENIs) bring addresses from EC2,
// pods get them, and a pool of spare ones is kept warm.
//
// It never talks to EC2, a container runtime or a disk: those are Calls, a CRI and an FS, and the time is an argument
// or a Clock. A small EC2 to try it against is sim/ec2, which shares nothing with it.
//
// Start at Node for the addresses of one node, at NodePool for the ENIs and units that bring them, at Sizing for how
// many addresses a node should have, at Manager for what ipamd does about it, and at IPAMD for the daemon as a whole,
// which a driver gives events with the time and whose effects it performs. DataStore is a thin layer over Node and
// NodePool under the names of amazon-vpc-cni-k8s' pkg/ipamd/datastore, with a checkpoint in upstream's format, which
// JSONFile keeps.
//
// Everything is in one order, so the same calls give the same answers: ENIs by device number, then addresses ascending;
// what goes back is taken from the other end. A change is made in memory, then written, then told; a write that fails
// is undone, and repeated before anybody is told anything again. Nothing here is safe for concurrent use.
//
// It differs from amazon-vpc-cni-k8s v1.7.5 on purpose:
//   - Release times are in the checkpoint, in an optional field, so that cooling survives a restart. (Upstream forgets them.)
//   - A key with a part that is empty, or has a slash or white space, is refused. (Upstream takes the empty key for "free" and hands out addresses unassigned.)
//   - Cooling addresses count as there, but not as available, in every decision about size. (Upstream lets a node starve on
//     them; for the same reason an ENI is kept if only cooling addresses on others could replace its own.)
//   - An address that goes away under a pod, by force or because its ENI is not seen at a restart, stays that pod's claim:
//     when it comes back it is the pod's, until the pod's DEL. (Upstream re-adds it as free.)
//   - The same address twice in a checkpoint, or an entry that makes no sense, is quarantined with a reason and everything
//     else restored. (Upstream panics, or drops the entry and gives its address to others.)
//   - After a backing store that cannot be read nothing is assigned and nothing written. An empty container runtime does not
//     outvote a file with assignments. An unknown migration phase is an error. (Upstream panics.)
//   - One address on two ENIs is refused. (Upstream counts it twice and can assign it twice.)
//   - Trunk ENIs get no addresses from GetENINeedsIP, as in upstream since 1.8. It returns a copy, as all getters do.
//   - FreeableIPs still has cooling addresses, but Manager gives back only what IdleUnits lists.
//   - Unknown fields of a checkpoint are preserved. Its file is closed, and its directory synced.
//   - Manager compares sets of addresses, asks EC2 before anything leaves the store, and gives back an ENI only if the node
//     would not want another one then. Errors of EC2 make it wait, also at its start, and never exit.
//   - DEL of an unknown pod is ErrUnknownPod as in upstream, and documented as success. Sweep ends what lost DELs left.
//   - Addresses are netip values, errors are sentinels with upstream's texts, and a Clock is an argument.
//
// To add a target, give it a field in Targets and a case in each method of Sizing; to add a request to EC2, a CallOp
// and a case in Manager.called.
package datastore
