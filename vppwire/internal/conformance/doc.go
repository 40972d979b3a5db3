// Package conformance judges any Kubernetes cluster, whatever its CNI, by laws that need nothing of the CNI: pods get
// addresses that are unique and inside of their nodes' ranges, reach each other and services, and leave nothing behind
// when they go.
//
// It makes pods in a namespace of its own, has them call each other through the API server's proxy, and removes all of
// it in the end, also when it is interrupted. It changes nothing else. Start at Run. What an address should be is
// ipam/audit's to say. Writes are not repeated; pods are called by names that nobody else has, so that what came of a
// lost answer is seen in the next list.
//
// Which pairs call each other is drawn by a seed where there are too many for all. To add a law, give Run another step.
package conformance
