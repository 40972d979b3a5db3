package agent

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// MTUs that Validate accepts besides 0: every IPv4 link carries 576 bytes (RFC 791), and 9000 is the usual jumbo frame.
const (
	mtuMin = 576
	mtuMax = 9000
	// ringMax is the largest tap ring that VPP creates.
	ringMax = 32768
	// hookTimeoutMax: a pod may have to wait for two hooks, and kubelets give a request up after two minutes.
	hookTimeoutMax = time.Minute
	// socketMax is Linux's sun_path without its zero byte, and without what a socket's name has before others may open it.
	socketMax = 100
)

// Validate refuses what cannot work, what this product does not do and what changes nothing beside the other settings,
// all findings in one error, each with its field. Defaults must have been applied.
func (cfg *Config) Validate() error { return errors.Join(cfg.findings()...) }

func (cfg *Config) findings() (found []error) {
	refuse := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	cfg.checkUnsupported(refuse)
	cfg.checkServices(refuse)
	cfg.checkPolicies(refuse)
	cfg.checkLinks(refuse)
	cfg.checkIdle(refuse)
	cfg.checkSteal(refuse)
	cfg.checkHooks(refuse)
	if p := cfg.GRPCSocket; p != "" && (!path.IsAbs(p) || path.Clean(p) != p || len(p) > socketMax || strings.ContainsRune(p, 0)) {
		refuse("GRPCSocket %q: want an absolute path of at most %d bytes", p, socketMax)
	}
	switch {
	case cfg.MainVRFID == cfg.PodVRFID:
		refuse("MainVRFID and PodVRFID are both %d: pods need a table of their own", cfg.PodVRFID)
	case cfg.MainVRFID == 0 && cfg.PodVRFID != DefaultPodVRFID || cfg.PodVRFID == 0:
		refuse("MainVRFID %d and PodVRFID %d: give both, neither of them 0, or none", cfg.MainVRFID, cfg.PodVRFID)
	}
	if cfg.IPNeighborScanInterval > 1 {
		refuse("IPNeighborScanInterval %d: VPP has no scan interval any more, leave it at 0 or 1", cfg.IPNeighborScanInterval)
	}
	if cfg.NodeIDQuarantine < 0 {
		refuse("NodeIDQuarantine %s is negative", cfg.NodeIDQuarantine)
	}
	if cfg.DriftRepair < 0 {
		refuse("DriftRepair %s is negative", cfg.DriftRepair)
	}
	if cfg.AddPatience < 0 {
		refuse("AddPatience %s is negative", cfg.AddPatience)
	}
	if cfg.IPAMConfig != (contiv.IPAMConfig{}) {
		if cfg.IPAMConfig.SRv6 != (contiv.SRv6Config{}) {
			refuse("ipamConfig.srv6: segment routing is not wired, remove it")
		}
		cfg.checkDHCP(refuse)
		if plan, err := cfg.IPAMConfig.Resolve(); err != nil {
			refuse("ipamConfig: %w", err)
		} else if err := errors.Join(cfg.wirable(plan), cfg.sameFamily(plan)); err != nil {
			refuse("ipamConfig: %w", err)
		} else {
			for i := range cfg.NodeConfig {
				cfg.NodeConfig[i].checkOverlaps(plan, refuse)
			}
		}
	}
	seen := map[string]bool{}
	for i := range cfg.NodeConfig {
		n := &cfg.NodeConfig[i]
		if n.NodeName == "" {
			refuse("NodeConfig[%d]: NodeName is empty", i)
		}
		if seen[n.NodeName] {
			refuse("NodeConfig %s: the node is named twice", n.NodeName)
		}
		seen[n.NodeName] = true
		n.check(refuse)
	}
	return found
}

// checkDHCP refuses what would not count beside leased addresses.
func (cfg *Config) checkDHCP(refuse func(string, ...any)) {
	c := &cfg.IPAMConfig
	switch {
	case !c.NodeInterconnectDHCP:
	case c.NodeInterconnectCIDR != "":
		refuse("ipamConfig.nodeInterconnectCIDR %s: with nodeInterconnectDHCP the DHCP server decides, give one of them", c.NodeInterconnectCIDR)
	case c.DefaultGateway != "":
		refuse("ipamConfig.defaultGateway %s: with nodeInterconnectDHCP the DHCP server names the gateway; give a node's own in NodeConfig where it shall be another", c.DefaultGateway)
	}
}

// wirable says why ranges that make sense cannot be wired as configured.
func (cfg *Config) wirable(p contiv.Plan) error {
	if p.PodSubnet.Addr().Is4() && p.Second == nil {
		return nil
	}
	switch {
	case p.Second != nil && cfg.IPAMConfig.PodIfIPCIDR != "":
		return fmt.Errorf("podSubnetCIDR %s: podIfIPCIDR %s has one address family, remove it", p.PodSubnet, cfg.IPAMConfig.PodIfIPCIDR)
	case cfg.Services == ServicesVPP:
		return fmt.Errorf("podSubnetCIDR %s: VPP serves services of IPv4 only, set Services to kube-proxy", p.PodSubnet)
	case !p.NodeInterconnect.IsValid():
		return fmt.Errorf("podSubnetCIDR %s: nodes lease addresses of IPv4 only, give nodeInterconnectCIDR instead of nodeInterconnectDHCP", p.PodSubnet)
	}
	for i := range cfg.NodeConfig {
		n := &cfg.NodeConfig[i]
		if len(n.OtherVPPInterfaces) > 0 {
			return fmt.Errorf("podSubnetCIDR %s: otherVPPInterfaces of %s are wired with IPv4 only, remove them", p.PodSubnet, n.NodeName)
		}
		if n.MainVPPInterface.UseDHCP {
			return fmt.Errorf("podSubnetCIDR %s: nodes lease addresses of IPv4 only, remove useDHCP of %s", p.PodSubnet, n.NodeName)
		}
	}
	return nil
}

// sameFamily refuses addresses of single nodes that are not of the cluster's family.
func (cfg *Config) sameFamily(p contiv.Plan) error {
	is6 := p.PodSubnet.Addr().Is6()
	for i := range cfg.NodeConfig {
		n := &cfg.NodeConfig[i]
		if ip := n.MainVPPInterface.subnet(); ip.IsValid() && ip.Addr().Is6() != is6 {
			return fmt.Errorf("NodeConfig %s: mainVPPInterface.ip %s and podSubnetCIDR %s: a cluster has one address family", n.NodeName, n.MainVPPInterface.IP, p.PodSubnet)
		}
		if gw, err := parseAddr(n.Gateway); err == nil && gw.Is6() != is6 {
			return fmt.Errorf("NodeConfig %s: gateway %s and podSubnetCIDR %s: a cluster has one address family", n.NodeName, gw, p.PodSubnet)
		}
	}
	return nil
}

// checkUnsupported names what exists upstream and not here.
func (cfg *Config) checkUnsupported(refuse func(string, ...any)) {
	if !cfg.TCPstackDisabled {
		refuse("TCPstackDisabled: pods cannot be wired to VPP's TCP stack, set it to true")
	}
	if cfg.TAPInterfaceVersion != DefaultTAPInterfaceVersion {
		refuse("TAPInterfaceVersion %d: VPP has only version 2, set it to 2 or remove it", cfg.TAPInterfaceVersion)
	}
	if cfg.STNSocketFile != "" && cfg.STNSocketFile != DefaultSTNSocketFile {
		refuse("STNSocketFile %q: the agent takes the NIC itself, and a daemon would be its second owner; remove it", cfg.STNSocketFile)
	}
	if cfg.DisableNATVirtualReassembly {
		refuse("DisableNATVirtualReassembly: VPP has no such switch any more, set it to false")
	}
	if cfg.EnablePacketTrace {
		refuse("EnablePacketTrace: a trace ends by itself and VPP's API does not tell of it, so no agent can keep it up; set it to false, start traces with vppctl")
	}
}

func (cfg *Config) checkLinks(refuse func(string, ...any)) {
	for _, ring := range [...]struct {
		field string
		size  uint16
	}{{"TAPv2RxRingSize", cfg.TAPv2RxRingSize}, {"TAPv2TxRingSize", cfg.TAPv2TxRingSize}} {
		if ring.size&(ring.size-1) != 0 || ring.size > ringMax {
			refuse("%s %d: a ring is a power of two up to %d, or 0", ring.field, ring.size, ringMax)
		}
	}
	if f := cfg.MemifFolder; f != "" && (!path.IsAbs(f) || path.Clean(f) != f || f == "/" || strings.ContainsAny(f, " \t\n\r,*?[\\") || len(f) > memifFolderMax) {
		refuse("MemifFolder %q: want an absolute path of at most %d bytes, without blanks and wildcards", f, memifFolderMax)
	}
	if m := cfg.MTUSize; m != 0 && (m < mtuMin || m > mtuMax) {
		refuse("MTUSize %d: an MTU is 0 (leave the default) or %d to %d", m, mtuMin, mtuMax)
	}
	if _, ok := mode.PodModeOf(string(cfg.PodInterconnect)); !ok {
		refuse("PodInterconnect %q: want veth, tap or macvlan", cfg.PodInterconnect)
	}
	if cfg.ExternalByHost && cfg.HostInterconnect == HostInterconnectNone {
		refuse("ExternalByHost: there is no way to the host, set HostInterconnect to veth or tap")
	}
	if _, ok := mode.HostModeOf(string(cfg.HostInterconnect)); !ok {
		refuse("HostInterconnect %q: want veth, tap or none", cfg.HostInterconnect)
	}
}

func (n *NodeConfig) check(refuse func(string, ...any)) {
	n.checkNICs(refuse)
	if n.Gateway != "" {
		if _, err := parseAddr(n.Gateway); err != nil {
			refuse("NodeConfig %s: gateway %q: want an address, as 192.168.16.100", n.NodeName, n.Gateway)
		}
	}
}

// checkHooks looks at how programs are named, not at whether they are there: a configuration is the same on all nodes.
func (cfg *Config) checkHooks(refuse func(string, ...any)) {
	for _, h := range [...]struct{ key, program string }{{"postAdd", cfg.Hooks.PostAdd}, {"preRemoval", cfg.Hooks.PreRemoval}} {
		if h.program != "" && (!path.IsAbs(h.program) || path.Clean(h.program) != h.program) {
			refuse("Hooks %s %q: want an absolute path of a program", h.key, h.program)
		}
	}
	switch t := cfg.Hooks.Timeout; {
	case t < 0 || t > hookTimeoutMax:
		refuse("Hooks timeout %s is not between 0s and %s", t, hookTimeoutMax)
	case t != 0 && !cfg.Hooks.Any():
		refuse("Hooks timeout %s is of programs, and none is given; remove it", t)
	}
}
