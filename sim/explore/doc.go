// Package explore looks for failures in the space around a scenario, makes them small and shows them again.
//
// It decides which runs to do next and what their results have in common. It never simulates, judges or reads a file:
// runs are sim.Run's, laws the caller's, capsules are text. Sweeping seeds over several processors is the part of
// scenarios/cmd.
//
// Start at Explorer: Shrink turns a failure into a Capsule, Replay shows a capsule again, Points lists every place for
// a fault, and Exhaust tries every choice of a small space.
//
// Everything is deterministic: bounds count runs, not seconds, and a cancelled context is the only way to stop early.
// The fault language and the chooser report which operations a run performs, so the simulator is the same with and
// without an observer. A failure is explained by comparison with the nearest run that breaks nothing (neighbour.go).
//
// To make shrinking better, add a reduction to the list in shrink.go: a function that proposes smaller scenarios and
// keeps those that still break the same law.
package explore
