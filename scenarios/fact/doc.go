// Package fact defines what worlds report about a run and what laws judge: facts, snapshots, and evidence.
//
// A fact reports an event, a snapshot the cluster's state. Worlds report both and declare the evidence that they
// deliver; a Law declares the evidence that it needs, and uses nothing else. The package does not judge: laws are in
// scenarios/check.
//
// Start at Fact, Snapshot and Law. Facts come in the world's order, those of one node in the order of their times.
//
// To add evidence, see evidence.go.
package fact
