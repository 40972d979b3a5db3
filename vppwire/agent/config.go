package agent

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Names that other programs know this agent's configuration by; the same as contiv/vpp's.
const (
	// ConfigFlagName is the name of the flag that gives the configuration file's path.
	ConfigFlagName = "contiv"
	// ContivConfigPath is where the file is when nobody says otherwise.
	ContivConfigPath = "/etc/agent/contiv.yaml"
	// ContivConfigPathUsage explains the flag.
	ContivConfigPathUsage = "Path to the Agent's Contiv plugin configuration yaml file."
	// MgmtIPSeparator separates the management addresses of a NodeInfo.
	MgmtIPSeparator = ","
)

// Defaults that ApplyDefaults and New put where a field is zero; from contiv/vpp 2.0 unless said otherwise.
const (
	DefaultTAPInterfaceVersion        = 2
	DefaultTCPNATSessionTimeout       = 180 // minutes
	DefaultOtherNATSessionTimeout     = 5   // minutes
	DefaultIPNeighborScanInterval     = 1   // minutes
	DefaultIPNeighborStaleThreshold   = 4   // minutes
	DefaultServiceLocalEndpointWeight = 1
	DefaultSTNSocketFile              = "/var/run/contiv/stn.sock"
	DefaultPodVRFID                   = 1
	// DefaultNodeIDQuarantine outlives neighbor caches and connection tracking of idle UDP flows.
	DefaultNodeIDQuarantine = 10 * time.Minute
	// DefaultAddPatience is well below the time after which container runtimes give a CNI request up (minutes), so that
	// people read why an ADD failed instead of that it took long.
	DefaultAddPatience = 30 * time.Second
	// DefaultClaimPatience is enough for machines that boot after a common power failure. A cluster that starts for the
	// first time with a node that has no agent waits as long, once.
	DefaultClaimPatience = 2 * time.Minute
	// DefaultHookTimeout leaves most of the time that a container runtime gives a CNI request (minutes) to the request itself.
	DefaultHookTimeout = 10 * time.Second
)

// HostInterconnect says how VPP is connected with the host's Linux. The zero value follows UseTAPInterfaces, as in
// Contiv.
type HostInterconnect string

// Host interconnects.
const (
	HostInterconnectVeth HostInterconnect = "veth"
	HostInterconnectTAP  HostInterconnect = "tap"
	HostInterconnectNone HostInterconnect = "none"
)

// PodInterconnect says how pods are connected with VPP. The zero value follows UseTAPInterfaces: a tap where that is
// true, else a macvlan, as VPP hangs of 16 AF_PACKET interfaces that are busy at once.
type PodInterconnect string

// Pod interconnects.
const (
	PodInterconnectVeth    PodInterconnect = "veth"
	PodInterconnectTAP     PodInterconnect = "tap"
	PodInterconnectMacvlan PodInterconnect = "macvlan"
	// PodInterconnectNone wires nothing: an agent that gives addresses alone, and never asks for VPP or Linux. It is for simulations of
	// address management; no file says it.
	PodInterconnectNone PodInterconnect = "none"
)

// Services says who serves the cluster's services. The zero value leaves them to kube-proxy.
type Services string

// Who serves them.
const (
	ServicesKubeProxy Services = "kube-proxy"
	ServicesVPP       Services = "vpp"
)

// Policies says who enforces the cluster's network policies. The zero value enforces none.
type Policies string

// Who enforces them.
const (
	PoliciesNone Policies = "none"
	PoliciesVPP  Policies = "vpp"
)

// Config is one node agent's configuration. The fields up to NodeConfig are contiv/vpp 2.0's under their own names;
// what this product cannot do is refused by Validate, never ignored. The rest is ours.
type Config struct {
	// TCPChecksumOffloadDisabled turns TX checksum and segmentation offload of pods' veths off. ParseConfig assumes true
	// where the file does not say: AF_PACKET forwards checksums that the kernel left to hardware, and TCP stalls.
	TCPChecksumOffloadDisabled bool
	// TCPstackDisabled must be true: there is no wiring of pods to VPP's own TCP stack.
	TCPstackDisabled bool
	// UseL2Interconnect connects nodes by a common layer 2 segment instead of a VXLAN full mesh.
	UseL2Interconnect bool
	// UseTAPInterfaces wires pods and the host by tap, where PodInterconnect and HostInterconnect do not say otherwise.
	UseTAPInterfaces bool
	// TAPInterfaceVersion is 2; VPP has had no other since 20.05.
	TAPInterfaceVersion uint8
	// TAPv2RxRingSize and TAPv2TxRingSize are 0 (VPP's default) or powers of two up to 32768.
	TAPv2RxRingSize, TAPv2TxRingSize uint16
	// MTUSize of pods' and the host interconnect's links in bytes: 0 (leave the default) or 576 to 9000.
	MTUSize uint32
	// StealFirstNIC and StealInterface are for nodes with one NIC, which VPP takes from the host's Linux (STN): the first
	// link that has an IPv4 address, or the one of that name. VPP has an interface on it, as its main one. The host keeps
	// its address at the interconnect. STNSocketFile is refused: the agent takes the NIC itself.
	StealFirstNIC  bool
	StealInterface string
	STNSocketFile  string
	// MemifFolder is the absolute path of the folder that has a folder for each pod that asks for a memif; empty: no pod
	// may.
	MemifFolder string
	// NatExternalTraffic has the sources of what pods send to outside translated to the node's address, where nodes are
	// joined by VXLAN and VPP has a NIC and a default gateway. This and the rest of NAT are refused unless VPP serves
	// services.
	NatExternalTraffic bool
	// CleanupIdleNATSessions ends sessions that were idle for TCPNATSessionTimeout or OtherNATSessionTimeout; else only
	// want of room does.
	CleanupIdleNATSessions bool
	// TCPNATSessionTimeout and OtherNATSessionTimeout are in minutes.
	TCPNATSessionTimeout   uint32
	OtherNATSessionTimeout uint32
	// ScanIPNeighbors lets VPP age out neighbors after IPNeighborStaleThreshold minutes. IPNeighborScanInterval is 1:
	// VPP checks by itself and has no such setting any more.
	ScanIPNeighbors          bool
	IPNeighborScanInterval   uint8
	IPNeighborStaleThreshold uint8
	// MainVRFID and PodVRFID are both not 0, or 0 and 1.
	MainVRFID, PodVRFID uint32
	// ServiceLocalEndpointWeight is the weight of a node's own endpoints against 1 of others': they get so many times as
	// many sessions.
	ServiceLocalEndpointWeight uint8
	// DisableNATVirtualReassembly and EnablePacketTrace are refused when true.
	DisableNATVirtualReassembly bool
	EnablePacketTrace           bool
	// IPAMConfig holds the address ranges. The zero value waits for PoolsChanged; otherwise the agent starts with it as
	// generation 0.
	IPAMConfig contiv.IPAMConfig
	// NodeConfig overrides by node name.
	NodeConfig []NodeConfig

	// NodeName is this node's Kubernetes name; required by New.
	NodeName string
	// PodInterconnect overrides how pods are connected, HostInterconnect how the host is.
	PodInterconnect  PodInterconnect
	HostInterconnect HostInterconnect
	// Services says who serves the cluster's services: kube-proxy, or VPP.
	Services Services
	// NetworkPolicies says who enforces the cluster's network policies: nobody, or VPP by ACLs on pods' interfaces.
	NetworkPolicies Policies
	// ExternalByHost sends what no other route leads to, services and the outside, from VPP to the host's Linux: to its
	// kube-proxy and its routes. A gateway, where there is one, goes before it. It needs a host interconnect.
	ExternalByHost bool
	// NodeIDQuarantine keeps a removed node's ID, and every address derived from it, unused for this long.
	NodeIDQuarantine time.Duration
	// ClaimPatience is how long a node without an ID waits for the records of other nodes that exist, where the store has
	// no records at all. It may be new, or have lost its data; then it is filled again by those who hold IDs, and must not
	// give one of them away before. Negative: never wait, not even where data is known to be lost.
	ClaimPatience time.Duration
	// AddPatience is how long an ADD may wait for the node to be ready, and be refused by VPP or Linux, before it fails
	// and is undone.
	AddPatience time.Duration
	// DriftRepair is how often the agent looks at all of VPP and Linux and puts right what another hand has changed; 0:
	// only when something calls for it.
	DriftRepair time.Duration
	// Hooks are programs that run around each pod's life. They are the driver's affair (vppwire/host/hookprogram).
	Hooks HookPrograms
	// GRPCSocket is the absolute path of the unix socket on which the driver serves contiv/vpp's RemoteCNI and lookups; empty: none.
	GRPCSocket string
	// EmitHooks makes the agent emit Hook effects and wait for Hooked. A driver that has hooks sets it; no file does.
	EmitHooks bool `yaml:"-"`
}

// HookPrograms are programs that the agent's driver runs for each pod; the zero value is none.
type HookPrograms struct {
	// PostAdd runs behind a pod's addition and before its ADD is answered, PreRemoval before anything of the pod is removed;
	// absolute paths, empty: none.
	PostAdd, PreRemoval string
	// Timeout is how long one may run before it is killed, at most hookTimeoutMax; with a program 0 is DefaultHookTimeout.
	Timeout time.Duration
}

// Any reports whether there is a program.
func (h HookPrograms) Any() bool { return h.PostAdd != "" || h.PreRemoval != "" }

// NodeConfig is what is special about one node.
type NodeConfig struct {
	NodeName string
	NodeConfigSpec
}

// NodeConfigSpec has the fields of contiv's NodeConfig resource.
type NodeConfigSpec struct {
	MainVPPInterface InterfaceConfig
	// OtherVPPInterfaces are wired into the main VRF, those that VPP has. An agent says which are missing.
	OtherVPPInterfaces []InterfaceConfig
	// StealInterface is the node's own, and overrides the cluster's.
	StealInterface string
	// Gateway is the next hop of the node's default route; it overrides the ranges' default gateway. No node gets it as
	// its own address, so the section must be the same on all nodes.
	Gateway string
	// NatExternalTraffic is OR-ed with the cluster's.
	NatExternalTraffic bool
}

// InterfaceConfig is one physical interface of VPP.
type InterfaceConfig struct {
	// InterfaceName is VPP's name; empty leaves the choice to the driver.
	InterfaceName string
	// IP is the address with its subnet's length; empty derives it from the node ID. It beats UseDHCP.
	IP string
	// UseDHCP lets VPP lease the address by DHCP.
	UseDHCP bool
}

// ApplyDefaults fills in what is zero and has another default.
func (cfg *Config) ApplyDefaults() {
	setDefault(&cfg.TAPInterfaceVersion, DefaultTAPInterfaceVersion)
	setDefault(&cfg.TCPNATSessionTimeout, DefaultTCPNATSessionTimeout)
	setDefault(&cfg.OtherNATSessionTimeout, DefaultOtherNATSessionTimeout)
	setDefault(&cfg.IPNeighborScanInterval, DefaultIPNeighborScanInterval)
	setDefault(&cfg.IPNeighborStaleThreshold, DefaultIPNeighborStaleThreshold)
	setDefault(&cfg.ServiceLocalEndpointWeight, DefaultServiceLocalEndpointWeight)
	setDefault(&cfg.STNSocketFile, DefaultSTNSocketFile)
	setDefault(&cfg.NodeIDQuarantine, DefaultNodeIDQuarantine)
	setDefault(&cfg.AddPatience, DefaultAddPatience)
	setDefault(&cfg.ClaimPatience, DefaultClaimPatience)
	if cfg.Hooks.Any() {
		setDefault(&cfg.Hooks.Timeout, DefaultHookTimeout)
	}
	if cfg.PodInterconnect == "" {
		cfg.PodInterconnect = PodInterconnectMacvlan
		if cfg.UseTAPInterfaces {
			cfg.PodInterconnect = PodInterconnectTAP
		}
	}
	if cfg.HostInterconnect == "" {
		cfg.HostInterconnect = HostInterconnectVeth
		if cfg.UseTAPInterfaces {
			cfg.HostInterconnect = HostInterconnectTAP
		}
	}
	if cfg.Services == "" {
		cfg.Services = ServicesKubeProxy
	}
	setDefault(&cfg.NetworkPolicies, PoliciesNone)
	if cfg.MainVRFID == 0 && cfg.PodVRFID == 0 {
		cfg.PodVRFID = DefaultPodVRFID
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ApplyIPAMConfig replaces contivCIDR by the ranges that are cut from it, and leaves an empty section empty. Unlike
// upstream it keeps the service range and reports what does not parse.
func (cfg *Config) ApplyIPAMConfig() error {
	if cfg.IPAMConfig == (contiv.IPAMConfig{}) {
		return nil
	}
	plan, err := cfg.IPAMConfig.Resolve()
	if err != nil {
		return fmt.Errorf("ipamConfig: %w", err)
	}
	if cfg.IPAMConfig.ContivCIDR == "" {
		return nil
	}
	c := &cfg.IPAMConfig
	c.ContivCIDR = ""
	c.PodSubnetCIDR, c.PodSubnetOneNodePrefixLen = plan.PodSubnet.String(), plan.PodSubnetOneNodePrefixLen
	c.VPPHostSubnetCIDR, c.VPPHostSubnetOneNodePrefixLen = plan.VPPHostSubnet.String(), plan.VPPHostSubnetOneNodeLen
	c.VXLANCIDR, c.PodIfIPCIDR = plan.VXLAN.String(), plan.PodIf.String()
	c.NodeInterconnectCIDR = ""
	if plan.NodeInterconnect.IsValid() {
		c.NodeInterconnectCIDR = plan.NodeInterconnect.String()
	}
	return nil
}

// GetNodeConfig returns what is special about a node, nil for nothing. It points into cfg.
func (cfg *Config) GetNodeConfig(nodeName string) *NodeConfig {
	for i := range cfg.NodeConfig {
		if cfg.NodeConfig[i].NodeName == nodeName {
			return &cfg.NodeConfig[i]
		}
	}
	return nil
}

// Mode is the wiring that the configuration chooses. Defaults must have been applied.
func (cfg *Config) Mode() mode.Config {
	m := mode.Config{
		Node: mode.NodeVXLAN, MTU: cfg.MTUSize,
		MainTable: cfg.MainVRFID, PodTable: cfg.PodVRFID,
		RxRing: cfg.TAPv2RxRingSize, TxRing: cfg.TAPv2TxRingSize,
		OutsideByHost: cfg.ExternalByHost, MemifFolder: cfg.MemifFolder,
		KeepOffload:   !cfg.TCPChecksumOffloadDisabled,
		ScanNeighbors: cfg.ScanIPNeighbors, StaleMinutes: cfg.IPNeighborStaleThreshold,
	}
	if cfg.UseL2Interconnect {
		m.Node = mode.NodeL2
	}
	if cfg.Services == ServicesVPP {
		m.NAT = cfg.nat()
	}
	// Validate knows both.
	m.Pod, _ = mode.PodModeOf(string(cfg.PodInterconnect))
	m.Host, _ = mode.HostModeOf(string(cfg.HostInterconnect))
	return m
}

// Pools are the ranges of the ipamConfig section as generation 0; false where the section is empty.
func (cfg *Config) Pools() (Pools, bool, error) {
	if cfg.IPAMConfig == (contiv.IPAMConfig{}) {
		return Pools{}, false, nil
	}
	plan, err := cfg.IPAMConfig.Resolve()
	if err != nil {
		return Pools{}, false, fmt.Errorf("ipamConfig: %w", err)
	}
	return poolsOf(plan), true, nil
}

// nodeGateways are the gateways of all nodes that have one of their own.
func (cfg *Config) nodeGateways() []netip.Addr {
	var list []netip.Addr
	for i := range cfg.NodeConfig {
		if gw, err := parseAddr(cfg.NodeConfig[i].Gateway); err == nil {
			list = append(list, gw)
		}
	}
	return list
}

// ownSpec is what is special about the agent's own node.
func (cfg *Config) ownSpec() (s ownSpec) {
	s.steal = stealing{link: cfg.StealInterface, first: cfg.StealFirstNIC && cfg.StealInterface == ""}
	n := cfg.GetNodeConfig(cfg.NodeName)
	if n != nil && n.StealInterface != "" {
		s.steal = stealing{link: n.StealInterface}
	}
	if n == nil {
		s.dhcp = cfg.IPAMConfig.NodeInterconnectDHCP
		return s
	}
	s.nic = n.MainVPPInterface.InterfaceName
	if n.MainVPPInterface.IP != "" {
		s.address, _ = netip.ParsePrefix(n.MainVPPInterface.IP) // Validate has parsed it
	}
	if n.Gateway != "" {
		s.gateway, _ = netip.ParseAddr(n.Gateway)
	}
	for _, o := range n.OtherVPPInterfaces {
		nic := mode.OtherNIC{Name: o.InterfaceName, DHCP: o.UseDHCP}
		if o.IP != "" {
			nic.Addr, _ = netip.ParsePrefix(o.IP)
		}
		s.others = append(s.others, nic)
	}
	s.dhcp = !s.address.IsValid() && (n.MainVPPInterface.UseDHCP || cfg.IPAMConfig.NodeInterconnectDHCP)
	return s
}

type ownSpec struct {
	nic     string
	address netip.Prefix
	gateway netip.Addr
	// dhcp: the address is leased.
	dhcp bool
	// others are the node's further interfaces, whether VPP has them or not.
	others []mode.OtherNIC
	// steal is what VPP takes from the host.
	steal stealing
}
