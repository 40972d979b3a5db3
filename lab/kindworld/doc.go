// Package kindworld is the World in which real kubelets, a real API server, its scheduler and containerd do what a
// scenario says: a kind cluster whose pods VPP connects. Nodes are containers that are made, killed and removed, pods
// are Pod objects, agent and VPP run as DaemonSets and are killed by the process, ranges are a ConfigMap.
//
// It never asks an agent for what it can see by itself: sandboxes come from containerd, VPP's and Linux' tables from
// dumps inside of each node, reachability also from pings. What an agent claims (its ID, blocks, leases) it tells
// itself, at the address of its REST. Facts are told from looks at every node a few times a second, in an order in
// which they can have happened (told.go): what comes and goes between two looks is not seen. Evidence that only the
// agent's own process has is not delivered.
//
// Where nodes are given their addresses, controllers of the scenario's system (lab/internal/controllers) run beside the
// cluster, against its API server, whose controller manager then gives none, and what nodes are given is read from objects.
//
// Start at Run. The cluster is made for one run and removed after it. One goroutine drives a World. What it cannot do
// it lacks as a timeline.Need. To show more of a node, add it to look.go and tell it in told.go.
package kindworld
