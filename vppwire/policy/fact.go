package policy

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// Name is a Kubernetes object's namespace and name; a namespace's own has no Namespace.
type Name = service.Name

// Policy is what is to be known of one network policy.
type Policy struct {
	Name Name
	// Pods are those of its namespace that it selects.
	Pods Selector
	// Ingress and Egress say whether it is about what the pods get, and about what they send. A direction that it is not
	// about has no rules.
	Ingress, Egress bool
	// IngressRules and EgressRules are what it allows; none allow nothing.
	IngressRules, EgressRules []Rule
}

// Rule allows packets that one of Peers is at the other end of, to one of Ports. Peers that are nil are everybody, Ports
// that are nil every port of every protocol; empty lists that are not nil are nobody and none.
type Rule struct {
	Peers []Peer
	Ports []Port
}

// Peer is somebody at the other end. It is one of: pods, of the policy's namespace or of those selected; or a block of
// addresses without its exceptions. The zero Peer is nobody.
type Peer struct {
	// Pods and Namespaces select; nil Pods are all of the namespaces, nil Namespaces the policy's own.
	Pods, Namespaces *Selector
	Block            netip.Prefix
	Except           []netip.Prefix
}

// Port is a range of ports of a protocol, or the port that a pod has under a name. A Port without a protocol, as SCTP's,
// is none.
type Port struct {
	Proto vppwire.Proto
	// First to Last are its numbers; 0 to 65535 are all. They are 0 where Named is set.
	First, Last uint16
	Named       string
}

// Selector selects by labels: all of Labels and of Requirements have to hold. The zero Selector selects everything.
type Selector struct {
	Labels       map[string]string
	Requirements []Requirement
}

// Requirement is one of a selector's.
type Requirement struct {
	Key    string
	Op     Operator
	Values []string
}

// Operator is how a Requirement compares. The zero Operator holds for nobody.
type Operator uint8

// Operators of Kubernetes' label selectors.
const (
	In Operator = iota + 1
	NotIn
	Exists
	DoesNotExist
)

// Matches reports whether labels are selected.
func (s *Selector) Matches(labels map[string]string) bool {
	for k, v := range s.Labels { // in any order: all have to hold
		if have, ok := labels[k]; !ok || have != v {
			return false
		}
	}
	return !slices.ContainsFunc(s.Requirements, func(r Requirement) bool { return !r.holds(labels) })
}

func (r *Requirement) holds(labels map[string]string) bool {
	value, has := labels[r.Key]
	switch r.Op {
	case In:
		return has && slices.Contains(r.Values, value)
	case NotIn:
		return !has || !slices.Contains(r.Values, value)
	case Exists:
		return has
	case DoesNotExist:
		return !has
	}
	return false
}

// Pod is a pod of the cluster. One of a host's own network is no pod to policies.
type Pod struct {
	Name   Name
	Labels map[string]string
	// Addrs are those that it has, one of a family at the most.
	Addrs []netip.Addr
	// Ports are its containers' ports that have names.
	Ports []NamedPort
}

// NamedPort is a port of a container.
type NamedPort struct {
	Name  string
	Proto vppwire.Proto
	Port  uint16
}

// Namespace is a namespace with its labels.
type Namespace struct {
	Name   string
	Labels map[string]string
}

// Front is an address and port at which the node serves a service, with the endpoints that it chooses from.
type Front struct {
	Addr      netip.AddrPort
	Proto     vppwire.Proto
	Endpoints []netip.AddrPort
}

// Place is a node's situation.
type Place struct {
	// Node are the addresses of the node itself: VPP's, the gateways' and the host's.
	Node []netip.Addr
	// Fronts are what it serves, in order.
	Fronts []Front
}
