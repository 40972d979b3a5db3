// Package sim is the World in virtual time: it assembles nodes from the very agent, IPAM and wiring that real nodes
// run, and performs their effects on a modelled VPP, a modelled Linux and a modelled control plane.
//
// It decides when things happen and what goes wrong; it holds no copy of product logic and no law. It never reads a
// clock and starts no goroutine: two runs of one scenario and seed are the same event for event. Start at Run, or at
// New for a World to drive by hand. Time passes only from event to event; every free decision goes through the engine's
// Chooser. The World on real processes is in lab. To add a fault of the surroundings, see sim/fault; an action,
// scenarios/timeline. A fault in the product's own place, as upstreams had them, is planted by wrapping (Plant);
// sim/museum has them.
package sim
