package contiv

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// SRv6Config is the srv6 block of the ipam section (Contiv 3.x). A range is the fixed upper part of segment
// identifiers; an empty one is not used.
type SRv6Config struct {
	ServicePolicyBSIDSubnetCIDR       string `json:"servicePolicyBSIDSubnetCIDR,omitempty" yaml:"servicePolicyBSIDSubnetCIDR,omitempty"`
	ServicePodLocalSIDSubnetCIDR      string `json:"servicePodLocalSIDSubnetCIDR,omitempty" yaml:"servicePodLocalSIDSubnetCIDR,omitempty"`
	ServiceHostLocalSIDSubnetCIDR     string `json:"serviceHostLocalSIDSubnetCIDR,omitempty" yaml:"serviceHostLocalSIDSubnetCIDR,omitempty"`
	ServiceNodeLocalSIDSubnetCIDR     string `json:"serviceNodeLocalSIDSubnetCIDR,omitempty" yaml:"serviceNodeLocalSIDSubnetCIDR,omitempty"`
	NodeToNodePodLocalSIDSubnetCIDR   string `json:"nodeToNodePodLocalSIDSubnetCIDR,omitempty" yaml:"nodeToNodePodLocalSIDSubnetCIDR,omitempty"`
	NodeToNodeHostLocalSIDSubnetCIDR  string `json:"nodeToNodeHostLocalSIDSubnetCIDR,omitempty" yaml:"nodeToNodeHostLocalSIDSubnetCIDR,omitempty"`
	NodeToNodePodPolicySIDSubnetCIDR  string `json:"nodeToNodePodPolicySIDSubnetCIDR,omitempty" yaml:"nodeToNodePodPolicySIDSubnetCIDR,omitempty"`
	NodeToNodeHostPolicySIDSubnetCIDR string `json:"nodeToNodeHostPolicySIDSubnetCIDR,omitempty" yaml:"nodeToNodeHostPolicySIDSubnetCIDR,omitempty"`
	SFCPolicyBSIDSubnetCIDR           string `json:"sfcPolicyBSIDSubnetCIDR,omitempty" yaml:"sfcPolicyBSIDSubnetCIDR,omitempty"`
	SFCServiceFunctionSIDSubnetCIDR   string `json:"sfcServiceFunctionSIDSubnetCIDR,omitempty" yaml:"sfcServiceFunctionSIDSubnetCIDR,omitempty"`
	SFCEndLocalSIDSubnetCIDR          string `json:"sfcEndLocalSIDSubnetCIDR,omitempty" yaml:"sfcEndLocalSIDSubnetCIDR,omitempty"`
	// SFCIDLengthUsedInSidForServiceFunction is how many bits of a chain's hash a service function SID carries, 0..128.
	SFCIDLengthUsedInSidForServiceFunction int `json:"sfcIDLengthUsedInSidForServiceFunction,omitempty" yaml:"sfcIDLengthUsedInSidForServiceFunction,omitempty"`
}

// SRv6Ranges is SRv6Config parsed: the zero Prefix is a range that is not used.
type SRv6Ranges struct {
	ServicePolicy, ServicePod, ServiceHost, ServiceNode netip.Prefix
	NodePod, NodeHost, NodePodPolicy, NodeHostPolicy    netip.Prefix
	SFCPolicy, SFCFunction, SFCEnd                      netip.Prefix
	// SFCIDBits is how many bits of a chain's hash a service function SID carries.
	SFCIDBits int
}

// Resolve parses the block. An error names the field and the value as written.
func (c SRv6Config) Resolve() (SRv6Ranges, error) {
	r := SRv6Ranges{SFCIDBits: c.SFCIDLengthUsedInSidForServiceFunction}
	if r.SFCIDBits < 0 || r.SFCIDBits > 128 {
		return SRv6Ranges{}, fmt.Errorf("srv6.sfcIDLengthUsedInSidForServiceFunction %d: want 0..128", r.SFCIDBits)
	}
	for _, f := range [...]struct {
		field, text string
		to          *netip.Prefix
	}{
		{"servicePolicyBSIDSubnetCIDR", c.ServicePolicyBSIDSubnetCIDR, &r.ServicePolicy},
		{"servicePodLocalSIDSubnetCIDR", c.ServicePodLocalSIDSubnetCIDR, &r.ServicePod},
		{"serviceHostLocalSIDSubnetCIDR", c.ServiceHostLocalSIDSubnetCIDR, &r.ServiceHost},
		{"serviceNodeLocalSIDSubnetCIDR", c.ServiceNodeLocalSIDSubnetCIDR, &r.ServiceNode},
		{"nodeToNodePodLocalSIDSubnetCIDR", c.NodeToNodePodLocalSIDSubnetCIDR, &r.NodePod},
		{"nodeToNodeHostLocalSIDSubnetCIDR", c.NodeToNodeHostLocalSIDSubnetCIDR, &r.NodeHost},
		{"nodeToNodePodPolicySIDSubnetCIDR", c.NodeToNodePodPolicySIDSubnetCIDR, &r.NodePodPolicy},
		{"nodeToNodeHostPolicySIDSubnetCIDR", c.NodeToNodeHostPolicySIDSubnetCIDR, &r.NodeHostPolicy},
		{"sfcPolicyBSIDSubnetCIDR", c.SFCPolicyBSIDSubnetCIDR, &r.SFCPolicy},
		{"sfcServiceFunctionSIDSubnetCIDR", c.SFCServiceFunctionSIDSubnetCIDR, &r.SFCFunction},
		{"sfcEndLocalSIDSubnetCIDR", c.SFCEndLocalSIDSubnetCIDR, &r.SFCEnd},
	} {
		p, err := parseRange("srv6."+f.field, f.text)
		if err != nil {
			return SRv6Ranges{}, err
		}
		if p.IsValid() && p.Addr().Is4() {
			return SRv6Ranges{}, fmt.Errorf("srv6.%s %q: segment identifiers are IPv6", f.field, f.text)
		}
		*f.to = p
	}
	return r, nil
}

// errNoSID says that the range which a segment identifier is made from is not configured, or the address is not IPv6.
var errNoSID = errors.New("no SRv6 range or no IPv6 address")

// join takes the upper bits of p and the others from addr.
func join(p netip.Prefix, addr netip.Addr) (netip.Addr, error) {
	if !p.IsValid() || !addr.Is6() || addr.Is4In6() {
		return netip.Addr{}, fmt.Errorf("segment identifier from %s and %s: %w", p, addr, errNoSID)
	}
	return splice(p.Addr(), p.Bits(), addr), nil
}

// splice takes the upper bits of high and the others from low.
func splice(high netip.Addr, bits int, low netip.Addr) netip.Addr {
	h, l := high.As16(), low.As16()
	for i := range h {
		mask := byte(0xff) << (8 - min(max(bits-8*i, 0), 8))
		h[i] = h[i]&mask | l[i]&^mask
	}
	return netip.AddrFrom16(h)
}

// hashOf spreads a service function chain's name over an address.
func hashOf(sfcName string) netip.Addr {
	sum := sha256.Sum256([]byte(sfcName))
	return netip.AddrFrom16([16]byte(sum[:16]))
}

// BsidForServicePolicy is the binding SID of a service: made from its numerically lowest IP, ::1 for a service without.
func (i *IPAM) BsidForServicePolicy(serviceIPs []netip.Addr) (netip.Addr, error) {
	lowest := netip.IPv6Loopback()
	for n, ip := range serviceIPs {
		if n == 0 || space.NormalAddr(ip).Less(lowest) {
			lowest = space.NormalAddr(ip)
		}
	}
	return join(i.ranges().ServicePolicy, lowest)
}

// SidForServiceHostLocalsid is the SID of the host's end of services.
func (i *IPAM) SidForServiceHostLocalsid() (netip.Addr, error) {
	return join(i.ranges().ServiceHost, netip.IPv6Loopback())
}

// SidForServicePodLocalsid is the SID of a service's pod.
func (i *IPAM) SidForServicePodLocalsid(backendIP netip.Addr) (netip.Addr, error) {
	return join(i.ranges().ServicePod, backendIP)
}

// SidForServiceNodeLocalsid is the SID of a service on a node.
func (i *IPAM) SidForServiceNodeLocalsid(nodeIP netip.Addr) (netip.Addr, error) {
	return join(i.ranges().ServiceNode, nodeIP)
}

// SidForNodeToNodePodLocalsid is the SID of a node for traffic to its pods.
func (i *IPAM) SidForNodeToNodePodLocalsid(nodeIP netip.Addr) (netip.Addr, error) {
	return join(i.ranges().NodePod, nodeIP)
}

// SidForNodeToNodeHostLocalsid is the SID of a node for traffic to its host.
func (i *IPAM) SidForNodeToNodeHostLocalsid(nodeIP netip.Addr) (netip.Addr, error) {
	return join(i.ranges().NodeHost, nodeIP)
}

// BsidForNodeToNodePodPolicy is the binding SID of the path to a node's pods.
func (i *IPAM) BsidForNodeToNodePodPolicy(nodeIP netip.Addr) (netip.Addr, error) {
	return join(i.ranges().NodePodPolicy, nodeIP)
}

// BsidForNodeToNodeHostPolicy is the binding SID of the path to a node's host.
func (i *IPAM) BsidForNodeToNodeHostPolicy(nodeIP netip.Addr) (netip.Addr, error) {
	return join(i.ranges().NodeHostPolicy, nodeIP)
}

// BsidForSFCPolicy is the binding SID of a service function chain: made from the hash of its name.
func (i *IPAM) BsidForSFCPolicy(sfcName string) (netip.Addr, error) {
	return join(i.ranges().SFCPolicy, hashOf(sfcName))
}

// SidForSFCServiceFunctionLocalsid is the SID of a service function: the range, then SFCIDBits of the chain's hash,
// then what is left of the function's IP.
func (i *IPAM) SidForSFCServiceFunctionLocalsid(sfcName string, serviceFunctionPodIP netip.Addr) (netip.Addr, error) {
	r := i.ranges()
	sid, err := join(r.SFCFunction, hashOf(sfcName))
	if err != nil {
		return netip.Addr{}, err
	}
	if !serviceFunctionPodIP.Is6() || serviceFunctionPodIP.Is4In6() {
		return netip.Addr{}, fmt.Errorf("segment identifier from %s: %w", serviceFunctionPodIP, errNoSID)
	}
	return splice(sid, min(r.SFCFunction.Bits()+r.SFCIDBits, 128), serviceFunctionPodIP), nil
}

// SidForSFCEndLocalsid is the SID of a chain's end.
func (i *IPAM) SidForSFCEndLocalsid(serviceFunctionPodIP netip.Addr) (netip.Addr, error) {
	return join(i.ranges().SFCEnd, serviceFunctionPodIP)
}

func (i *IPAM) ranges() SRv6Ranges {
	defer i.lock()()
	return i.state.srv6
}
