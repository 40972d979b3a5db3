package scenarios

import "net/netip"

// ChangeCIDR changes the cluster's address plan; what is zero stays as it is. In a cluster of two families a single range is its family's.
type ChangeCIDR struct {
	PodSubnetCIDR                 CIDRPair `yaml:"podSubnetCIDR" doc:"All pods."`
	PodSubnetOneNodePrefixLen     int      `yaml:"podSubnetOneNodePrefixLen" min:"0" max:"128" doc:"Prefix length of one node's pods."`
	PodSubnetOneNodePrefixLenIPv6 int      `yaml:"podSubnetOneNodePrefixLenIPv6" min:"0" max:"128" doc:"The same of IPv6 in a cluster of two families."`
	VPPHostSubnetCIDR             CIDRPair `yaml:"vppHostSubnetCIDR" doc:"All links between VPP and Linux."`
	VPPHostSubnetOneNodePrefixLen int      `yaml:"vppHostSubnetOneNodePrefixLen" min:"0" max:"128" doc:"Prefix length of one node's link between VPP and Linux."`
	NodeInterconnectCIDR          CIDRPair `yaml:"nodeInterconnectCIDR" doc:"The nodes' own addresses."`
	VXLANCIDR                     CIDRPair `yaml:"vxlanCIDR" doc:"The nodes' tunnel addresses."`
	ServiceCIDR                   CIDRPair `yaml:"serviceCIDR" doc:"Cluster services."`
}

// Apply returns the configuration after the change.
func (a ChangeCIDR) Apply(c IPAM) IPAM {
	for _, change := range [...]struct {
		to   CIDRPair
		from *CIDRPair
	}{
		{a.PodSubnetCIDR, &c.PodSubnetCIDR},
		{a.VPPHostSubnetCIDR, &c.VPPHostSubnetCIDR},
		{a.NodeInterconnectCIDR, &c.NodeInterconnectCIDR},
		{a.VXLANCIDR, &c.VXLANCIDR},
		{a.ServiceCIDR, &c.ServiceCIDR},
	} {
		if change.to.IsValid() {
			*change.from = change.from.changed(change.to)
		}
	}
	if a.PodSubnetOneNodePrefixLen != 0 {
		c.PodSubnetOneNodePrefixLen = a.PodSubnetOneNodePrefixLen
	}
	if a.PodSubnetOneNodePrefixLenIPv6 != 0 {
		c.PodSubnetOneNodePrefixLenIPv6 = a.PodSubnetOneNodePrefixLenIPv6
	}
	if a.VPPHostSubnetOneNodePrefixLen != 0 {
		c.VPPHostSubnetOneNodePrefixLen = a.VPPHostSubnetOneNodePrefixLen
	}
	return c
}

// Restart is the change for a controller that carves nodes' blocks, which a restart tells it. False: the action changes more than the
// blocks' length, which no controller has.
func (a ChangeCIDR) Restart() (RestartController, bool) {
	r := RestartController{PodSubnetOneNodePrefixLen: a.PodSubnetOneNodePrefixLen}
	return r, r.Changes() && a == ChangeCIDR{PodSubnetOneNodePrefixLen: a.PodSubnetOneNodePrefixLen}
}

// SetPodCIDR gives a Node object another pod range.
type SetPodCIDR struct {
	Node    NodeRef      `yaml:"node" required:"true" one:"true" doc:"The node."`
	PodCIDR netip.Prefix `yaml:"podCIDR" required:"true" doc:"Its pods' range from now on."`
}

// AddRange gives the controller that carves nodes' blocks another range.
type AddRange struct {
	CIDR netip.Prefix `yaml:"cidr" required:"true" doc:"The range, inside podSubnetCIDR."`
}

// RemoveRange takes a range from the controller: nodes keep blocks of it and get no more.
type RemoveRange struct {
	CIDR netip.Prefix `yaml:"cidr" required:"true" doc:"One of config.ipam.ranges or of an add-range."`
}

// RestartController ends the leading controller that carves nodes' blocks; another one leads when the old one's lease has run
// out. Kubernetes' RangeAllocator may be started with other ranges and another block length: nodes keep the blocks that they have.
type RestartController struct {
	Ranges                    []netip.Prefix `yaml:"ranges" doc:"All its ranges from now on, inside podSubnetCIDR (nodeipam's RangeAllocator)."`
	PodSubnetOneNodePrefixLen int            `yaml:"podSubnetOneNodePrefixLen" min:"0" max:"128" doc:"Prefix length of the blocks of nodes that get one from now on (nodeipam's RangeAllocator)."`
}

// Changes reports whether the controller is started with something else.
func (a RestartController) Changes() bool {
	return len(a.Ranges) > 0 || a.PodSubnetOneNodePrefixLen != 0
}

// Apply returns the configuration after the restart.
func (a RestartController) Apply(c IPAM) IPAM {
	if len(a.Ranges) > 0 {
		c.Ranges = a.Ranges
	}
	if a.PodSubnetOneNodePrefixLen == 0 {
		return c
	}
	if plan, err := c.Plan(); err == nil && plan.Second != nil { // Kubernetes leaves as many bits to hosts in both families
		c.PodSubnetOneNodePrefixLenIPv6 = 128 - (plan.PodSubnet.Addr().BitLen() - a.PodSubnetOneNodePrefixLen)
	}
	c.PodSubnetOneNodePrefixLen = a.PodSubnetOneNodePrefixLen
	return c
}

// ChangeNodeAddress gives a node another interconnect address.
type ChangeNodeAddress struct {
	Node    NodeRef      `yaml:"node" required:"true" one:"true" doc:"The node."`
	Address netip.Prefix `yaml:"address" required:"true" host:"true" doc:"Its address with the subnet's length, such as 192.168.16.77/24."`
}

// ChangeManagement gives a node's Linux side other management addresses, in this order.
type ChangeManagement struct {
	Node      NodeRef      `yaml:"node" required:"true" one:"true" doc:"The node."`
	Addresses []netip.Addr `yaml:"addresses" required:"true" doc:"All its addresses from now on."`
}

func (ChangeCIDR) Verb() string        { return "change-cidr" }
func (SetPodCIDR) Verb() string        { return "set-pod-cidr" }
func (AddRange) Verb() string          { return "add-range" }
func (RemoveRange) Verb() string       { return "remove-range" }
func (RestartController) Verb() string { return "restart-controller" }
func (ChangeNodeAddress) Verb() string { return "change-node-address" }
func (ChangeManagement) Verb() string  { return "change-management" }

func (a ChangeCIDR) String() string        { return actionLine(a) }
func (a SetPodCIDR) String() string        { return actionLine(a) }
func (a AddRange) String() string          { return actionLine(a) }
func (a RemoveRange) String() string       { return actionLine(a) }
func (a RestartController) String() string { return actionLine(a) }
func (a ChangeNodeAddress) String() string { return actionLine(a) }
func (a ChangeManagement) String() string  { return actionLine(a) }

func (a ChangeCIDR) problem() (field, message string) {
	if a == (ChangeCIDR{}) {
		return "", "changes nothing"
	}
	return "", ""
}
