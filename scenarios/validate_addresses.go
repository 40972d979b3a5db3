package scenarios

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// unusable says why nobody can have addresses of a range, "" where somebody can.
func unusable(p netip.Prefix) string {
	for _, r := range space.SpecialRanges() {
		if r.Overlaps(p) {
			return r.Is + " (" + r.Prefix.String() + ")"
		}
	}
	if mapped.Overlaps(p) {
		return "is IPv4 written as IPv6 (" + mapped.String() + ")"
	}
	return ""
}

// mapped are IPv4's addresses as IPv6 can write them.
var mapped = netip.MustParsePrefix("::ffff:0:0/96")

// noHost says why no host of a network can have an address, "" where one can.
func noHost(a netip.Addr, network netip.Prefix) string {
	if why := unusable(netip.PrefixFrom(a, a.BitLen())); why != "" {
		return why
	}
	network = network.Masked()
	switch {
	case a.BitLen()-network.Bits() < 2: // RFC 3021 and RFC 6164: both addresses are hosts'
	case a == network.Addr():
		return "is the address of the network " + network.String() + " itself"
	case a.Is4() && !network.Contains(a.Next()):
		return "is the broadcast address of " + network.String()
	}
	return ""
}

// namedRange is a range of the cluster by the setting that it comes from.
type namedRange struct {
	field string
	netip.Prefix
}

// rangesOf are the ranges of an address plan, in each family.
func rangesOf(c IPAM) (list []namedRange) {
	c.NodeInterconnectDHCP = false // what a server leases from counts as well
	plan, err := c.Plan()
	if err != nil {
		return nil
	}
	for _, p := range plan.Families() {
		list = append(list, namedRange{"podSubnetCIDR", p.PodSubnet}, namedRange{"vppHostSubnetCIDR", p.VPPHostSubnet},
			namedRange{"nodeInterconnectCIDR", p.NodeInterconnect}, namedRange{"vxlanCIDR", p.VXLAN}, namedRange{"serviceCIDR", p.Service})
	}
	return slices.DeleteFunc(list, func(r namedRange) bool { return !r.IsValid() })
}

// rangeProblem says which range of a plan nobody can use.
func rangeProblem(c IPAM) error {
	for _, r := range rangesOf(c) {
		if why := unusable(r.Prefix); why != "" {
			return fmt.Errorf("%s %s %s", r.field, r.Prefix, why)
		}
	}
	return nil
}

// held is what a timeline is certain of at one of its items: which node has which addresses, and which ranges there are. What chance has
// decided is not in it.
type held struct {
	s *Scenario
	// management and own are nodes' addresses; own are those that the timeline or the configuration gave.
	management map[string][]netip.Addr
	own        map[string]netip.Addr
	podCIDRs   map[string]netip.Prefix
	// ranges are those of the controller, or the whole pod subnet; none on EC2, whose subnets are the cloud's.
	ranges []netip.Prefix
}

func (s *Scenario) newHeld() *held {
	h := &held{s: s, management: map[string][]netip.Addr{}, own: map[string]netip.Addr{}, podCIDRs: map[string]netip.Prefix{}, ranges: slices.Clone(s.Config.IPAM.Ranges)}
	plan, err := s.Config.IPAM.Plan()
	if err == nil && len(h.ranges) == 0 && !s.Config.IPAM.OnEC2() {
		for _, p := range plan.Families() {
			h.ranges = append(h.ranges, p.PodSubnet)
		}
	}
	for i, name := range s.NodeNames() {
		for k := range s.Topology.HostIPs {
			h.management[name] = append(h.management[name], s.Management(uint32(i)+1, k).Addr())
		}
		if s.Config.IPAM.UseExternalIPAM && err == nil {
			if n, err := plan.Node(uint32(i) + 1); err == nil { // as the controller manager numbers them
				h.podCIDRs[name] = n.PodSubnet
			}
		}
	}
	for _, n := range s.Config.Nodes {
		if n.IP.IsValid() {
			h.own[n.Name] = n.IP.Addr()
		}
	}
	return h
}

// holder is the node, other than those that ref may mean, that has an address; what says which of its addresses that is.
func (h *held) holder(ref NodeRef, present []string, a netip.Addr) (name, what string) {
	for _, name := range present {
		switch {
		case name == string(ref) || ref == AnyNode && len(present) == 1:
		case slices.Contains(h.management[name], a):
			return name, "management address"
		case h.own[name] == a:
			return name, "interconnect address"
		}
	}
	return "", ""
}

// apply notes what an item does; what it does to a node that chance chooses is not known any more of any.
func (h *held) apply(a Action) {
	forget := func(ref NodeRef) {
		if ref == AnyNode || ref == AllNodes {
			clear(h.management)
			clear(h.own)
			clear(h.podCIDRs)
		}
		delete(h.management, string(ref))
		delete(h.own, string(ref))
		delete(h.podCIDRs, string(ref))
	}
	switch a := a.(type) {
	case RemoveNode:
		forget(a.Node)
	case RecreateNode:
		forget(a.Node)
	case RollNodes:
		forget(AllNodes)
	case ChangeManagement:
		if a.Node == AnyNode {
			clear(h.management)
		} else {
			h.management[string(a.Node)] = a.Addresses
		}
	case ChangeNodeAddress:
		if a.Node == AnyNode {
			clear(h.own)
		} else {
			h.own[string(a.Node)] = a.Address.Addr()
		}
	case SetPodCIDR:
		if a.Node == AnyNode {
			clear(h.podCIDRs)
		} else {
			h.podCIDRs[string(a.Node)] = a.PodCIDR
		}
	}
}

// checkManagement refuses management addresses that no machine can have, or that others have.
func (h *held) checkManagement(path string, c IPAM, a ChangeManagement, present []string, optional bool) *InputError {
	ours := false
	for i, addr := range a.Addresses {
		at := path + ".addresses[" + strconv.Itoa(i) + "]"
		if why := noHost(addr, ManagementNetwork(addr)); why != "" {
			return h.s.wrongAt(at, "%s %s: no machine can have it", addr, why)
		}
		if slices.Contains(a.Addresses[:i], addr) {
			return h.s.wrongAt(at, "%s is listed twice", addr)
		}
		for _, r := range rangesOf(c) {
			if r.Contains(addr) {
				return h.s.wrongAt(at, "%s lies in %s %s, whose addresses are given to others", addr, r.field, r.Prefix)
			}
		}
		if name, what := h.holder(a.Node, present, addr); name != "" && !optional {
			return h.s.wrongAt(at, "%s is %s of %s: two machines cannot both have it", addr, noun.A(what), name)
		}
		ours = ours || c.Dual() || addr.Is6() == c.IP6()
	}
	if !ours && len(a.Addresses) > 0 {
		return h.s.wrongAt(path+".addresses", "has no %s address, and the cluster has no other family: one of the other family may stand beside it", familyName(c.IP6()))
	}
	return nil
}

func familyName(ip6 bool) string {
	if ip6 {
		return "IPv6"
	}
	return "IPv4"
}

// checkNodeAddress refuses interconnect addresses that no node can have, that others have, or that others have no route to.
func (h *held) checkNodeAddress(path string, c IPAM, a ChangeNodeAddress, present []string, optional bool) *InputError {
	at, addr := path+".address", a.Address.Addr()
	network := c.Interconnect()
	networks := []netip.Prefix{network}
	for _, n := range h.s.Config.Nodes {
		if n.IP.IsValid() {
			networks = append(networks, n.IP.Masked())
		}
	}
	if why := noHost(addr, a.Address); why != "" {
		return h.s.wrongAt(at, "%s %s: no node can have it", addr, why)
	}
	if addr.Is6() != network.Addr().Is6() {
		return h.s.wrongAt(at, "%s is not %s as nodeInterconnectCIDR %s is", addr, familyName(!addr.Is6()), network)
	}
	in := slices.IndexFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
	if in < 0 {
		return h.s.wrongAt(at, "%s lies outside nodeInterconnectCIDR %s: other nodes have no route to it", addr, network)
	}
	if networks[in].Bits() != a.Address.Bits() {
		return h.s.wrongAt(at, "want the length of its subnet, %s/%d", addr, networks[in].Bits())
	}
	if optional {
		return nil
	}
	if name, what := h.holder(a.Node, present, addr); name != "" {
		return h.s.wrongAt(at, "%s is the %s of %s: two nodes cannot both have it", addr, what, name)
	}
	if plan, err := c.Plan(); err == nil && !h.s.Config.Leases(string(a.Node)) && !c.NodeInterconnectDHCP {
		for id := range uint32(len(present)) {
			if n, err := plan.Node(id + 1); err == nil && n.NodeIP.Addr() == addr {
				return h.s.wrongAt(at, "%s is the address of node ID %d, which one of the %d nodes has", addr, id+1, len(present))
			}
		}
	}
	return nil
}

// checkPodCIDR refuses pod ranges that no node can use, or that others' addresses lie in. One that another node has is a mistake that people
// make, and a law's to tell.
func (h *held) checkPodCIDR(path string, c IPAM, a SetPodCIDR) *InputError {
	at, p := path+".podCIDR", a.PodCIDR
	if why := unusable(p); why != "" {
		return h.s.wrongAt(at, "%s %s: no pod can have an address of it", p, why)
	}
	if p.Addr().BitLen()-p.Bits() < podBitsMin {
		return h.s.wrongAt(at, "%s has no room for a pod: network, gateway, NAT loopback and broadcast address take four", p)
	}
	if !c.Dual() && p.Addr().Is6() != c.IP6() {
		return h.s.wrongAt(at, "%s is not %s, and the cluster has no other family", p, familyName(c.IP6()))
	}
	for _, r := range rangesOf(c) {
		if r.field != "podSubnetCIDR" && r.Overlaps(p) {
			return h.s.wrongAt(at, "%s overlaps %s %s", p, r.field, r.Prefix)
		}
	}
	if r, name := h.hosts(p); name != "" {
		return h.s.wrongAt(at, "%s overlaps the hosts' network %s, where %s is", p, r, name)
	}
	if old := h.podCIDRs[string(a.Node)]; old.IsValid() && old != p && old.Overlaps(p) {
		return h.s.wrongAt(at, "%s overlaps %s, which %s has until then and gives back only once its pods are gone", p, old, a.Node)
	}
	return nil
}

// podBitsMin is how many host bits a node's pod range has at least.
const podBitsMin = 3

// hosts is the management network that a range overlaps, with a machine in it.
func (h *held) hosts(p netip.Prefix) (network netip.Prefix, name string) {
	for _, name := range h.s.everyNode() {
		for _, a := range h.management[name] {
			if network := ManagementNetwork(a); network.Overlaps(p) {
				return network, name
			}
		}
	}
	return netip.Prefix{}, ""
}

// checkWanted refuses addresses that no pod can ask for. One that no node has in its block is a pod's mistake, and the
// agents' to refuse.
func (s *Scenario) checkWanted(path string, c IPAM, a CreatePods) *InputError {
	why := c.Traits().NoWanted
	if c.UseExternalIPAM {
		why = "the external plugin chooses with useExternalIPAM"
	}
	if len(a.Addresses) > 0 && why != "" {
		return s.wrongAt(path+".addresses", "%s: no pod can ask for one", why)
	}
	for i, addr := range a.Addresses {
		at := path + ".addresses[" + strconv.Itoa(i) + "]"
		if why := unusable(netip.PrefixFrom(addr, addr.BitLen())); why != "" {
			return s.wrongAt(at, "%s %s: no pod can have it", addr, why)
		}
		if !c.Dual() && addr.Is6() != c.IP6() {
			return s.wrongAt(at, "%s is not %s, and the cluster has no other family", addr, familyName(c.IP6()))
		}
	}
	return nil
}

// checkHosts refuses ranges of a plan that lie over the hosts' network: VPP would route what is for a host to pods or services. Nodes with
// single addresses are the exception: a cloud takes pods' addresses from the hosts' own network.
func (h *held) checkHosts(section string, c IPAM) *InputError {
	for _, r := range rangesOf(c) {
		if r.field == "podSubnetCIDR" && c.SingleAddresses() {
			continue
		}
		if network, name := h.hosts(r.Prefix); name != "" {
			return h.s.wrongInPlan(section, fmt.Errorf("%s %s overlaps the hosts' network %s, where %s is", r.field, r.Prefix, network, name))
		}
	}
	return nil
}

// OverHosts says which range of the address plan lies over the hosts' network, "" for none: clusters of others may have any ranges.
func (s *Scenario) OverHosts() string {
	if err := s.newHeld().checkHosts("config.ipam", s.Config.IPAM); err != nil {
		return strings.TrimPrefix(err.Field+" "+err.Message, "config.ipam.")
	}
	return ""
}

// checkController refuses to take a range from a controller that has it not.
func (h *held) checkController(path string, a Action) *InputError {
	switch a := a.(type) {
	case AddRange:
		if len(h.ranges) > 0 {
			h.ranges = append(h.ranges, a.CIDR)
		}
	case RestartController:
		if len(a.Ranges) > 0 {
			h.ranges = slices.Clone(a.Ranges)
		}
	case ChangeCIDR:
		h.ranges = nil // a controller that starts with another pod subnet has that
	case RemoveRange:
		if len(h.ranges) > 0 && !slices.Contains(h.ranges, a.CIDR) {
			err := h.s.wrongAt(path+".cidr", "the controller has no range %s", a.CIDR)
			var words []string
			for _, r := range h.ranges {
				words = append(words, r.String())
			}
			err.Nearest = strictyaml.Nearest(a.CIDR.String(), words)
			return err
		}
		h.ranges = slices.DeleteFunc(h.ranges, func(r netip.Prefix) bool { return r == a.CIDR })
	}
	return nil
}

// checkServiceAddresses refuses addresses that no service can have.
func (h *held) checkServiceAddresses(path string, c IPAM, svc Service) *InputError {
	for _, r := range rangesOf(c) {
		if r.field == "serviceCIDR" && svc.ClusterIP.Is4() && r.Addr().Is4() && !r.Contains(svc.ClusterIP) {
			return h.s.wrongAt(path+".clusterIP", "%s lies outside serviceCIDR %s", svc.ClusterIP, r.Prefix)
		}
		inside := r.field == "podSubnetCIDR" || r.field == "vxlanCIDR" || r.field == "vppHostSubnetCIDR"
		if inside && svc.External.IsValid() && r.Contains(svc.External) {
			return h.s.wrongAt(path+".externalIP", "%s lies in %s %s, whose addresses are given to others", svc.External, r.field, r.Prefix)
		}
	}
	if a := svc.External; a.IsValid() {
		if why := unusable(netip.PrefixFrom(a, a.BitLen())); why != "" {
			return h.s.wrongAt(path+".externalIP", "%s %s: no service can have it", a, why)
		}
	}
	return nil
}
