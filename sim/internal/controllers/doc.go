// Package controllers runs, in virtual time, what gives nodes their blocks of pod addresses: Kubernetes' range
// allocator; Cilium's operator and the part of its agent that asks for more; AWS' EC2 and the ipamd of each node;
// Calico's nodes that take addresses of common blocks, and its controllers.
//
// It never decides which node gets what: that is the part of ipam's nodeipam, cilium, datastore and calico, whose
// effects it performs on the modelled cluster. It never touches a node's wiring.
//
// Start at System for what the simulator asks of each system, and at New.
//
// A block reaches a node's agent as a pod CIDR of its own Node object, whatever system it comes from. A block that a
// system takes back leaves the agent first. Only when the agent has journaled that and notified the other nodes, the
// system may give it to another node. Controllers are elected: a leader that was cut off goes on for a while, and its
// requests arrive late.
//
// Env.Plant wraps the deciding parts, for sim/museum. To add a system, implement System, by what Still does not cover,
// and give it a row in drivers.
package controllers
