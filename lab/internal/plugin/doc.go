// Package plugin executes CNI plugins in a node's namespaces, and ends them before any system call that somebody else
// could see.
//
// It decides which system calls those are: they create, write, rename or remove files, send messages that change
// something, end a process. Everything that a plugin starts counts along: delegated IPAM plugins, iptables. A kill
// between two such calls leaves what the kill at the later one leaves, so nothing is missed by trying these alone. It
// knows nothing of CNI, pods or laws.
//
// Start at Run. One Tracer counts through all executions that it is given to, so a whole chain has one numbering.
// A traced program runs under ptrace and ends with whoever traces it. Numbers repeat as far as a plugin does the same
// things in the same order, which programs with one worker do.
//
// To see another kind of call, add it to effects.go.
package plugin
