// Package check holds the laws: properties that must always hold, in the simulator and on real machines.
//
// Each law has a file of its own name. It holds the reason for the law, the evidence that the law needs and the check
// of a whole snapshot. A law about every instant also has a watcher, which judges a run fact by fact. Large laws have
// several files, which begin with their names: books_agree_vpp.go, reachable_proof.go. All lists the laws in the order
// in which a run reports them.
//
// A law never causes, heals or waits for anything, and never looks into a world. It sees only fact.Snapshot and
// fact.Fact. Those say what a packet capture, vppctl, ip, kubectl, the store and a CNI log could show, so that no law
// can share a wrong assumption with the code it judges. No law judges how often, in which order and in which words an
// agent works: budgets.go bounds its requests, and goldens beside the code show the rest. The opposite of this package
// is sim/fault, which breaks things.
//
// Start at All. A watcher is for one run and one goroutine. It needs constant time per fact, except for a restarted
// agent's leases and a node's changed blocks, which cost their own size. It allocates only as its maps grow, and
// forgets facts about nodes that are gone. After its first violation a watcher goes on, but later reports may repeat.
//
// If a watcher and its snapshot check can see different things, the law's file says which and why. In doubt a law
// reports nothing: a false alarm costs more than a fault that the next settled snapshot shows anyway. To add a law,
// write one file with a function that returns the fact.Law, add it to All, and write a test that sees it broken and
// intact.
package check
