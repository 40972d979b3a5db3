// Package scenarios reads and writes scenario files: clusters, workloads, and actions on a timeline.
//
// It decides what a file means and refuses a wrong one. It runs nothing: a world carries the actions out
// (scenarios/timeline), scenarios/fact has what worlds tell, scenarios/result runs a scenario and judges it.
//
// Start at Scenario, then Load. The Go types are the files' grammar: parser, writer, action lines and JSON schema all walk
// their fields, so a field exists everywhere once it is declared.
//
// Times count from the start of a run; order is the timeline's. A mistake in a file is one line with its place and the
// nearest valid word.
//
// To add an action, see action.go; a field, see fields.go.
package scenarios
