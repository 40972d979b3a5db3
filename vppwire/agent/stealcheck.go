package agent

import "github.com/vppdrill/vppdrill/vppwire/linkname"

// checkSteal refuses what cannot be beside a NIC that VPP takes from the host.
func (cfg *Config) checkSteal(refuse func(string, ...any)) {
	if cfg.StealFirstNIC && cfg.StealInterface != "" {
		refuse("StealFirstNIC decides nothing: StealInterface %s is given; remove one of them", cfg.StealInterface)
	}
	setting := "StealInterface"
	if cfg.StealFirstNIC {
		setting = "StealFirstNIC"
	}
	every := cfg.StealFirstNIC || cfg.StealInterface != ""
	checkStolenLink("StealInterface", cfg.StealInterface, refuse)
	if every {
		cfg.checkBesideStolen(setting, refuse)
	}
	for i := range cfg.NodeConfig {
		n := &cfg.NodeConfig[i]
		field := "NodeConfig " + n.NodeName + ": stealInterface"
		checkStolenLink(field, n.StealInterface, refuse)
		link := n.StealInterface
		switch {
		case link != "" && !every:
			cfg.checkBesideStolen(field, refuse)
		case link == "":
			link, field = cfg.StealInterface, "NodeConfig "+n.NodeName+": "+setting
		}
		if link != "" || every {
			n.checkBesideStolen(field, link, refuse)
		}
	}
}

// checkStolenLink refuses names that no link of the host's own has.
func checkStolenLink(field, link string, refuse func(string, ...any)) {
	switch {
	case link == "":
	case linkname.Check(link) != nil:
		refuse("%s %q: %w", field, link, linkname.Check(link))
	case !hostsOwn(link):
		refuse("%s %q: a link of that name is the agent's own or no NIC", field, link)
	}
}

// checkBesideStolen refuses settings of the cluster.
func (cfg *Config) checkBesideStolen(field string, refuse func(string, ...any)) {
	switch {
	case cfg.HostInterconnect == HostInterconnectNone:
		refuse("%s: the host keeps its address at the interconnect, set HostInterconnect to veth or tap", field)
	case cfg.PodInterconnect == PodInterconnectNone:
		refuse("%s: an agent that wires nothing takes no NIC", field)
	case cfg.ExternalByHost:
		refuse("%s: the host sends all by VPP and has no way of its own, remove ExternalByHost", field)
	case cfg.Services == ServicesVPP:
		refuse("%s: VPP does not serve services on a NIC that it has taken from the host yet, set Services to kube-proxy", field)
	case cfg.IPAMConfig.NodeInterconnectDHCP:
		refuse("%s: the node's address is the host's, remove ipamConfig.nodeInterconnectDHCP", field)
	}
	if pools, ok, err := cfg.Pools(); err == nil && ok && (pools.Dual() || pools.PodSubnet.Addr().Is6()) {
		refuse("%s: NICs are taken with IPv4 only, and podSubnetCIDR is %s", field, pools.PodSubnet)
	}
}

// checkBesideStolen refuses settings of the node whose NIC is taken.
func (n *NodeConfig) checkBesideStolen(field, link string, refuse func(string, ...any)) {
	switch main := &n.MainVPPInterface; {
	case main.IP != "":
		refuse("%s: the node's address is the host's, remove mainVPPInterface.ip %s", field, main.IP)
	case main.UseDHCP:
		refuse("%s: the node's address is the host's, remove mainVPPInterface.useDHCP", field)
	case n.Gateway != "":
		refuse("%s: the node's gateway is the host's, remove gateway %s", field, n.Gateway)
	}
	for _, o := range n.OtherVPPInterfaces {
		if link != "" && o.InterfaceName == link {
			refuse("%s: %s is VPP's already, by otherVPPInterfaces; name another link", field, link)
		}
	}
}
