package agentconfig

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// MemifFolder is where agents have the sockets of pods' memifs.
const MemifFolder = "/run/vppdrill/memif"

// Of is the configuration that all agents of a scenario share. NodeName is a placeholder: each agent gets its own.
func Of(c scenarios.Config) (agent.Config, error) {
	cfg := agent.Config{
		TCPChecksumOffloadDisabled: !c.Wiring.KeepOffload, TCPstackDisabled: true,
		TAPv2RxRingSize: uint16(c.Wiring.RxRing), TAPv2TxRingSize: uint16(c.Wiring.TxRing),
		ScanIPNeighbors: c.Wiring.NeighborAge > 0, IPNeighborStaleThreshold: uint8(c.Wiring.NeighborAge / time.Minute),
		EmitHooks:         c.Agent.HookTime > 0,
		UseL2Interconnect: c.Wiring.Node == scenarios.NodeL2, UseTAPInterfaces: c.Wiring.Pod == scenarios.PodTAP,
		PodInterconnect: agent.PodInterconnect(c.Wiring.Pod),
		MTUSize:         c.Wiring.MTU, MainVRFID: c.Wiring.MainVRF, PodVRFID: c.Wiring.PodVRF,
		StealFirstNIC:    c.Wiring.StealNIC,
		HostInterconnect: agent.HostInterconnect(c.Wiring.Host), NodeIDQuarantine: c.Agent.NodeIDQuarantine,
		AddPatience: c.Agent.AddPatience, DriftRepair: c.Agent.DriftRepair,
		NodeName: "any",
		Services: agent.Services(c.Wiring.Services), NetworkPolicies: agent.Policies(c.Wiring.Policies), NatExternalTraffic: c.Wiring.NatExternal, CleanupIdleNATSessions: c.Wiring.NatCleanup,
		TCPNATSessionTimeout: c.Wiring.NatTCPTimeout, OtherNATSessionTimeout: c.Wiring.NatTimeout,
		ServiceLocalEndpointWeight: uint8(c.Wiring.LocalEndpoints),
	}
	if c.Wiring.Memif {
		cfg.MemifFolder = MemifFolder
	}
	for _, n := range c.Nodes {
		one := agent.NodeConfig{NodeName: n.Name}
		if n.IP.IsValid() {
			one.MainVPPInterface.IP = n.IP.String()
		}
		if n.Gateway.IsValid() {
			one.Gateway = n.Gateway.String()
		}
		one.MainVPPInterface.UseDHCP = n.UseDHCP
		for _, o := range n.Others {
			nic := agent.InterfaceConfig{InterfaceName: o.Name, UseDHCP: o.UseDHCP}
			if o.IP.IsValid() {
				nic.IP = o.IP.String()
			}
			one.OtherVPPInterfaces = append(one.OtherVPPInterfaces, nic)
		}
		cfg.NodeConfig = append(cfg.NodeConfig, one)
	}
	if c.IPAM.PodIfIPCIDR.IsValid() { // an agent knows it from its file alone, which has the other ranges as well
		cfg.IPAMConfig = c.IPAM.Contiv()
		if cfg.IPAMConfig.NodeInterconnectDHCP {
			cfg.IPAMConfig.NodeInterconnectCIDR = ""
		}
	}
	probe := cfg
	if plan, err := c.IPAM.Plan(); err == nil && (plan.Second != nil || plan.PodSubnet.Addr().Is6()) { // what agents would refuse when they hear of it
		probe.IPAMConfig = c.IPAM.Contiv()
	}
	probe.ApplyDefaults()
	if err := probe.Validate(); err != nil {
		return cfg, fmt.Errorf("config: %w", err)
	}
	return cfg, nil
}

// Pools are the address ranges of a plan, resolved as an agent does it.
func Pools(c scenarios.IPAM) (agent.Pools, error) {
	cfg := agent.Config{IPAMConfig: c.Contiv()}
	pools, _, err := cfg.Pools()
	return pools, err
}

// IsFile says whether a file reads as an agent's own configuration with an address plan, which no scenario does.
func IsFile(yaml []byte) bool {
	_, plan, err := agent.ParseIPAMConfig("", yaml)
	return err == nil && len(plan) > 0
}
