package agentconfig

import (
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Of is the configuration that all agents of a scenario share. NodeName is a placeholder: each agent gets its own.
func Of(c scenarios.Config) (agent.Config, error) {
	cfg := agent.Config{
		TCPChecksumOffloadDisabled: true, TCPstackDisabled: true,
		UseL2Interconnect: c.Wiring.Node == scenarios.NodeL2, UseTAPInterfaces: c.Wiring.Pod == scenarios.PodTAP,
		PodInterconnect: agent.PodInterconnect(c.Wiring.Pod),
		MTUSize:         c.Wiring.MTU, MainVRFID: c.Wiring.MainVRF, PodVRFID: c.Wiring.PodVRF,
		HostInterconnect: agent.HostInterconnect(c.Wiring.Host), NodeIDQuarantine: c.Agent.NodeIDQuarantine,
		AddPatience: c.Agent.AddPatience,
		NodeName:    "any",
		Services:    agent.Services(c.Wiring.Services), NatExternalTraffic: c.Wiring.NatExternal, CleanupIdleNATSessions: c.Wiring.NatCleanup,
		TCPNATSessionTimeout: c.Wiring.NatTCPTimeout, OtherNATSessionTimeout: c.Wiring.NatTimeout,
		ServiceLocalEndpointWeight: uint8(c.Wiring.LocalEndpoints),
	}
	probe := cfg
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
