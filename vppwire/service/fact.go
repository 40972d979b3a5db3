package service

import (
	"cmp"
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Name is a Kubernetes object's namespace and name.
type Name struct{ Namespace, Name string }

// String is "default/web".
func (n Name) String() string { return n.Namespace + "/" + n.Name }

// Compare orders names by namespace, then by name.
func (n Name) Compare(m Name) int {
	return cmp.Or(cmp.Compare(n.Namespace, m.Namespace), cmp.Compare(n.Name, m.Name))
}

// Service is what is to be known of one service. One without addresses, as a headless one, is not served.
type Service struct {
	Name Name
	// ClusterIPs are its addresses within the cluster, ExternalIPs those that lead to it from outside: spec.externalIPs
	// and what load balancers gave.
	ClusterIPs, ExternalIPs []netip.Addr
	Ports                   []Port
	// Affinity is how many seconds a client keeps its endpoint, 0 for not at all.
	Affinity uint32
	// ExternalLocal and InternalLocal: clients from outside, or from inside, get endpoints of the node that they came to
	// alone.
	ExternalLocal, InternalLocal bool
	// HealthPort is where load balancers ask each node whether it has endpoints of its own, by HTTP; 0 for nowhere.
	// spec.healthCheckNodePort, which has a meaning with ExternalLocal alone.
	HealthPort uint16
}

// Port is one port of a service.
type Port struct {
	// Name joins it with the ports of slices; it may be empty where a service has one.
	Name string
	// Proto of zero is one that is not served.
	Proto vppwire.Proto
	Port  uint16
	// NodePort is served on every node's own addresses; 0 for none.
	NodePort uint16
}

// Slice is an EndpointSlice of IPv4 addresses.
type Slice struct {
	Name Name
	// Service is the name of its service, in the slice's namespace.
	Service string
	Ports   []SlicePort
	// Endpoints in the slice's order.
	Endpoints []Endpoint
}

// SlicePort is where the endpoints of a slice answer for the service's port of the same name and protocol.
type SlicePort struct {
	Name  string
	Proto vppwire.Proto
	Port  uint16
}

// Endpoint is one endpoint of a slice: its first address.
type Endpoint struct {
	Addr netip.Addr
	// Node is where it runs, empty where that is not said.
	Node string
	// Ready: new sessions may come. Serving: it would answer, also while it is Terminating.
	Ready, Serving, Terminating bool
	// ForZones and ForNodes are the zones, or the nodes, whose clients it is meant for; empty where the slice has no such
	// hint.
	ForZones, ForNodes []string
}
