package agent

// Setting is one key of an agent's configuration file, as users read about it.
type Setting struct {
	// Name is the key's path: MTUSize, IPAMConfig.podSubnetCIDR, NodeConfig.gateway.
	Name string
	// Values says what it takes, Default what an absent key means; empty where Doc says so.
	Values, Default string
	Doc             string
}

// Settings are all keys of the file in the order of documentation; a test compares them with Config.
func Settings() []Setting {
	return []Setting{
		{"PodInterconnect", "macvlan, veth, tap", "macvlan; tap with UseTAPInterfaces", "How pods connect to VPP. This key is ours."},
		{"HostInterconnect", "veth, tap, none", "veth; tap with UseTAPInterfaces", "How the host connects to VPP. This key is ours."},
		{"UseTAPInterfaces", boolean, "false", "Connects pods and host by tap, unless PodInterconnect or HostInterconnect is set; refused beside both."},
		{"TAPInterfaceVersion", "2", "2", "VPP has no other version."},
		{"TAPv2RxRingSize", ringSize, "VPP's own", "Receive ring of taps. Refused where neither pods nor the host have one."},
		{"TAPv2TxRingSize", ringSize, "VPP's own", "Transmit ring of taps. Refused where neither pods nor the host have one."},
		{"UseL2Interconnect", boolean, "false", "Connects nodes by one layer 2 segment. The default is a VXLAN full mesh."},
		{"MemifFolder", "absolute path", "none", "Folder of sockets of pods that ask for a memif, such as /run/vppdrill/memif; without it such pods are refused. This key is ours."},
		{"MTUSize", "576 to 9000", "the links' own", "MTU of pods' links and of the link between host and VPP."},
		{"TCPstackDisabled", "true", "", "Required. Pods are not wired to VPP's own TCP stack, so false is refused."},
		{"TCPChecksumOffloadDisabled", boolean, "true", "Turns checksum and segmentation offload of veths off. " +
			"AF_PACKET forwards checksums that the kernel left to hardware, and TCP stalls with them. false is refused where neither pods nor the host have a veth."},
		{"MainVRFID", "table number", "0", "VRF of nodes. Set both VRFs, or neither."},
		{"PodVRFID", "table number", "1", "VRF of pods. Set both VRFs, or neither."},
		{"ScanIPNeighbors", boolean, "false", "Ages IP neighbors out. Without it they do not age."},
		{"IPNeighborStaleThreshold", "minutes", "4", "Age at which a neighbor goes. Refused without ScanIPNeighbors."},
		{"IPNeighborScanInterval", "1", "1", "VPP scans by itself, so other intervals are refused."},
		{"ExternalByHost", boolean, "false", "Sends packets without another route to the host's Linux: services to its kube-proxy, the rest by its routes. This key is ours."},

		{"Services", "kube-proxy, vpp", "kube-proxy", "Serves the cluster's services. With vpp, VPP's NAT44 serves ClusterIP, NodePort, external and load balancer addresses " +
			"of IPv4, TCP and UDP. Services come from etcd (keys services/ and slices/), or from the API server with --cluster kubernetes. " +
			"IPv6 is refused: VPP 25.10's CNAT keeps sending a client to an endpoint that has gone, and NAT66 maps addresses, not ports. This key is ours."},
		{"NetworkPolicies", "none, vpp", "none", "Enforces the cluster's NetworkPolicies. With vpp, ACLs on pods' interfaces do, of IPv4 and IPv6, and each pod begins closed to all but its node until its labels " +
			"are known. Refused with PodInterconnect macvlan, whose pods share one interface, and on a Kubernetes cluster without Services: vpp. This key is ours."},
		{"NatExternalTraffic", boolean, "false", "Gives packets from pods to the outside the node's address. Needs Services: vpp, VXLAN, a NIC and a default gateway in the settings; refused without. " +
			"Ranges that come later without a gateway have the event NothingIsHidden."},
		{"CleanupIdleNATSessions", boolean, "false", "Ends idle NAT sessions. Works with Services: vpp."},
		{"TCPNATSessionTimeout", "minutes", "180", "Idle time of TCP sessions. Works with CleanupIdleNATSessions."},
		{"OtherNATSessionTimeout", "minutes", "5", "Idle time of other sessions. Works with CleanupIdleNATSessions."},
		{"ServiceLocalEndpointWeight", "1 to 255", "1", "Weight of a node's own endpoints. Works with Services: vpp; kube-proxy has no weights."},
		{"DisableNATVirtualReassembly", "false", "false", "VPP no longer has this switch; true is refused."},
		{"EnablePacketTrace", "false", "false", "true is refused: a trace ends by itself and VPP's API does not tell of it, so no agent can keep it up. Start traces with vppctl; labs have `lab trace`."},

		{"StealFirstNIC", boolean, "false", "VPP takes the NIC from the host's Linux: the first link that has an IPv4 address and is no bridge, tunnel or the like. The host keeps its address, by VPP."},
		{"StealInterface", "link", "none", "The same, with the link of this name. VPP needs an interface on that link and its stn plugin."},
		{"STNSocketFile", "", "", "Refused: the agent takes the NIC itself, and a daemon would be its second owner."},

		{"NodeName", "node", "the host's name", "The node's name in Kubernetes, without --node. Another name than that of --node is refused. This key is ours."},
		{"NodeIDQuarantine", duration10m, "10m", "How long a removed node's ID stays unused. This key is ours."},
		{"ClaimPatience", duration10m, "2m", "How long a node without an ID waits for other nodes' records in a store without any. This key is ours."},
		{"DriftRepair", duration10m, "0s", "How often the agent looks at all of VPP and Linux and repairs what another hand has changed; 0s: only when something calls for it. This key is ours."},
		{"AddPatience", duration10m, "30s", "How long an ADD may wait for the node, VPP or Linux before it fails. This key is ours."},
		{"GRPCSocket", "absolute path", "none", "Unix socket of [gRPC services](agent.md#grpc): RemoteCNI for Contiv's CNI shim, and lookups. It is the agent's user's and root's alone. This key is ours."},
		{"Hooks.postAdd", "absolute path", "none", "Program that runs when a pod is wired, before its ADD is answered: see [hooks](agent.md#hooks). This key is ours."},
		{"Hooks.preRemoval", "absolute path", "none", "Program that runs before anything of a pod is removed. This key is ours."},
		{"Hooks.timeout", duration1m, "10s", "How long a program may run before it is killed. Refused without a program. This key is ours."},

		{"IPAMConfig.podSubnetCIDR", cidr, "", "Range of pods, cut into a block for each node. A pair, 10.1.0.0/16,fd00:1::/48, makes a cluster of two families; " +
			"the first is primary. The other ranges and the gateway may be pairs then."},
		{"IPAMConfig.podSubnetOneNodePrefixLen", prefixLength, "", "Length of a node's block of pod addresses."},
		{"IPAMConfig.podSubnetOneNodePrefixLenIPv6", prefixLength, "", "The same for IPv6 in a cluster of two families; refused in others."},
		{"IPAMConfig.vppHostSubnetCIDR", cidr, "", "Range of the links between host and VPP."},
		{"IPAMConfig.vppHostSubnetOneNodePrefixLen", prefixLength, "", "Length of a node's block of it."},
		{"IPAMConfig.vppHostSubnetOneNodePrefixLenIPv6", prefixLength, "", "The same for IPv6 in a cluster of two families; refused in others."},
		{"IPAMConfig.nodeInterconnectCIDR", cidr, "", "Range of nodes' addresses."},
		{"IPAMConfig.nodeInterconnectDHCP", boolean, "false", "VPP leases each node's address. Excludes nodeInterconnectCIDR, defaultGateway and two families."},
		{"IPAMConfig.vxlanCIDR", cidr, "", "Range of the VXLAN mesh, an address for each node."},
		{"IPAMConfig.defaultGateway", address, "none", "Next hop of nodes' default routes. No node gets it as its own address."},
		{"IPAMConfig.podIfIPCIDR", cidr, "none", "Range of VPP's ends of pod links, the same on all nodes. IPv4 only."},
		{"IPAMConfig.contivCIDR", cidr, "none", "One range, of at least 18 host bits, that all others are cut from. IPv4 only."},
		{"IPAMConfig.serviceCIDR", cidr, "none", "Range of services, kept free of others. With Services: vpp the host routes it into VPP, which drops unknown services."},
		{"IPAMConfig.useExternalIPAM", boolean, "false", "Another plugin picks pods' addresses from the node's pod CIDR."},
		{"IPAMConfig.srv6", "", "", "Refused: SRv6 is not built."},

		{"NodeConfig.NodeName", "node", "", "The node that an entry is about. The file is the same on all nodes. With --node-configs the cluster's NodeConfig resources replace entries."},
		{"NodeConfig.mainVPPInterface.interfaceName", "name", "the first NIC", "VPP's name of the node's uplink."},
		{"NodeConfig.mainVPPInterface.ip", prefix, "from the node's ID", "Address of the uplink, with its length."},
		{"NodeConfig.mainVPPInterface.useDHCP", boolean, "false", "VPP leases the uplink's address. Excludes ip."},
		{"NodeConfig.otherVPPInterfaces.interfaceName", "name", "", "A further interface in the main VRF. One that VPP lacks is left out, with a warning and the event InterfaceMissing."},
		{"NodeConfig.otherVPPInterfaces.ip", prefix, "none", "Its address. Subnets that overlap are refused. The default route leaves by the interface whose subnet has the gateway."},
		{"NodeConfig.otherVPPInterfaces.useDHCP", boolean, "false", "VPP leases its address. Excludes ip."},
		{"NodeConfig.gateway", address, "the cluster's", "Next hop of this node's default route."},
		{"NodeConfig.natExternalTraffic", boolean, "false", "As NatExternalTraffic, for one node."},
		{"NodeConfig.stealInterface", "link", "the cluster's", "As StealInterface, for one node; it overrides StealInterface and StealFirstNIC."},
	}
}

// What values look like.
const (
	boolean      = "true, false"
	cidr         = "range"
	prefixLength = "prefix length"
	address      = "address"
	prefix       = "address/length"
	ringSize     = "power of two up to 32768"
	duration10m  = "time, such as 10m"
	duration1m   = "time up to 1m"
)
