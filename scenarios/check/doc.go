// Package check holds the laws: what must never be otherwise, in the simulator and on real machines alike.
//
// Each law has the file of its name: its sentence of why, the evidence that it needs, its judgement of a whole snapshot, and
// for laws about every instant a watcher that judges a run fact by fact. The files of the two large ones begin with their
// names: books_agree_vpp.go, reachable_proof.go. All lists the laws in the order in which a run reports them.
//
// It never causes, heals or waits for anything and never looks into a world: it sees fact.Snapshot and
// fact.Fact and nothing else, and those say what a packet capture, vppctl, ip, kubectl, the store and a CNI log could
// show, so that no law can share a belief with the code it judges. How often, in which order and in which words an agent
// works is no law's: budgets.go bounds what it asks for, and goldens beside the code show the rest. The opposite of
// this package is sim/fault, which breaks things.
//
// Start at All. A watcher is for one run and one goroutine, costs constant time per fact (a restarted agent's leases and
// a node's changed blocks cost their own size) and allocates only as its maps grow. Facts about a node that is gone are
// forgotten. After its first violation a watcher goes on, but what it then says may repeat itself.
//
// When a watcher and its snapshot check can see different things, the law's file says which and why. When in doubt a
// law stays silent: a false alarm costs more than a fault that the next settled snapshot shows anyway. To add a law,
// write one file with a function returning the fact.Law, add it to All, and a test that sees it broken and whole.
package check
