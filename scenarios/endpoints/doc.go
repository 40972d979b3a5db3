// Package endpoints is what a cluster's control plane makes of a scenario's services: the Service objects, and the slices of endpoints
// that its controller keeps for them.
//
// It decides who is an endpoint and whether new sessions may come to it. It never decides when: a world looks at its pods when it
// likes and publishes what is different. Start at Slice. It has no clock and no state; slices have the order that the world gave its
// pods and hosts in. What a node makes of them is vppwire/service's affair.
package endpoints
