package cmd

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios"
)

// document is a file with only an ipam section. Its keys are those of a scenario's config.ipam, where they mean the
// same, and further ones, because a plan covers what no simulator has to be able to do: IPv6, several families, several
// pools.
type document struct {
	IPAM     section  `yaml:"ipam" required:"true"`
	Topology topology `yaml:"topology"`
}

// topology is what of a scenario's section concerns addresses.
type topology struct {
	Nodes          int `yaml:"nodes" min:"1" max:"100000"`
	PodsPerNode    int `yaml:"podsPerNode" min:"0" max:"10000"`
	MaxPodsPerNode int `yaml:"maxPodsPerNode" min:"1" max:"10000"`
}

// section is config.ipam and more. A field here takes the place of the embedded one of the same name.
type section struct {
	scenarios.IPAM `yaml:",inline"`

	PodSubnetOneNodePrefixLen     int          `yaml:"podSubnetOneNodePrefixLen" min:"0" max:"128"`
	VPPHostSubnetOneNodePrefixLen int          `yaml:"vppHostSubnetOneNodePrefixLen" min:"0" max:"128"`
	NodeInterconnectDHCP          bool         `yaml:"nodeInterconnectDHCP"`
	PodIfIPCIDR                   netip.Prefix `yaml:"podIfIPCIDR"`

	NodeIPAM  nodeIPAMSection  `yaml:"nodeipam"`
	Cilium    ciliumSection    `yaml:"cilium"`
	Datastore datastoreSection `yaml:"datastore"`

	HostNetworks []hostNetwork `yaml:"hostNetworks"`
}

// nodeIPAMSection is the controller manager's own view of its ranges.
type nodeIPAMSection struct {
	scenarios.NodeIPAMConfig `yaml:",inline"`

	// ClusterCIDRs are one of each family at most, NodeMaskSizes the lengths of their blocks.
	ClusterCIDRs  []netip.Prefix `yaml:"clusterCIDRs"`
	NodeMaskSizes []int          `yaml:"nodeMaskSizes" min:"1" max:"128"`
	ServiceCIDRs  []netip.Prefix `yaml:"serviceCIDRs"`
	ForNodes      []clusterCIDR  `yaml:"forNodes"`
}

// clusterCIDR is a ClusterCIDR object: ranges for selected nodes.
type clusterCIDR struct {
	Name            string       `yaml:"name" required:"true"`
	Selector        string       `yaml:"selector"`
	PerNodeHostBits int          `yaml:"perNodeHostBits" min:"4" max:"64" required:"true"`
	IPv4            netip.Prefix `yaml:"ipv4"`
	IPv6            netip.Prefix `yaml:"ipv6"`
}

type ciliumSection struct {
	scenarios.CiliumIPAM `yaml:",inline"`

	PreAllocate       unused       `yaml:"preAllocate"`
	Pools             []ciliumPool `yaml:"pools"`
	KeptPerCIDR       int          `yaml:"keptPerCIDR" min:"0" max:"1024"`
	MinAllocate       int          `yaml:"minAllocate" min:"0" max:"65536"`
	MaxAllocate       int          `yaml:"maxAllocate" min:"0" max:"65536"`
	MaxAboveWatermark int          `yaml:"maxAboveWatermark" min:"0" max:"65536"`
}

type ciliumPool struct {
	Name         string         `yaml:"name"`
	IPv4         []netip.Prefix `yaml:"ipv4"`
	IPv6         []netip.Prefix `yaml:"ipv6"`
	MaskSizeIPv4 int            `yaml:"maskSizeIPv4" min:"0" max:"32"`
	MaskSizeIPv6 int            `yaml:"maskSizeIPv6" min:"0" max:"128"`
	PreAllocate  unused         `yaml:"preAllocate"`
}

type datastoreSection struct {
	scenarios.DatastoreIPAM `yaml:",inline"`

	// ENIs and IPsPerENI are an instance's limits where its type is not known here.
	ENIs      int `yaml:"enis" min:"1" max:"128"`
	IPsPerENI int `yaml:"ipsPerENI" min:"1" max:"128"`
	MaxENI    int `yaml:"maxENI" min:"0" max:"1024"`
}

type hostNetwork struct {
	Name string       `yaml:"name" required:"true"`
	CIDR netip.Prefix `yaml:"cidr" required:"true"`
}

// defaults is what a document without keys means: what a scenario means.
func defaults() document {
	d := document{IPAM: section{IPAM: scenarios.DefaultConfig().IPAM}}
	d.IPAM.Cilium.CiliumIPAM, d.IPAM.Cilium.PreAllocate = d.IPAM.IPAM.Cilium, unused(d.IPAM.IPAM.Cilium.PreAllocate)
	d.IPAM.Datastore.DatastoreIPAM = d.IPAM.IPAM.Datastore
	return d
}
