// Package scenarios is the narrow waist between what is rehearsed and where: scenarios, actions, snapshots, laws, results.
//
// It decides what a scenario file means, when a run is over and which verdict it gets. It never simulates and never
// starts a process: sim and lab implement World, check holds the laws, reports reads a Result.
//
// Start at Scenario, then Run. The Go types are the files' grammar: parser, writer, action lines and JSON schema all walk
// their fields, so a field exists everywhere once it is declared.
//
// Times are virtual in the simulator and real in a lab; order is the timeline's. A mistake in a file is one line with its
// place and the nearest valid word; a failure of a run names its law, the first event that broke it and one command that
// replays it.
//
// A world states the evidence that it delivers and a law what it needs (evidence.go); what a run amounts to is computed from
// facts alone (summary.go).
//
// To add an action, see action.go; a field, see fields.go; a law, see scenarios/check.
package scenarios
