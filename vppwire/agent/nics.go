package agent

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// presentNICs are of the node's other interfaces those that VPP has.
func (a *Agent) presentNICs() (list []mode.OtherNIC) {
	for _, o := range a.own.others {
		if slices.Contains(a.nics, o.Name) {
			list = append(list, o)
		}
	}
	return list
}

// missingNICs says which of the node's other interfaces a VPP lacks that has just come.
func (a *Agent) missingNICs() {
	for _, o := range a.own.others {
		if !slices.Contains(a.nics, o.Name) {
			a.emit(Log{Level: levelWarn, Reason: ReasonNoNIC, Message: "otherVPPInterfaces: VPP has no interface " + o.Name + ": it is left out until VPP comes with it"})
		}
	}
}

// mainField is the main interface's field.
const mainField = "mainVPPInterface"

// checkNICs refuses interfaces that cannot be wired. VPP takes no two interfaces of one table whose subnets overlap
// (-105).
func (n *NodeConfig) checkNICs(refuse func(string, ...any)) {
	main := &n.MainVPPInterface
	main.check(n.NodeName, mainField, refuse)
	seen := map[string]bool{main.InterfaceName: main.InterfaceName != ""}
	subnets := []netip.Prefix{main.subnet()}
	for i := range n.OtherVPPInterfaces {
		o := &n.OtherVPPInterfaces[i]
		switch {
		case o.InterfaceName == "":
			refuse("NodeConfig %s: otherVPPInterfaces[%d].interfaceName is empty", n.NodeName, i)
		case seen[o.InterfaceName]:
			refuse("NodeConfig %s: otherVPPInterfaces: %s is named twice", n.NodeName, o.InterfaceName)
		}
		seen[o.InterfaceName] = true
		if !o.check(n.NodeName, "otherVPPInterfaces", refuse) {
			continue
		}
		for _, p := range subnets {
			if s := o.subnet(); s.IsValid() && p.Overlaps(s) {
				refuse("NodeConfig %s: otherVPPInterfaces: %s of %s overlaps %s of another interface: VPP takes only one of them", n.NodeName, o.IP, o.InterfaceName, p)
			}
		}
		subnets = append(subnets, o.subnet())
	}
}

// check is false where the interface's address makes no sense.
func (c *InterfaceConfig) check(node, field string, refuse func(string, ...any)) bool {
	if name := c.InterfaceName; name != "" && len(mode.NICs([]string{name})) == 0 {
		refuse("NodeConfig %s: %s.interfaceName %q: interfaces of that name are the agent's own, give the NIC another one (vppctl set interface name %s uplink0)",
			node, field, name, name)
	}
	if c.IP == "" {
		return true
	}
	p, err := netip.ParsePrefix(c.IP)
	switch {
	case err != nil:
		refuse("NodeConfig %s: %s.ip %q: want an address with its subnet's length, as 192.168.16.1/24", node, field, c.IP)
	case p.Addr().Is6() && field != mainField:
		refuse("NodeConfig %s: %s.ip %s: further interfaces are wired with IPv4 only, give an IPv4 address", node, field, c.IP)
	case p.Bits() < p.Addr().BitLen()-1 && p.Addr() == p.Masked().Addr():
		refuse("NodeConfig %s: %s.ip %s is the network address of its subnet", node, field, c.IP)
	case c.UseDHCP:
		refuse("NodeConfig %s: %s.ip %s and useDHCP: give one of them, the address would win", node, field, c.IP)
	default:
		return true
	}
	return false
}

// subnet is the interface's own, the zero Prefix where the configuration does not say.
func (c *InterfaceConfig) subnet() netip.Prefix {
	p, err := netip.ParsePrefix(c.IP)
	if err != nil {
		return netip.Prefix{}
	}
	return p.Masked()
}

// checkOverlaps refuses other interfaces in ranges that lead elsewhere.
func (n *NodeConfig) checkOverlaps(plan contiv.Plan, refuse func(string, ...any)) {
	ranges := []struct {
		field string
		netip.Prefix
	}{{"podSubnetCIDR", plan.PodSubnet}, {"vppHostSubnetCIDR", plan.VPPHostSubnet}, {"nodeInterconnectCIDR", plan.NodeInterconnect}, {"serviceCIDR", plan.Service}}
	for i := range n.OtherVPPInterfaces {
		o := &n.OtherVPPInterfaces[i]
		for _, r := range ranges {
			if r.field == "nodeInterconnectCIDR" && n.MainVPPInterface.IP != "" {
				continue // this node is elsewhere
			}
			if s := o.subnet(); s.IsValid() && r.IsValid() && r.Overlaps(s) {
				refuse("NodeConfig %s: otherVPPInterfaces: %s of %s overlaps ipamConfig.%s %s", n.NodeName, o.IP, o.InterfaceName, r.field, r.Prefix)
			}
		}
	}
}
