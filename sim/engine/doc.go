// Package engine runs events in virtual time, one after the other, and keeps the trail that makes a run comparable.
//
// It decides order and nothing else: it knows no node, no VPP, no fault. It never reads a clock and starts no
// goroutine. Start at Engine. Events fire in (time, sequence) order; each one's canonical line goes into a running
// 128-bit digest before it fires, so two runs are equal exactly when their digests are. Every free decision goes
// through a Chooser. To add a kind of event, implement Event where it belongs, not here.
package engine
