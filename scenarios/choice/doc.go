// Package choice makes the free decisions of a run by a seed.
//
// It decides nothing about what a decision is for and keeps no record of decisions: recording, replay and search over decisions
// are sim/engine's, which takes any Chooser. Start at Seeded. A label has a stream of its own, so that worlds which
// decide different other things between two decisions of one label still decide these alike. There is no clock and no global
// state; a Chooser belongs to one goroutine.
//
// Another way to draw is another Chooser.
package choice
