// Package clustertest is a cluster written down by hand, for tests of laws and of the packet walker: tables of VPP and Linux that
// answer what these ask.
//
// It decides nothing by itself. New fills the tables of a cluster that is wired as it should be; a test then changes
// what it likes and calls Freeze on the node's VPP. Nothing checks the result: broken clusters are the point.
//
// It never performs a call, keeps no history and imports neither the code that wires clusters nor the simulator, so
// that a law tested here is tested against a second opinion. Only tests import it. Its opposite is sim/vppmodel, whose
// tables obey VPP's rules.
//
// Start at Cluster. A snapshot stays valid until the next change of the node in question.
//
// Everything is computed from the Config: same Config, same tables. To add a way of wiring, see wire.go.
package clustertest
