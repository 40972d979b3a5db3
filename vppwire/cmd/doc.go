// Package cmd holds the commands that run the product itself on a machine: the node agent.
//
// It decides flags and how the parts of vppwire/host are put together. It never does an agent's work. Start at
// Commands. An agent that is stopped ends in order with code 0 and leaves the dataplane unchanged. Errors carry their
// exit codes, 2 for bad usage and 3 for a machine that cannot run it. To add a command, write one file with an example
// in its help and list it in Commands.
package cmd
