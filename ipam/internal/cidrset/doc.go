// Package cidrset keeps which node blocks of a cluster range are taken.
//
// It never knows nodes, selectors or the API server: those belong to the package above it.
//
// Start at CIDRSet, the set of Kubernetes' pkg/controller/nodeipam/ipam/cidrset over netip types: AllocateNext, Occupy
// and Release. Ledger is the same for callers whose CIDRs have holders, and counts how many hold each block.
//
// AllocateNext goes on behind the block given last and wraps, so a released block comes back as late as possible. The
// order does not survive a restart: a new set begins at the first block. Nothing here reads a clock, and an error
// changes nothing. The set differs from Kubernetes on purpose:
//   - What is occupied is a set of addresses. A CIDR longer than the node mask occupies only its own part of a block, and
//     releasing it frees the block when no other part is left. (Kubernetes frees the block under the others.)
//   - A node mask shorter than the cluster's is an error. (Kubernetes shifts by a negative number.)
//   - IPv6 ranges of more than 2^16 blocks are refused as in Kubernetes, unless WithAnyWidth.
//   - Metrics is a value to read, not a registry.
//
// To add a way of choosing, give CIDRSet another method beside AllocateNext.
package cidrset
