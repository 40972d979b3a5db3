// Package worldtest proves of a world that it answers every action of the language: it performs it, or it refuses it by name with
// the reason of timeline's one table, and it knows beforehand which of both.
//
// It judges no outcome: what an action means is timeline's, and laws judge runs. Start at Answers. It drives the world through
// result.World alone, as a run does, and waits for quiet between actions. A verb without an example fails every world's test; to
// add an action, add its example.
package worldtest
