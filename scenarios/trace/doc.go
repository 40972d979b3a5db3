// Package trace turns recorded traces of real clusters into scenarios.
//
// It decides which pods exist when, how many nodes they need and which address plan fits; it never runs anything and never
// copies a trace beyond names, applications, times and placement rules. Start at ImportDLRM or ImportOpenB.
//
// A trace is one event history, so its times stay as recorded: seconds since the trace's start. Order is the trace's own.
// A row that contradicts itself is an error with its place; a trace is never repaired silently. The opposite way, from
// a scenario to its cluster, is the World's.
//
// To add a format, write its columns beside dlrm.go; table.go reads them and scenario.go makes the rest.
package trace
