package audit

import (
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// node is a Node, with what its annotations say.
type node struct {
	name     string
	internal []netip.Addr
	// maxPods is how many pods its kubelet takes; 0: unknown.
	maxPods int
	// ready is its condition: True, False, Unknown or nothing. deleting: somebody has asked for its end.
	ready    string
	deleting bool
	cidrs    []netip.Prefix
	ranges   []heldRange
	// own are addresses of pods' ranges that the node itself has.
	own []ownAddr
	// shows are the systems that its annotations show.
	shows systems
	// interfaces names the ENIConfig that it wants.
	interfaces string
}

type ownAddr struct {
	addr netip.Addr
	what string
}

// dead says why nothing may run on a node any more; empty: it is alive as far as it shows.
func (n *node) dead() string {
	switch {
	case n == nil:
		return "does not exist"
	case n.deleting:
		return "is being deleted"
	case n.ready == "False" || n.ready == "Unknown":
		return "is not ready (" + n.ready + ")"
	}
	return ""
}

func (o *Objects) node(one kubectl.Object) error {
	read, err := one.Node()
	if err != nil {
		return err
	}
	n := &node{name: o.word(one.Metadata.Name), internal: read.Internal, cidrs: read.PodCIDRs, maxPods: read.MaxPods,
		ready:    read.Ready,
		deleting: !one.Metadata.Deleted.IsZero()}
	if len(n.internal) == 0 {
		n.internal = read.Addresses
	}
	o.nodes[n.name] = n
	for _, p := range read.PodCIDRs {
		n.ranges = append(n.ranges, heldRange{node: n.name, prefix: p, by: "pod CIDR", source: podCIDRs, whole: true,
			kept: keptHostLocal})
	}
	for key, value := range one.Metadata.Annotations { //vppdrill:unordered each key is about another field
		if err := n.annotation(key, value); err != nil {
			return err
		}
	}
	for _, key := range []string{"k8s.amazonaws.com/eniConfig", "vpc.amazonaws.com/eniConfig"} {
		for _, said := range []map[string]string{one.Metadata.Annotations, one.Metadata.Labels} {
			if said[key] != "" && n.interfaces == "" {
				n.interfaces = said[key]
			}
		}
	}
	return nil
}

// annotation takes what one annotation of a Node says.
func (n *node) annotation(key, value string) error {
	n.shows.add(systemOfKey(key))
	switch key {
	case nodeSubnets:
		return n.subnets(value)
	case "ovn.kubernetes.io/ip_address":
		for _, a := range kubectl.Addrs(strings.Split(value, ",")...) {
			n.own = append(n.own, ownAddr{a, "join address"})
		}
	}
	if what := ownAnnotations[key]; what != "" {
		for _, a := range kubectl.Addrs(value) {
			n.own = append(n.own, ownAddr{a, what})
		}
	}
	return nil
}

// ownAnnotations are those that say which address of the pods' ranges a node itself has.
var ownAnnotations = map[string]string{
	"projectcalico.org/IPv4IPIPTunnelAddr":         "IPIP tunnel",
	"projectcalico.org/IPv4VXLANTunnelAddr":        "VXLAN tunnel",
	"projectcalico.org/IPv6VXLANTunnelAddr":        "VXLAN tunnel",
	"projectcalico.org/IPv4WireguardInterfaceAddr": "WireGuard interface",
	"projectcalico.org/IPv6WireguardInterfaceAddr": "WireGuard interface",
	"network.cilium.io/ipv4-cilium-host":           "cilium_host interface",
	"network.cilium.io/ipv6-cilium-host":           "cilium_host interface",
	"network.cilium.io/ipv4-health-ip":             "Cilium health endpoint",
	"network.cilium.io/ipv6-health-ip":             "Cilium health endpoint",
	"network.cilium.io/ipv4-Ingress-ip":            "Cilium ingress",
	"network.cilium.io/ipv6-Ingress-ip":            "Cilium ingress",
	"io.cilium.network.ipv4-cilium-host":           "cilium_host interface",
	"io.cilium.network.ipv6-cilium-host":           "cilium_host interface",
	"io.cilium.network.ipv4-health-ip":             "Cilium health endpoint",
	"io.cilium.network.ipv6-health-ip":             "Cilium health endpoint",
}
