// Package controllers runs the controllers of nodes' addresses that a scenario names, those of vppdrill controller, against an
// API server that a world has: Kubernetes' range allocator, cilium-operator, Calico's.
//
// Two of them stand for one Lease. It starts, ends and replaces them, and cuts a leader off by losing or delaying what it
// sends; what they decide is theirs (ipam/nodeipam, ipam/cilium, ipam/calico by vppwire/host/kube). It looks at no object but
// the Lease's holder, which the world tells: what nodes are given the world sees by itself.
//
// Start at New and Set.Start. For another system add its program to Set.program.
package controllers
