package scenarios

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// Config is what the cluster's administrator would configure.
type Config struct {
	IPAM   IPAM   `yaml:"ipam" doc:"Who gets which address."`
	Wiring Wiring `yaml:"wiring" doc:"How pods, host and nodes are connected through VPP."`
	DHCP   DHCP   `yaml:"dhcp" doc:"The DHCP server of the nodes' network; with config.ipam.nodeInterconnectDHCP."`
	// Nodes is Contiv's NodeConfig.
	Nodes []NodeSettings `yaml:"nodes" doc:"What is special about single nodes; all agents are given all of it."`
	Agent Agent          `yaml:"agent" doc:"The node agent's own settings."`
	// Runtime is how kubelets and container runtimes behave; the zero Runtime is patient and does everything once and in order.
	Runtime Runtime `yaml:"runtime" doc:"How kubelets and container runtimes behave towards the CNI plugin."`
}

// Runtime is how badly kubelets and container runtimes behave. All of it was seen of containerd and CRI-O.
type Runtime struct {
	// Timeout is containerd's and kubelets' deadline for a sandbox; at least 10 s, so that a plugin which still waits for an agent that
	// is away, and asks again, never outlives it.
	Timeout   time.Duration `yaml:"timeout" doc:"A plugin that takes longer has failed; 1m when absent, 10s at least."`
	Orphans   bool          `yaml:"orphans" doc:"Plugins that took too long are not killed: DEL and the next ADD come while they run."`
	RepeatAdd bool          `yaml:"repeatAdd" doc:"Each ADD that succeeded is sent again for the same sandbox."`
	RepeatDel bool          `yaml:"repeatDel" doc:"Each DEL that succeeded is sent again."`
	TwiceDel  bool          `yaml:"twiceDel" doc:"Each DEL is sent twice at the same time."`
	// NoNetns is what a DEL looks like whose namespace went with a crashed shim.
	NoNetns      bool `yaml:"noNetns" doc:"The namespace is removed before DEL is sent."`
	AddBeforeDel bool `yaml:"addBeforeDel" doc:"A new sandbox is added before the old one is deleted."`
	// NewestByClock is what kubelets do (podSandboxChanged); a machine's clock has to be set back for it to matter.
	NewestByClock bool `yaml:"newestByClock" doc:"A sandbox that is older by the wall clock than one that died within a minute is replaced: with set-clock back."`
}

// RuntimeTimeoutLeast bounds Runtime.Timeout.
const RuntimeTimeoutLeast = 10 * time.Second

// IPAM is the cluster-wide address plan. The keys are Contiv's own; zero prefixes and lengths mean "not given": Plan
// fills them in.
type IPAM struct {
	System System `yaml:"system" doc:"The address management system."`

	PodSubnetCIDR             CIDRPair `yaml:"podSubnetCIDR" doc:"All pods; 10.1.0.0/16 when absent. A pair makes a cluster of two families, the first of them primary."`
	PodSubnetOneNodePrefixLen int      `yaml:"podSubnetOneNodePrefixLen" min:"0" max:"128" doc:"Prefix length of one node's pods; 24 when absent."`

	// The next two are for clusters of two families; the other lengths are IPv4's there.
	PodSubnetOneNodePrefixLenIPv6     int `yaml:"podSubnetOneNodePrefixLenIPv6" min:"0" max:"128" doc:"The same of IPv6 in a cluster of two families; 120 when absent."`
	VPPHostSubnetOneNodePrefixLenIPv6 int `yaml:"vppHostSubnetOneNodePrefixLenIPv6" min:"0" max:"128" doc:"Prefix length of one node's IPv6 link in a cluster of two families; 120 when absent."`

	VPPHostSubnetCIDR             CIDRPair `yaml:"vppHostSubnetCIDR" doc:"All links between VPP and Linux; 172.30.0.0/16 when absent."`
	VPPHostSubnetOneNodePrefixLen int      `yaml:"vppHostSubnetOneNodePrefixLen" min:"0" max:"128" doc:"Prefix length of one node's link between VPP and Linux; 24 when absent."`

	NodeInterconnectCIDR CIDRPair     `yaml:"nodeInterconnectCIDR" doc:"The nodes' own addresses; 192.168.16.0/24 when absent."`
	NodeInterconnectDHCP bool         `yaml:"nodeInterconnectDHCP" doc:"Nodes lease their addresses from a DHCP server, which has nodeInterconnectCIDR."`
	VXLANCIDR            CIDRPair     `yaml:"vxlanCIDR" doc:"The nodes' tunnel addresses; 192.168.30.0/24 when absent."`
	PodIfIPCIDR          netip.Prefix `yaml:"podIfIPCIDR" doc:"Addresses of VPP's ends of pod interfaces, the same on each node; they borrow the gateway's when absent."`
	ServiceCIDR          CIDRPair     `yaml:"serviceCIDR" doc:"Cluster services; 10.96.0.0/12 when absent."`
	ContivCIDR           netip.Prefix `yaml:"contivCIDR" doc:"One prefix, at most /14, that pods, links, nodes and tunnels are cut from; excludes giving those."`
	DefaultGateway       netip.Addr   `yaml:"defaultGateway" doc:"Next hop of the nodes' default route; node addresses step over it. When absent there is none, but with natExternalTraffic the last address of nodeInterconnectCIDR."`

	UseExternalIPAM bool          `yaml:"useExternalIPAM" doc:"Pod addresses come from an external plugin and pod ranges from each Node object."`
	ReuseDelay      time.Duration `yaml:"reuseDelay" doc:"A released address stays unused at least this long; with cilium, a block that a node gave back."`

	// What a system's controllers and agents may ask of the API server; each process has a limit of its own.
	ClientQPS   int `yaml:"clientQPS" min:"0" max:"10000" doc:"Requests a second that each client of the system sends to the API server in the long run, as client-go's QPS; 0 is no limit."`
	ClientBurst int `yaml:"clientBurst" min:"0" max:"100000" doc:"Requests that it sends at once; twice clientQPS when absent, as client-go's 10 for 5."`

	Ranges    []netip.Prefix `yaml:"ranges" doc:"What nodes' blocks are carved from, inside podSubnetCIDR; all of it when absent; contiv has none."`
	NodeIPAM  NodeIPAMConfig `yaml:"nodeipam" doc:"What only nodeipam has."`
	Cilium    CiliumIPAM     `yaml:"cilium" doc:"What only cilium has."`
	Datastore DatastoreIPAM  `yaml:"datastore" doc:"What only datastore has."`
	// own are the sections of systems that have theirs in the table.
	own []section
}

// NodeIPAMConfig is the controller manager's. With all types but the first nodes are instances of Google's cloud, whose alias ranges are
// their blocks.
type NodeIPAMConfig struct {
	Allocator NodeAllocator `yaml:"allocator" enum:"RangeAllocator,CloudAllocator,IPAMFromCluster,IPAMFromCloud" doc:"The controller manager's --cidr-allocator-type: ranges of its own, what the cloud gave each instance, or ranges of its own that it tells the cloud."`
	// Routes of the cloud's network, which RangeAllocator needs in a cloud.
	ConfigureCloudRoutes bool         `yaml:"configureCloudRoutes" doc:"The network between the nodes is a cloud's, which carries packets to pod addresses by its routes only; a route controller beside RangeAllocator, the controller manager's --configure-cloud-routes, keeps one for each node's pod CIDRs, and nodes without get no pods."`
	ClusterName          string       `yaml:"clusterName" pattern:"word" doc:"The controller manager's --cluster-name, which tells the cluster's routes from others' in the network."`
	OtherRoutes          []OtherRoute `yaml:"otherRoutes" doc:"Routes in the network that are not the cluster's."`
}

// OtherRoute is a route of a cloud's network that somebody else keeps, such as another cluster.
type OtherRoute struct {
	Name        string       `yaml:"name" pattern:"word" doc:"The cloud's name of the route. Names of a cluster's routes begin with the cluster's and two dashes."`
	Destination netip.Prefix `yaml:"destination" doc:"What it leads out of the cluster."`
}

// NodeAllocator is a type of Kubernetes' node IPAM controller.
type NodeAllocator string

// InCloud reports whether the type takes its ranges from a cloud, or tells one.
func (a NodeAllocator) InCloud() bool { return a != "" && a != RangeAllocator }

// The types, by the controller manager's words.
const (
	RangeAllocator  NodeAllocator = "RangeAllocator"
	CloudAllocator  NodeAllocator = "CloudAllocator"
	IPAMFromCluster NodeAllocator = "IPAMFromCluster"
	IPAMFromCloud   NodeAllocator = "IPAMFromCloud"
)

// CiliumIPAM is Cilium's multi-pool mode with one pool, or its cluster-pool mode, which is upstream's default. A node's block has
// podSubnetOneNodePrefixLen. In its ENI mode a node has single addresses of the VPC's subnet, which is podSubnetCIDR; in its mode crd the same of
// config.ipam.ranges, from an address service without a cloud.
type CiliumIPAM struct {
	Mode        CiliumMode `yaml:"mode" enum:"multi-pool,cluster-pool,eni,crd" doc:"Whether nodes get blocks as their pods ask for them, one block each, single addresses of EC2, or single addresses of config.ipam.ranges."`
	PreAllocate int        `yaml:"preAllocate" min:"0" max:"4096" doc:"How many unused addresses a node has at least; with modes eni and crd, 0 means 8."`
	// Pools are further CiliumPodIPPools, of mode multi-pool.
	Pools         []CiliumPool `yaml:"pools" doc:"Named pools beside the default one, which has config.ipam.ranges; create-pods asks for one by pool, with mode multi-pool."`
	NamespacePool string       `yaml:"namespacePool" pattern:"word" doc:"The pool that the namespace's annotation ipam.cilium.io/ip-pool names, for pods that have none; default when absent."`
	// What follows is CiliumNode's, for modes eni and crd. With eni EC2 is as datastore has it: instanceType, attachDelay, requestsPerSecond.
	PrefixDelegation  bool          `yaml:"prefixDelegation" doc:"Interfaces get /28 prefixes, with mode eni, and single addresses where the subnet has no /28 left (aws-enable-prefix-delegation)."`
	MinAllocate       int           `yaml:"minAllocate" min:"0" max:"4096" doc:"How many addresses a node has at least, with modes eni and crd."`
	MaxAllocate       int           `yaml:"maxAllocate" min:"0" max:"4096" doc:"How many addresses a node has at most, with modes eni and crd; no limit when absent."`
	MaxAboveWatermark int           `yaml:"maxAboveWatermark" min:"0" max:"4096" doc:"How many more are asked for at once than needed, with modes eni and crd."`
	KeepExcess        bool          `yaml:"keepExcess" doc:"Addresses that are too many are never released, with modes eni and crd; upstream's aws-release-excess-ips is off by default."`
	ReleaseDelay      time.Duration `yaml:"releaseDelay" doc:"How long an address must be too many before it is released, with modes eni and crd."`
	Expiration        time.Duration `yaml:"expiration" doc:"How long an address waits for the pod whose plugin asked for it, with modes eni and crd."`
}

// DatastoreIPAM is AWS VPC CNI's ipamd: a node's blocks are /28 prefixes of the VPC's subnet, which is podSubnetCIDR, or, without
// prefix delegation, single addresses of it, as upstream has it by default. The targets carry the names of upstream's environment; 0
// is unset.
type DatastoreIPAM struct {
	// PrefixDelegation is ENABLE_PREFIX_DELEGATION.
	PrefixDelegation bool          `yaml:"prefixDelegation" doc:"Whether EC2 gives /28 prefixes (ENABLE_PREFIX_DELEGATION) or single addresses."`
	WarmENI          int           `yaml:"warmENITarget" min:"0" max:"1024" doc:"WARM_ENI_TARGET: interfaces' worth of addresses available, without prefix delegation."`
	InstanceType     string        `yaml:"instanceType" pattern:"word" doc:"EC2 instance type, which limits interfaces and addresses."`
	WarmIP           int           `yaml:"warmIPTarget" min:"0" max:"4096" doc:"WARM_IP_TARGET: addresses available."`
	MinimumIP        int           `yaml:"minimumIPTarget" min:"0" max:"4096" doc:"MINIMUM_IP_TARGET: addresses there in all."`
	WarmPrefix       int           `yaml:"warmPrefixTarget" min:"0" max:"256" doc:"WARM_PREFIX_TARGET: /28 prefixes available."`
	Cooling          time.Duration `yaml:"cooling" doc:"IP_COOLDOWN_PERIOD: a released address is not given out again this long; config.ipam.reuseDelay may make it longer."`
	AttachDelay      time.Duration `yaml:"attachDelay" doc:"How long EC2 takes to attach an interface."`
	MetadataLag      time.Duration `yaml:"metadataLag" doc:"How old the metadata service's answers are."`
	Requests         int           `yaml:"requestsPerSecond" min:"0" max:"1000" doc:"EC2 requests a second of all nodes together before it throttles; 0 is no limit."`
	// Subnets are also of Cilium's mode eni, but for their pods.
	Subnets  []VPCSubnet `yaml:"subnets" doc:"Subnets of availability zones, in which nodes are by turns; podSubnetCIDR as one subnet when absent."`
	TrunkENI bool        `yaml:"trunkENI" doc:"An interface of each instance becomes the trunk of branch interfaces, which are those of pods with security groups (ENABLE_POD_ENI): it has no addresses for other pods."`
}

// VPCSubnet is a zone's: of its instances and, without custom networking, of their pods.
type VPCSubnet struct {
	CIDR netip.Prefix `yaml:"cidr" required:"true" doc:"The instances' own subnet, and their pods' where pods is absent: inside podSubnetCIDR then."`
	// Pods is the subnet that the zone's ENIConfig names.
	Pods netip.Prefix `yaml:"pods" doc:"Custom networking (ENIConfig): the subnet of all interfaces but the first, which has no pods then; inside podSubnetCIDR."`
	// Taken are single addresses and prefixes.
	Taken []netip.Prefix `yaml:"taken" doc:"Addresses of the pods' subnet that others in the VPC have: load balancers, databases, other clusters."`
}

// CustomNetworking reports whether pods are in subnets of their own.
func (c DatastoreIPAM) CustomNetworking() bool {
	return slices.ContainsFunc(c.Subnets, func(s VPCSubnet) bool { return s.Pods.IsValid() })
}

// ForPods are the subnets that pods have addresses of.
func (c DatastoreIPAM) ForPods() []netip.Prefix {
	var list []netip.Prefix
	for _, s := range c.Subnets {
		if s.Pods.IsValid() {
			list = append(list, s.Pods)
		} else {
			list = append(list, s.CIDR)
		}
	}
	return list
}

// CiliumPool is a CiliumPodIPPool.
type CiliumPool struct {
	Name        string         `yaml:"name" required:"true" pattern:"word" doc:"Its name, which pods ask for."`
	IPv4        []netip.Prefix `yaml:"ipv4" doc:"Its ranges, inside podSubnetCIDR and apart from all others."`
	MaskSize    int            `yaml:"maskSizeIPv4" min:"0" max:"32" doc:"Prefix length of the blocks that nodes get of it, 32 for single addresses; podSubnetOneNodePrefixLen when absent."`
	PreAllocate int            `yaml:"preAllocate" min:"0" max:"4096" doc:"How many unused addresses of it a node has at least; without any it has none before a pod asks."`
}

// CiliumMode is how Cilium's operator gives blocks to nodes.
type CiliumMode string

// Cilium's modes.
const (
	MultiPool   CiliumMode = "multi-pool"
	ClusterPool CiliumMode = "cluster-pool"
	ENI         CiliumMode = "eni"
	CRD         CiliumMode = "crd"
)

// Wiring is how a node connects its pods, its host and other nodes through VPP.
type Wiring struct {
	Pod PodWiring `yaml:"pod" enum:"veth,tap,macvlan,none" doc:"How a pod is connected to VPP: an AF_PACKET interface or a tap of its own, or a macvlan on one AF_PACKET interface for all pods of a node; none: not at all, for questions about addresses alone."`
	// Memif is the agents' MemifFolder.
	Memif bool       `yaml:"memif" doc:"Agents connect pods by memif that ask for it: see create-pods."`
	Node  NodeWiring `yaml:"node" enum:"vxlan,l2" doc:"How nodes are connected: a VXLAN full mesh or a common L2 segment."`
	Host  HostWiring `yaml:"host" enum:"veth,tap,none" doc:"How the host's Linux side is connected to VPP."`
	MTU   uint32     `yaml:"mtu" min:"576" max:"9000" doc:"MTU of pod and host links."`
	// StealNIC is the agents' StealFirstNIC.
	StealNIC bool `yaml:"stealNIC" doc:"Nodes have one NIC, which VPP takes from the host's Linux (STN): the host keeps its address and default route, by VPP."`
	// MainVRF and PodVRF are 0 and 1, or both not 0: Contiv honours them only together.
	// The rings are of taps, 0 for VPP's own choice.
	RxRing uint32 `yaml:"rxRing" min:"0" max:"32768" doc:"Entries of a tap's receive ring, a power of two; VPP's own choice (256) when absent."`
	TxRing uint32 `yaml:"txRing" min:"0" max:"32768" doc:"Entries of a tap's transmit ring, a power of two; VPP's own choice (256) when absent."`
	// KeepOffload is what Contiv's TCPChecksumOffloadDisabled: false asks for.
	KeepOffload bool `yaml:"keepOffload" doc:"Veths keep their checksum offload, which AF_PACKET cannot pass on."`
	// NeighborAge is in whole minutes, up to 255: that is how the agent is told.
	NeighborAge time.Duration `yaml:"neighborAge" doc:"VPP's neighbors are probed when they are so old, in whole minutes; never when absent."`
	MainVRF     uint32        `yaml:"mainVRF" doc:"VPP table of the node's own interfaces."`
	PodVRF      uint32        `yaml:"podVRF" doc:"VPP table of the pods."`

	Services Serving `yaml:"services" enum:"kube-proxy,vpp" doc:"Who serves the cluster's services; kube-proxy is not modelled."`
	// Policies are Kubernetes' network policies.
	Policies Enforcing `yaml:"policies" enum:"none,vpp" doc:"Who enforces network policies: nobody, or VPP's ACLs, which need pods of veth or tap."`
	// The rest of NAT needs Services: vpp.
	NatExternal    bool   `yaml:"natExternalTraffic" doc:"What pods send outside has their node's address."`
	NatCleanup     bool   `yaml:"cleanupIdleNATSessions" doc:"Idle sessions of NAT end by the next two timeouts."`
	NatTCPTimeout  uint32 `yaml:"tcpNATSessionTimeout" max:"10080" doc:"Minutes after which an idle TCP session ends; 180 when absent."`
	NatTimeout     uint32 `yaml:"otherNATSessionTimeout" max:"10080" doc:"Minutes after which any other idle session ends; 5 when absent."`
	LocalEndpoints uint32 `yaml:"serviceLocalEndpointWeight" max:"255" doc:"Weight of a node's own endpoints against 1 of others'; 1 when absent."`
}

type (
	// PodWiring is how a pod is connected to VPP.
	PodWiring string
	// NodeWiring is how nodes are connected.
	NodeWiring string
	// HostWiring is how the host's Linux side is connected to VPP.
	HostWiring string
)

// The ways of wiring.
const (
	PodVETH    PodWiring = "veth"
	PodTAP     PodWiring = "tap"
	PodMACVLAN PodWiring = "macvlan"
	// PodNone is a cluster of address management alone: no VPP, no interfaces, and agents that know nothing of each other.
	PodNone   PodWiring  = "none"
	NodeVXLAN NodeWiring = "vxlan"
	NodeL2    NodeWiring = "l2"
	HostVETH  HostWiring = "veth"
	HostTAP   HostWiring = "tap"
	HostNone  HostWiring = "none"
)

// NodeSettings is what is special about one node.
type NodeSettings struct {
	Name    string       `yaml:"name" required:"true" pattern:"word" doc:"The node, which may join later."`
	IP      netip.Prefix `yaml:"ip" host:"true" doc:"Its interconnect address with the subnet's length, instead of the plan's or a leased one."`
	UseDHCP bool         `yaml:"useDHCP" doc:"It leases its address, whatever other nodes do."`
	Gateway netip.Addr   `yaml:"gateway" doc:"Next hop of its default route; no node gets it as its own address."`
	// Others is Contiv's otherVPPInterfaces.
	Others []NICSettings `yaml:"otherNICs" doc:"What is on its further interfaces."`
}

// NICSettings is one physical interface of a node beside the one to the interconnect.
type NICSettings struct {
	Name    string       `yaml:"name" required:"true" pattern:"interface" doc:"VPP's name of it; one that topology.otherNICs lacks is left out."`
	IP      netip.Prefix `yaml:"ip" host:"true" doc:"Its address with the subnet's length."`
	UseDHCP bool         `yaml:"useDHCP" doc:"It leases an address of config.dhcp.otherRange."`
}

// Settings are what is special about a node, which may be nothing.
func (c *Config) Settings(node string) NodeSettings {
	if i := slices.IndexFunc(c.Nodes, func(n NodeSettings) bool { return n.Name == node }); i >= 0 {
		return c.Nodes[i]
	}
	return NodeSettings{Name: node}
}

// OtherNICs are what a node's VPP has of the interfaces that are configured for it, in the configuration's order.
func (s *Scenario) OtherNICs(node string) (list []NICSettings) {
	for _, nic := range s.Config.Settings(node).Others {
		if slices.Contains(s.Topology.OtherNICs, nic.Name) {
			list = append(list, nic)
		}
	}
	return list
}

// Agent is the node agent's own settings.
type Agent struct {
	// NodeIDQuarantine keeps a removed node's ID, and with it every address derived from it, unused while packets and
	// routes of the old node may still be around. 10 minutes outlive ARP caches and connection tracking of idle UDP.
	NodeIDQuarantine time.Duration `yaml:"nodeIDQuarantine" doc:"A removed node's ID stays unused this long."`
	// AddPatience is the agent's own default: well below the minutes after which container runtimes give up.
	DriftRepair time.Duration `yaml:"driftRepair" doc:"How often the agent looks at all of VPP and Linux and puts right what another hand has changed; only when something calls for it when absent."`
	AddPatience time.Duration `yaml:"addPatience" doc:"An ADD that waits this long for its node, or is refused so long by VPP or Linux, fails and is undone."`
	// HookTime and HookFails are the pod hooks of whoever embeds the agent.
	HookTime  time.Duration `yaml:"hookTime" doc:"Hooks run after each pod's addition and before its removal, each this long; none when absent."`
	HookFails float64       `yaml:"hookFails" min:"0" max:"1" doc:"Probability that a hook fails, which is told and changes nothing."`
	// CallTimeout is how long the agent's driver waits for VPP before a reply counts as lost.
	CallTimeout time.Duration `yaml:"callTimeout" doc:"A VPP reply that takes longer counts as lost."`
}

// DefaultConfig is Contiv's default deployment: VXLAN between nodes, macvlans to pods, tap to the host, MTU 1450 (1500
// less the 50 bytes of a VXLAN header over IPv4).
func DefaultConfig() Config {
	var own []section
	for _, r := range systems {
		if r.Section != nil {
			own = append(own, r.section())
		}
	}
	return Config{
		IPAM: IPAM{
			own:      own,
			System:   Contiv,
			NodeIPAM: NodeIPAMConfig{Allocator: RangeAllocator, ClusterName: nodeipam.DefaultClusterName},
			Cilium:   CiliumIPAM{Mode: MultiPool, PreAllocate: 8, ReleaseDelay: 180 * time.Second, Expiration: 10 * time.Minute},
			// 30 s cooling is amazon-vpc-cni-k8s' addressCoolingPeriod; a prefix kept warm is its default.
			Datastore: DatastoreIPAM{InstanceType: "m5.large", PrefixDelegation: true, WarmENI: 1, WarmPrefix: 1, Cooling: 30 * time.Second, AttachDelay: 5 * time.Second, MetadataLag: 2 * time.Second},
		},
		DHCP:   DHCP{Lease: DHCPLeaseLeast},
		Wiring: Wiring{Pod: PodMACVLAN, Node: NodeVXLAN, Host: HostTAP, MTU: 1450, MainVRF: 0, PodVRF: 1, Services: ServedByKubeProxy, Policies: EnforcedByNobody},
		Agent:  Agent{NodeIDQuarantine: 10 * time.Minute, AddPatience: 30 * time.Second, CallTimeout: time.Second},
	}
}
