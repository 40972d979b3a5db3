// Package policy decides which packets a node's pods may send and get, by Kubernetes' network policies.
//
// Facts about policies, pods and namespaces of the whole cluster go in as they are told, in any order and as often as
// the teller likes; out come rules for vppwire.ACL, two lists for each pod of this node. It never calls anything and
// knows neither interfaces nor wiring.
//
// Start at Table. Place is what a node's own situation decides: which addresses are the node's own. What comes from
// them, and what goes there, always passes, as Kubernetes has it: kubelet's probes do.
//
// A pod that no policy of a direction selects is open in that direction; one that some select gets what any of them
// allows, and nothing else. Every rule lets answers pass, so that what was begun from an allowed side goes on in both
// directions. There are no rules that deny: a block's exceptions are taken out of it.
//
// A pod of this node that the API server has not told of yet, with its labels, is closed: nothing but its node reaches
// it. So is every pod before policies, pods and namespaces have all been told once.
//
// A service's address passes a client's rules where they allow each of the endpoints that the node serves there, each
// at its own port: VPP looks at what a pod sends before it chooses an endpoint. Where they allow some only, none is
// reached by that address; Refused says so.
//
// Ports of SCTP, and what else cannot be told to VPP, allow nothing, and the policy they stand in still selects: see
// Port and Peer.
package policy
