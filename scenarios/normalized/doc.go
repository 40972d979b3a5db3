// Package normalized writes a cluster's state as text in which nothing is left that chance decides, so that the same scenario's
// end in two worlds can be laid one over the other.
//
// It decides nothing and judges nothing: laws do. It calls addresses, MACs and interfaces by whose they are ("pod web/a",
// "node-2's tunnel address", "tunnel to node-3") instead of by number, because which of two nodes got ID 1 first, or in which
// order VPP numbered its interfaces, is nothing that two worlds could agree on.
//
// Start at Of for the lines and at Differences for what one state has and another has not. Lines are sorted and each begins
// with its node. To show more of a node, add lines to state.go, vpp.go or linux.go; to call something by a name, see names.go.
package normalized
