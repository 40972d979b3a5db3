// Package agent decides what one node does: which ID it holds, which pods get which address, and what VPP and Linux
// should look like because of it. It joins ipam and vppwire.
//
// It performs no IO, reads no clock and starts no goroutine. It never opens a socket, writes a file or waits: each
// event goes in with the time, and effects come out for a driver to perform. The opposite is vppwire/host, which does
// nothing else.
//
// Start at Agent.Step. Events are facts and answers, effects are requests; both are plain values that print as one
// line. Config says what an administrator may choose, Record is one line of the journal. The node's ID is nodeid's
// affair.
//
// To add a CNI verb, see attach.go and detach.go; a fact about nodes, nodeid and peer.go; a choice for administrators,
// config.go, whose table in the tests wants every field explained. An event or effect that is missing below fails a
// test.
//
// # Versions
//
// Nodes are upgraded one after the other, and back. A version reads the journal and the node records of the version
// before and of all before that, and what it writes the version before can go on from. So a line of a known kind never
// gets another field, and a known field never another meaning. What is new is a kind of line or a field of its own,
// which older versions leave out (ErrUnknownRecord) or ignore. Where that would do harm, a new format is needed: a
// version learns to read it first, and one release later it is written, behind a RecordFormat or with a "format" in the
// node record. A version that finds a newer JournalFormat than its own refuses the journal by name and changes nothing;
// a newer record of a node it leaves alone: the ID is taken, and the node is not wired until this one has been
// upgraded.
//
// # The caller of Step
//
// What follows is the whole contract; story.Watched holds a driver's tests to what of it can be seen from outside.
//
// One driver steps an agent, one event after the other, with times that never go back. The slice that Step returns is
// valid until the next Step; what it holds stays valid and unchanged, except the Call of a CallDataplane, which ends
// with the next Called, VPPUp or VPPDown. Between two Steps the other methods may be called; what they return is the
// Agent's where they say so.
//
// Effects are started in the order in which they stand. Where one needs an answer, it may take any time, come in any
// order with the answers to others, or never come. An effect is started once, at any later time; a StoreRequest may
// even be done twice, as it names what it expects to find. A driver that dies loses what it had not started: the next
// life begins with Restored and looks again.
//
// # Events
//
// Restored begins the agent's life, once; a second one is logged and ignored. Its records are what the disk holds, and
// they are synced before it is told: others are told of what is read here. What is told before it is kept until then.
// HostAddresses should follow at once, and whenever they change; PodsListed and NodesListed each once after the start
// and after every gap in the news, ServicesListed and EndpointsListed where VPP serves services or
// enforces policies, and SelectablesListed of each kind where it enforces them. Until all of
// these, the ranges and the node records have reported, nothing in VPP or Linux is deleted.
//
//   - PodAdd, PodDel, PodCheck, PodGC and PodStatus open a request, each under a number that was not used before in this life. An
//     Answer closes it, exactly one, in the same Step or any later one. The same sandbox may be added again at any time and gets
//     the same answer. Withdrawn says of a request that nobody waits for its Answer, which may come all the same; what the request
//     began goes on, except an ADD that has no address yet.
//   - NodeSeen and NodeGone tell of Node objects in any order; repeating one is free. NodeGone of an earlier UID does not concern
//     the node that bears the name now. NodesListed ends a complete round of NodeSeen: who was not told in it, is gone.
//     It says how old the list is, as a record may be younger: one that came since is no sign of a node that is gone.
//   - ServiceSeen and ServiceGone tell of services, EndpointsSeen and EndpointsGone of their endpoint slices, in any order; repeating one
//     is free. ServicesListed and EndpointsListed name all that exist of either, and follow what tells of them; nothing is wanted for services before the first of both.
//   - PolicySeen, PeerSeen and NamespaceSeen tell of network policies, and of the pods and namespaces that they select, in any order;
//     SelectableGone of one that is gone; repeating one is free. SelectablesListed names all that exist of one of the three kinds, and follows
//     what tells of them. Before all three a pod keeps the rules that it has, and one without any is closed to all but its node.
//   - PodsListed names the pods bound to this node. PoolsChanged brings address ranges: an older generation, or the same, is
//     ignored. OwnAddress brings the node's own address; the zero prefix says that the plan's holds again.
//   - StoreReply answers the StoreRequest of its ID; one that is given up or unknown is ignored. StoreChanged belongs to the watch of
//     its number, comes in revision order, and may repeat; StoreWatchLost ends it. A store that lost its data answers with
//     another Store than before.
//   - Persisted answers Persist. One without an error says that all writes up to its number are on disk. One with an error says
//     that this write and all later ones under way may be there or not, whatever else is said of them: the agent gives them up,
//     and the next Persist replaces everything.
//   - Called answers CallDataplane; where the answer was lost, the Result says so, and the agent looks before it acts again.
//   - VPPUp says that a connection stands, with the PID of this VPP's life; VPPDown that there is none. Either ends the outstanding
//     call, of which nothing may be told any more.
//   - HostLinks is owed to an agent that takes a NIC from its host (Config.Steals), behind Restored and whenever an address of the host's
//     changes. LinuxChanged answers ChangeLinux; one of another Seq is ignored. ReturnNIC says that the agent is about to go: from there
//     on it does nothing but give the host its NIC back, and NICReturned says when that is done.
//   - Hooked answers Hook; one that nobody waits for is ignored.
//   - Woke is told at the time of the last WakeAt, or later. A Woke too many does no harm; one too few delays what is due.
//
// # Effects
//
//   - Persist must be on disk, synced, before Persisted says so; with Replace the journal holds just these records afterwards, or what
//     it held before. Writes are done in order. Nothing that follows from a record is told to anybody before: no Answer, no
//     claim in the store. So a crash between any two effects loses nothing that was told. Neither does it bring anything back: what
//     a failed write may have left is gone from the disk before anybody is told that it is gone. What a journal owes behind a
//     failure is said in package journaltest.
//   - StoreRequest is answered by StoreReply or not at all: after 5 s the agent gives it up and lists again. At most one is
//     outstanding, and a watch beside it. A newer watch ends the older one.
//   - CallDataplane asks for one call to VPP or Linux; at most one is outstanding. It is answered by Called. A driver that gets no
//     answer from VPP in time ends the connection, as a late answer must not be taken for another call's, and tells VPPDown.
//   - Answer closes a CNI request. It may be told to the asker at once.
//   - WakeAt replaces the alarm, of which there is one; the zero time cancels it.
//   - Hook asks for the pod hooks of the driver and is answered by Hooked; it comes only with Config.EmitHooks. Until then the ADD
//     is not answered, and nothing of the pod is removed. A life that ends meanwhile has the next one ask again: for the removal whatever
//     brings it about, for the addition when the ADD is repeated. So a hook runs at least once, and what it does must bear twice.
//   - ChangeLinux asks for one change of the host's Linux, whether there is a VPP or not; at most one is outstanding, no CallDataplane is
//     beside it, and LinuxChanged answers it. What it undoes may be undone already. NICReturned ends what ReturnNIC began.
//   - ListNodes asks for a round of NodeSeen and NodesListed from the API server itself, not from a cache.
//   - HealthChecks replaces what load balancers hear from this node; nobody hears anything before the first. It has no answer.
//   - NodeAddress tells what the node's own address is. Log is for people. Neither has an answer, and both may be dropped.
package agent
