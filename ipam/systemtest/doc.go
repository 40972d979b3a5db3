// Package systemtest tells stories that each driver of an address system has to play alike: whoever performs what the
// system's machines ask for, on whatever API server, the nodes end up with the same blocks.
//
// Its users are the authors of systems and of drivers: a test makes a Cluster of its driver, and calls Play with each
// of Stories. Ours are sim/internal/controllers, on a modelled API server in virtual time, and vppwire/host/kube, on a
// real one.
//
// It never looks at how a driver does it, nor how long that takes. Start at Cluster. To add a system, give it a folder
// of stories and a Setup; to add a story, write a file there: the first line of a block is what happens, and what
// follows `----` is the state that comes of it.
package systemtest
