// Package hostlocal is the IPAM plugin beside the agent that scenarios with useExternalIPAM have: it gives each node's pods the
// lowest free address of the node's pod CIDR, as the CNI project's host-local does.
//
// It decides addresses and nothing else; which CIDR a node has is decided where nodes join. Start at Plugin, whose zero value has
// given nothing. It has no clock and no lock: a world with goroutines guards it. A machine is its number: a machine of the same
// name that replaces another starts empty. There is one way to choose an address; a plugin with another would be another package.
package hostlocal
