// Package observe reports as facts what a node's agent does: which addresses it leases and frees, which node ID and
// blocks it acts on, at which addresses the node is reached, and what of its journal has reached the disk.
//
// It decides nothing, judges nothing and changes nothing. It reports only what any world could: what an agent's API,
// its node's interfaces and its journal's file show. What packets and calls show is reported where they are modelled.
//
// Start at Node. A driver calls After behind each step of the agent and before it performs the effects: an agent's
// decision is a fact from then on, whether or not the agent survives. One goroutine, no clock.
package observe
