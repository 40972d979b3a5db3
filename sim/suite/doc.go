// Package suite holds the suite of the catalogue in the simulator, as a test binary.
//
// It decides nothing: scenarios/suite makes the specs, sim the Worlds, and this folder is the one place that may know
// both. It has no code to import; a suite of your own scenarios looks the same, see the example of scenarios/suite.
//
// Start it with go test ./sim/suite, and choose with -ginkgo.label-filter. The Ginkgo command line runs it as well, in
// parallel with -p: every spec has a World of its own. Seeds, not the order of specs or the clock, decide what happens.
// The suite on real processes belongs to lab.
//
// To add a spec, add a scenario to the catalogue.
package suite
