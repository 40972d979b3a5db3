// Package experiment varies fields of a scenario, runs it with many seeds and says how its figures follow.
//
// It decides which scenarios are run, how often, and what their figures amount to, with intervals. It never judges a run and knows
// no world: whoever calls gives an Engine the function that runs one scenario with one seed. It draws nothing: texts and tables are
// data here, plots are reports/experiment's. Start at File and Do.
//
// A run is known by its scenario's text and its seed, so that a Store serves any experiment of one version of the program: what it
// has is not run again. A process that is killed loses the runs under way and no other. Results are in the order of points and
// seeds whatever the order of their arrival: the same file gives the same bytes.
// Bad input is a *scenarios.InputError. To add a way of choosing points, see design.go; a figure comes of each field of a
// result.Summary by itself.
package experiment
