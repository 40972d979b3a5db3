package agent

import (
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// idleFields are this configuration's names of what mode.Config.Idle names. KeepOffload is not among them:
// TCPChecksumOffloadDisabled is false in every Config that says nothing of it, so that only a file can mean it.
var idleFields = map[string]string{
	"RxRing": "TAPv2RxRingSize", "TxRing": "TAPv2TxRingSize", "StaleMinutes": "IPNeighborStaleThreshold", "External": "NatExternalTraffic",
}

// checkIdle refuses what is set and changes nothing.
func (cfg *Config) checkIdle(refuse func(string, ...any)) {
	c := cfg.Mode()
	if !cfg.ScanIPNeighbors && c.StaleMinutes == DefaultIPNeighborStaleThreshold {
		c.StaleMinutes = 0 // nobody has set it
	}
	c.NAT.External = cfg.NatExternalTraffic
	for _, i := range c.Idle(mode.Around{NIC: true, Gateway: cfg.mayHaveGateway(nil)}) {
		if field, ok := idleFields[i.Field]; ok {
			refuse("%s %s; remove it", field, i.Why)
		}
	}
	for k := range cfg.NodeConfig {
		n := &cfg.NodeConfig[k]
		if !n.NatExternalTraffic {
			continue
		}
		c.NAT.External = true
		for _, i := range c.Idle(mode.Around{NIC: true, Gateway: cfg.mayHaveGateway(n)}) {
			if i.Field == "External" {
				refuse("NodeConfig %s: natExternalTraffic %s; remove it", n.NodeName, i.Why)
			}
		}
	}
}

// mayHaveGateway reports whether a node, or of nil any node, may be given a default gateway: where ranges come from
// elsewhere nobody knows before they come.
func (cfg *Config) mayHaveGateway(n *NodeConfig) bool {
	c := &cfg.IPAMConfig
	if *c == (contiv.IPAMConfig{}) || c.DefaultGateway != "" {
		return true
	}
	if n != nil {
		return n.Gateway != ""
	}
	for i := range cfg.NodeConfig {
		if cfg.mayHaveGateway(&cfg.NodeConfig[i]) {
			return true
		}
	}
	return false
}

// checkFile refuses what only a file can say without effect. given is what it says, without defaults.
func (cfg *Config) checkFile(given *Config, refuse func(string, ...any)) {
	for _, i := range cfg.Mode().Idle(mode.Around{NIC: true, Gateway: true}) {
		if i.Field == "KeepOffload" {
			refuse("TCPChecksumOffloadDisabled: checksum offload %s; remove it", i.Why)
		}
	}
	if given.UseTAPInterfaces && given.PodInterconnect != "" && given.HostInterconnect != "" {
		refuse("UseTAPInterfaces decides nothing: PodInterconnect and HostInterconnect are given; remove it")
	}
}
