// Package nodeid gives a node its cluster-wide ID: it claims one in the cluster's store, keeps the node's record there
// true, and releases the IDs of nodes that are gone. Every address of a node follows from its ID, so no two nodes may
// ever act on one.
//
// It performs no IO, reads no clock and knows neither addresses nor wiring: what an ID is worth it asks its Plan. It
// never acts on an answer that did not come: a request without one may have been done or not, and the store is listed
// again. The store that it is tried against is in its tests; vppwire/host/etcd is a real one.
//
// Start at Machine.Step: events in, effects out.
//
// # The contract of Step
//
// One caller steps, one event after the other; times never go back. The effects are to be started in their order, and
// the slice is valid until the next Step. Plan is asked during Step and must not step the Machine itself.
//
//   - Restored comes first, and only where the journal holds a claim. It may be acted on at once.
//   - NodeSeen, NodeGone and NodesListed tell which Node objects exist, in any order and as often as the caller likes. NodesListed
//     says that all have been told since the one before: a node that was not, is gone, unless it came after the list was asked for. ListNodes asks for such a round from the API
//     server itself; it may take any time.
//   - Request goes to the store. StoreReply answers it, or nothing ever does: it is given up after 5 s, and an answer that comes
//     later is ignored. Besides a Watch, one request is outstanding at a time. Requests may be done late, after they were given
//     up, and twice: each names what it expects to find.
//   - StoreChanged delivers what the watch saw, in revision order; a delivery that repeats or is older than what is known changes
//     nothing. StoreWatchLost ends the watch. A list and the watch behind it leave no gap.
//   - Save is to reach the disk before Saved says so with the same claim. Until then Acting is 0; a Saved of a claim that was given
//     up meanwhile means nothing. If the disk fails, the caller tries again: the claim stays outstanding.
//   - Changed comes last in a Step. Its bits WantsAct and WantsJudge ask for the events Act and Judge before the caller's own
//     step ends: Act once the Plan says what holds, Judge when nothing is left for Act. An Act or Judge that nobody wanted does no
//     harm.
//   - RecordChanged, MemberChanged and the other bits say what may be read anew: Peer, Claim, Usable, Holder, Shows, Irregular.
//   - Replanned tells that Plan.Regular answers differently. Await tells that the caller waits for a complete store.
//   - Woke is told at the time that Due names, or later, or when nothing is due.
//   - Log is for people and may be dropped.
//
// # How it holds
//
// The store decides who has an ID: a record is created where there is none, or written over the very record that was
// read. A record whose node is gone is marked released, and its ID and blocks stay untouched for Config.Quarantine: by
// the clock of each reader, from when it saw that itself, as no two nodes' wall clocks need agree. Who has seen all of
// it marks the record as rested (rest.go). A store that has lost its data says nothing about who holds what, and its
// new data may be what a late request left there; so claims are held back by a bootstrap barrier until every node that
// exists has a record or has announced that it holds no ID (barrier.go), and a node whose record it has lost is reached
// by what that said, also while such a request's stands in its place (displaced.go). A node whose ID somebody else has
// taken never takes it back. One whose Node object was deleted and made anew writes its new UID over its own record, so
// that its pods keep their addresses (retake.go).
//
// To change who may release what and when, see stale.go; what a store without data means, barrier.go.
package nodeid
