// Package cilium is Cilium's way of giving out addresses: nodes get ranges or lists of addresses from an operator, and
// an agent picks from them at random.
//
// It never talks to a store, a cloud, the kernel or other nodes, and starts no goroutine: time, picks, UUIDs, routes
// and resources come in, results and actions go out. The wiring of these addresses is vppwire/mode.
//
// Start at Node for the pods of one node: a ledger whose blocks are CIDRRanges, and NodeDemand for what it needs. IPAM
// has the names of cilium/cilium's pkg/ipam (1.7) and asks a CIDRRange, a CiliumNode's pool (NodeStore) or named pools
// (MultiPool), which are Nodes' ledgers without routers. The other side is Operator for CiliumNode pools, and
// ClusterPool for node CIDRs and PoolOperator for named pools, both over one ledger of claims.
//
// What runs both sides are machines, of which each is one life: an event and the time go in, effects come out for a
// driver to perform. PoolTerm and Requester work on named pools and node CIDRs, AddressTerm and AddressAgent on
// CiliumNode pools. A request has one answer; one that did not come is unknown, never failed.
//
// A released address may come back at once; a block of a cluster's range only after a delay, if one is set. Two-sided
// states are safe under crashes and late messages if writes to resources carry a version as precondition: the release
// handshake (HandshakeState), and the ledger of blocks (Claim), which decides between leaders. The cloud must not give
// an address anew while a call that frees it is on its way. Only IPAM with Configuration.Lock is safe for concurrent
// use.
//
// It differs from cilium/cilium on purpose:
//   - Blacklisted addresses are passed over before a pick. (Upstream takes them, and a blacklisted net drains the pool.)
//     The error names the entry's owner. (Upstream names who asked.)
//   - ReserveLocalRoutes reserves only routes inside of an allocation range, of both families, and reports. (Upstream
//     reserves every IPv4 route, so that a covering one takes the whole range; and it needs the host device to exist.)
//   - An error comes without results, a dual-stack allocation is one step, and releases by owner join their errors.
//   - A timer that was started for nobody's address ends when the address is allocated; a release that an allocator refuses
//     is tried again after another timeout. (Upstream keeps the entry for ever.)
//   - Dump has no separator behind a single family.
//   - An interface that is missing leaves the address free. (1.7 leaks it.) Picks from a CiliumNode's pool are uniform.
//   - Excess addresses never reach below min-allocate. (Upstream gives back and asks again.) Requests keep to max-allocate.
//   - A cloud that gives less than asked for is asked again only by a resync, and an error is cleared once it is over.
//   - The operator takes back marks, but nothing that the agent has agreed to; it shows an address that it had released only
//     when the agent has forgotten the entry. Before its restore an agent agrees to nothing.
//   - Blocks are decided by a ledger, restored before the first claim, and extending a range reissues nothing. (Upstream
//     gave one CIDR to two nodes after a change of leaders, and live ones after an extension.)
//   - A CiliumNode that makes no sense is refused, and the agent goes on with the last good one; a block that a node shows of
//     a pool whose name the ledger cannot hold is told and not entered.
//   - MultiPool gives nothing back and nothing out before its restore, and takes a CIDR back only before that was told. It gives
//     a CIDR back when the others have as many addresses as it needs, in use or not: so the operator counts. (Upstream counts
//     free ones, against a need that has those in use, and keeps CIDRs that the operator would not have given.)
//   - An agent raises min-allocate while pods wait for addresses. (Upstream's operator knows of no pod without one: with
//     pre-allocate 1, a burst of pods is served one address at a time.)
//   - NewIPAM returns an error (upstream ends the process); addresses are netip values; results hold prefixes, not text;
//     a range with fewer than 2 host bits gives out all its addresses, as newer versions do.
//
// To add a mode, write an Allocator and give it a case in IPAM's newAllocator.
package cilium
