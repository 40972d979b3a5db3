// Package cmd holds the commands that run the product itself on a machine: the node agent.
//
// It decides flags and how the parts of vppwire/host are put together. It never does an agent's work. Start at Commands. An
// agent that is told to stop ends in order with code 0 and leaves the dataplane as it stands; errors tell their exit codes
// themselves, 2 for what was asked wrong and 3 for a machine on which it cannot be done. To add a command, write one file
// with an example in its help and list it in Commands.
package cmd
