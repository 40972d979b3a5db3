// Package suite holds the suite of the catalogue on real VPPs, as a test binary: the specs, laws and seeds of sim/suite
// in labs of network namespaces.
//
// It decides nothing: scenarios/suite makes the specs, lab the Worlds, and this folder is the one place that may know
// both. It has no code to import; a suite of your own scenarios looks the same.
//
// Start it with go test ./lab/suite, as root and with a VPP 25.10; -whole runs the whole catalogue instead of one
// scenario or two of each topic, -scale how many times faster than its file says a scenario happens, and
// -ginkgo.label-filter chooses. What a lab cannot do is skipped by name. Nothing is tried twice. With -record each end
// goes into ran.txt beside this file, the table that package ran reads and program unrun holds against the catalogue.
//
// To add a spec, add a scenario to the catalogue; to have it run each time, name it in chosen.
package suite
