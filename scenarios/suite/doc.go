// Package suite makes Ginkgo specs of scenarios, and brings Gomega matchers for the clusters that they rehearse.
//
// Specs decides what a suite looks like from outside: a spec's name and labels, which seeds it runs, what a failure
// says, what is attached to the report. The matchers decide how a broken cluster is told: by the one path, law or
// pending thing that shows it.
//
// It never builds a World and judges nothing by itself: a Factory makes the Worlds, result.Run drives them,
// scenarios/check holds the laws, scenarios/walk follows the packets. The suite of this project in the simulator is
// sim/suite; the command line that runs the same scenarios without Ginkgo is scenarios/cmd.
//
// Start at Specs, or at ReachEachOther for the matchers, which need no Ginkgo. Nothing here waits for the wall clock:
// time is the World's. Each spec has a World of its own and specs share nothing, so that they may run in parallel and
// in any order. Mistakes in scenario files are told before any spec runs.
//
// To add a matcher, write its file with the three methods of a GomegaMatcher and its stories in testdata/matchers.txt.
package suite
