package nodeipam

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// KubeNode is what the controllers look at of a Kubernetes Node object. The slices and the map stay the sender's and
// must not change afterwards.
type KubeNode struct {
	Name string
	// UID tells one object from a later one of the same name. Where it is empty the name stands for it, in effects too.
	UID string
	// ResourceVersion changes with every write of the object; opaque.
	ResourceVersion string
	Labels          map[string]string
	// PodCIDR and PodCIDRs are spec.podCIDR and spec.podCIDRs as they stand there: perhaps unreadable.
	PodCIDR  string
	PodCIDRs []string
	// ProviderID is spec.providerID, by which the cloud knows the node.
	ProviderID string
	// NetworkUnavailable is the status of the condition of that name, ConditionAbsent where there is none.
	NetworkUnavailable ConditionStatus
	// NetworkTaint: the taint node.kubernetes.io/network-unavailable is present.
	NetworkTaint bool
	// Deleting: metadata.deletionTimestamp is set. The object still exists and holds its CIDRs.
	Deleting bool
}

// ConditionStatus is the status of a node condition.
type ConditionStatus string

// Statuses of a node condition. The zero ConditionStatus is absence.
const (
	ConditionAbsent  ConditionStatus = ""
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)

func (n *KubeNode) uid() string {
	if n.UID == "" {
		return n.Name
	}
	return n.UID
}

// cidrTexts are the node's pod CIDRs as they stand in the object: podCIDRs, or else podCIDR alone.
func (n *KubeNode) cidrTexts() []string {
	if len(n.PodCIDRs) == 0 && n.PodCIDR != "" {
		return []string{n.PodCIDR}
	}
	return n.PodCIDRs
}

// parseCIDRs reads them as far as they can be read; host bits are dropped.
func (n *KubeNode) parseCIDRs() (cidrs []netip.Prefix, err error) {
	for _, text := range n.cidrTexts() {
		p, bad := space.ParsePrefix(text)
		if bad != nil {
			err = fmt.Errorf("failed to parse node %s, CIDR %s: %w", n.Name, text, bad)
			continue
		}
		cidrs = append(cidrs, p)
	}
	return cidrs, err
}

// NeedPodCIDRsUpdate reports whether the node's pod CIDRs have to be written to become wanted. It compares values, not
// text, in order. Unreadable CIDRs on the node need an update. The error says that two wanted CIDRs are not one of each
// family.
func NeedPodCIDRsUpdate(node *KubeNode, wanted []netip.Prefix) (bool, error) {
	if len(wanted) > 2 || len(wanted) == 2 && wanted[0].Addr().Unmap().Is4() == wanted[1].Addr().Unmap().Is4() {
		return false, fmt.Errorf("wanted CIDRs %s are not one IPv4 and one IPv6", wanted)
	}
	if node.PodCIDR == "" && len(node.PodCIDRs) == 0 {
		return true, nil
	}
	have, err := node.parseCIDRs()
	if err != nil {
		return true, nil // what cannot be read is replaced
	}
	return !slices.EqualFunc(have, wanted, func(a, b netip.Prefix) bool { return a == space.Normal(b) }), nil
}
