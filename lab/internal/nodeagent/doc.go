// Package nodeagent is the process that runs one node's agent in a lab: vppwire/host's driver with everything that a
// lab wants to see of it.
//
// It decides nothing that the agent or its driver decides. What a production agent does not have is the watch socket:
// it tells a lab the agent's leases and each change of them with its time, what it waits for, and how much it has
// written. It also knows the machine's boot from the lab, because all machines of a lab share one kernel. Start at Run.
// A lab kills it with signal 9; there is no other preparation for that than the journal.
//
// To show more of an agent, add it to State.
package nodeagent
