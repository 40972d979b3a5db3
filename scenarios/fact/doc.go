// Package fact is what worlds tell of a run and what laws judge it by: facts, snapshots, and evidence.
//
// A fact says that something happened, a snapshot how the cluster is. Worlds tell them and state which evidence they
// deliver; a Law states which it needs, and looks at nothing else. It never judges by itself: laws are in scenarios/check.
//
// Start at Fact, Snapshot and Law. Facts come in the world's order, those of one node in the order of their times.
//
// To add evidence, see evidence.go.
package fact
