// Package explore looks for failures in the space around a scenario, makes them small and shows them again.
//
// It decides which runs to do next and what their results have in common. It never simulates, judges or reads a file:
// runs are sim.Run's, laws the caller's, capsules are text. Sweeping seeds over several processors is scenarios/cmd's
// part.
//
// Start at Explorer: Shrink turns a failure into a Capsule, Replay shows a capsule again, Points lists every place for
// a fault, and Exhaust tries every choice of a small space.
//
// Everything is deterministic: bounds count runs, not seconds, and a cancelled context is the only way to stop early.
// What operations a run performs is learned through the fault language and the chooser, so the simulator is the same
// with and without somebody watching. A failure that is explained is held against the nearest run that breaks nothing
// (neighbour.go).
//
// To make shrinking better, add a reduction to the list in shrink.go: a function that proposes smaller scenarios and
// keeps those that still break the same law.
package explore
