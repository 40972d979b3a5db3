// Package cni is the CNI plugin: what a container runtime executes to attach a sandbox to this node's VPP.
//
// It decides whether a request is one that the CNI specification 1.1 allows, and in which words and version the answer
// is told. It never decides about addresses or wiring and keeps nothing: the node agent does, whom it asks over a unix
// socket (vppwire/cni/wire; the agent's end is vppwire/host/cnisocket). Start at Run.
//
// Everything about a request is checked before the agent hears of it, so that a refused request has changed nothing.
// What is printed is printed at once and at the end: one JSON document or none. An agent that is away, or dies while it
// is asked, is asked again until Netconf.AgentWait or Netconf.Timeout is over; then the answer is "try again later",
// because nobody knows what was done, and doing it again is right. A plugin that is killed withdraws its request by
// dying.
//
// DEL ends well whenever the specification lets it: it looks neither at CNI_NETNS nor at prevResult and takes fields
// that ADD would refuse. Where the reference implementation of plugins (the skel package of containernetworking/cni)
// and the specification differ, this package follows the specification; the test TestAgreesWithSkel lists each
// difference.
//
// An IPAM plugin named in the configuration ("ipam": {"type": ...}) is asked for the address first and told last, so
// that an address is free for others only when nothing of its wiring is left. To add a command, see verbs in plugin.go;
// a field of the configuration, Netconf.
package cni
