// Package result runs a scenario in a world, judges it by laws, and summarizes it.
//
// It decides when a run is over and which verdict it gets. It never simulates and never starts a process: sim and lab
// implement World, scenarios/check holds the laws, reports reads a Result.
//
// Start at Run, then Result. Times are virtual in the simulator and real in a lab. A failure names its law, the first
// event that broke it and one command that replays it. A run's summary is computed from facts alone (summary.go).
package result
