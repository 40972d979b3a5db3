// Package faults has a lab's agents suffer what a scenario injects between them and VPP, Linux, disk, store and watches.
//
// It decides nothing about what goes wrong: package fault does, by the injectors that the simulator asks too. A Desk, one of
// a lab, judges each operation of all agents; a Port in an agent's process asks it before each, over a socket, and lets
// happen what the verdict says, as the simulator does. Who dies of a verdict is killed by the Desk's lab with signal 9, before
// the question is answered, or when the Port says that the operation is done. Start at NewDesk and Dial.
//
// Draws are made by the run's seed, each node's apart from the others': the n-th operation of a node is judged alike in each run,
// whatever others do meanwhile. Times are the scenario's at the Desk and real at the Port. No other agent than a lab's has a
// Port. An agent whose Desk is gone suffers nothing.
//
// To have another kind of operation go wrong, add a file beside calls.go that asks about it.
package faults
