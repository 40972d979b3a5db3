package cilium

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// ENIStatus is the node's elastic network interfaces; the operator writes it.
type ENIStatus struct {
	ENIs map[string]ENI `json:"enis,omitempty"`
}

// ENI is one interface.
type ENI struct {
	ID string `json:"id,omitempty"`
	// IP is the interface's own address, which is never given back.
	IP netip.Addr `json:"ip,omitzero"`
	// MAC is how results name the interface.
	MAC    string    `json:"mac,omitempty"`
	Subnet ENISubnet `json:"subnet,omitzero"`
	VPC    ENIVPC    `json:"vpc,omitzero"`
	// Addresses are the secondary addresses.
	Addresses []netip.Addr `json:"addresses,omitempty"`
}

// ENISubnet is the subnet that an interface is in; its gateway is the first address.
type ENISubnet struct {
	ID   string       `json:"id,omitempty"`
	CIDR netip.Prefix `json:"cidr,omitzero"`
}

// ENIVPC is the network that a subnet is in.
type ENIVPC struct {
	ID          string       `json:"id,omitempty"`
	PrimaryCIDR netip.Prefix `json:"primary-cidr,omitzero"`
	// CIDRs are all ranges of the network; the primary one may be among them.
	CIDRs []netip.Prefix `json:"cidrs,omitempty"`
}

// clone is a copy that shares nothing with s.
func (s ENIStatus) clone() ENIStatus {
	enis := maps.Clone(s.ENIs)
	//vppdrill:unordered every element is set by itself
	for id, e := range enis {
		e.Addresses, e.VPC.CIDRs = slices.Clone(e.Addresses), slices.Clone(e.VPC.CIDRs)
		enis[id] = e
	}
	return ENIStatus{ENIs: enis}
}

func (s *ENIStatus) normalize() (err error) {
	if len(s.ENIs) == 0 {
		s.ENIs = nil
	}
	for _, id := range slices.Sorted(maps.Keys(s.ENIs)) {
		e := s.ENIs[id]
		e.IP = space.NormalAddr(e.IP)
		e.Subnet.CIDR, e.VPC.PrimaryCIDR = space.Normal(e.Subnet.CIDR), space.Normal(e.VPC.PrimaryCIDR)
		if e.VPC.CIDRs, err = normalPrefixes(e.VPC.CIDRs); err != nil {
			return fmt.Errorf("ENI %s: %w", id, err)
		}
		addresses := make([]netip.Addr, 0, len(e.Addresses))
		for _, ip := range e.Addresses {
			if !ip.IsValid() {
				return fmt.Errorf("ENI %s: an address is empty", id)
			}
			addresses = append(addresses, space.NormalAddr(ip))
		}
		if e.Addresses = addresses; len(addresses) == 0 {
			e.Addresses = nil
		}
		s.ENIs[id] = e
	}
	return nil
}

// ENIError says what is missing about an interface.
type ENIError struct{ ENI, What string }

// Error names the interface.
func (e ENIError) Error() string {
	if e.What == "" {
		return "unable to find ENI " + e.ENI
	}
	return e.What
}

// ValidateENIConfig reports, in the order of identifiers, what keeps the node's interfaces from being used: an
// interface whose VPC has no primary range or an empty further one, a pool address whose interface is unknown or does
// not carry it. A VPC without further ranges is the usual one. Errors come joined.
func ValidateENIConfig(n *CiliumNode) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(n.Status.ENI.ENIs)) {
		vpc := n.Status.ENI.ENIs[id].VPC
		switch {
		case !vpc.PrimaryCIDR.IsValid():
			errs = append(errs, ENIError{id, "VPC Primary CIDR not set for ENI " + id})
		case slices.ContainsFunc(vpc.CIDRs, func(p netip.Prefix) bool { return !p.IsValid() }):
			errs = append(errs, ENIError{id, "VPC CIDR not set for ENI " + id})
		}
	}
	for _, ip := range slices.SortedFunc(maps.Keys(n.Spec.IPAM.Pool), netip.Addr.Compare) {
		id := n.Spec.IPAM.Pool[ip].Resource
		eni, ok := n.Status.ENI.ENIs[id]
		switch {
		case !ok:
			errs = append(errs, ENIError{id, "ENI " + id + " not found in status"})
		case !slices.Contains(eni.Addresses, ip):
			errs = append(errs, ENIError{id, fmt.Sprintf("ENI %s does not have address %s", id, ip)})
		}
	}
	return errors.Join(errs...)
}

// result is what an allocation of ip gives when its interface is id.
func (s ENIStatus) result(ip netip.Addr, id string) (*AllocationResult, error) {
	eni, ok := s.ENIs[id]
	if !ok {
		return nil, ENIError{ENI: id}
	}
	r := &AllocationResult{IP: ip, Master: eni.MAC}
	if eni.VPC.PrimaryCIDR.IsValid() {
		r.CIDRs = append(r.CIDRs, eni.VPC.PrimaryCIDR)
	}
	for _, c := range eni.VPC.CIDRs {
		if c != eni.VPC.PrimaryCIDR {
			r.CIDRs = append(r.CIDRs, c)
		}
	}
	if eni.Subnet.CIDR.IsValid() {
		gateway, err := space.Nth(eni.Subnet.CIDR, 1)
		if err != nil {
			return nil, fmt.Errorf("gateway of ENI %s: %w", id, err)
		}
		r.GatewayIP = gateway
	}
	return r, nil
}

// routed reports whether some interface tells its network's own range.
func (s ENIStatus) routed() bool {
	return slices.ContainsFunc(slices.Sorted(maps.Keys(s.ENIs)), func(id string) bool {
		return s.ENIs[id].VPC.PrimaryCIDR.IsValid()
	})
}
