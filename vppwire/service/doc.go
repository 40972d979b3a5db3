// Package service decides which addresses and ports a node serves for Kubernetes services, and by which endpoints.
//
// Facts about services and their endpoint slices go in as they are told, in any order and as often as the teller likes;
// out come vppwire.Service objects, in groups of one service each. It never calls anything and knows neither interfaces
// nor routes: what else NAT needs is package mode's. Its opposite, which programs Linux for the same facts, is
// kube-proxy.
//
// Start at Table. Place is what a node's own situation decides: which of its addresses have node ports, and in which of
// VPP's tables an endpoint answers. An address and port that two services claim belongs to the one whose name sorts
// first, until it lets go.
//
// Hints of a slice decide which endpoints a node's clients get, as kube-proxy has it. A service without a ready
// endpoint is served by those that are going but still serve, as kube-proxy does; one without any is not served: what
// is sent to it is dropped by the route of the service range. IPv6 and SCTP are left out: VPP's NAT44 has no such
// thing.
package service
