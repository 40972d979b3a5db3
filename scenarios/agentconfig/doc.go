// Package agentconfig turns a scenario's configuration into the configuration of its agents.
//
// It decides nothing about a world: what a machine cannot do, and the names of files and sockets, each world adds. All
// functions are pure. Start at Of. An error names the field of the scenario that no agent accepts. To carry another field of
// a scenario to the agents of all worlds, set it here.
package agentconfig
