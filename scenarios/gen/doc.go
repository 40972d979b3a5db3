// Package gen draws random scenarios.
//
// It decides what might go wrong in one run: the topology, the address plan, the wiring, how pods come and go, which faults are
// possible and what happens when. It never runs a scenario and holds no randomness of its own: every draw is a Pick of the
// caller's Chooser, so a seed, a recording or an exhaustive search all work. Scenarios that people wrote are in
// scenarios/catalog.
//
// Start at Draw, or at Vary where there is a scenario, drawn or written, that is to be done a little otherwise. Draw draws in
// the manner of swarm testing: each run switches most features off and turns the rest up, because runs that do a little of
// everything rarely get far in anything.
//
// Times grow along the timeline; every item is optional, as its target may be gone by then. What Draw returns is valid;
// anything else is a mistake here and panics.
//
// To add a knob, draw it in drawKnobs; to add an action, give it a line in moves.
package gen
