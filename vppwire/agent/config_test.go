package agent_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/mode"

	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// configFields says for every field of Config what it is by default, a value that is honoured and where that shows, and
// a value that is refused with what is said about it. Goal: no field is ever ignored silently; a new field without a
// line here fails the test.
var configFields = []struct {
	field, byDefault string
	// honoured is "key: value"; shows is how the parsed configuration prints there.
	honoured, shows string
	show            func(*Config) any
	// refused is "key: value", message a part of the error.
	refused, message string
}{
	{"TCPChecksumOffloadDisabled", "false", "tcpChecksumOffloadDisabled: false", "true", func(c *Config) any { return c.Mode().KeepOffload },
		"TCPChecksumOffloadDisabled: 1", "is not true or false"},
	{"TCPstackDisabled", "true", "TCPstackDisabled: true", "true", func(c *Config) any { return c.TCPstackDisabled },
		"TCPstackDisabled: false", "set it to true"},
	{"UseL2Interconnect", "vxlan", "useL2Interconnect: true", "l2", func(c *Config) any { return c.Mode().Node },
		"useL2Interconnect: maybe", "is not true or false"},
	{"UseTAPInterfaces", "{macvlan veth}", "UseTAPInterfaces: true", "{tap tap}", func(c *Config) any {
		return struct {
			Pod  mode.PodMode
			Host mode.HostMode
		}{c.Mode().Pod, c.Mode().Host}
	}, "UseTAPInterfaces: []", "wants one value, not a list"},
	{"TAPInterfaceVersion", "2", "tapInterfaceVersion: 2", "2", func(c *Config) any { return c.TAPInterfaceVersion },
		"tapInterfaceVersion: 1", "VPP has only version 2"},
	{"TAPv2RxRingSize", "0", "podInterconnect: tap\ntapv2RxRingSize: 256", "256", func(c *Config) any { return c.Mode().RxRing },
		"tapv2RxRingSize: 300", "a ring is a power of two"},
	{"TAPv2TxRingSize", "0", "hostInterconnect: tap\ntapv2TxRingSize: 32768", "32768", func(c *Config) any { return c.Mode().TxRing },
		"tapv2TxRingSize: 65536", "is more than 65535"},
	{"MemifFolder", "", "memifFolder: /run/vppdrill/memif", "/run/vppdrill/memif", func(c *Config) any { return c.Mode().MemifFolder },
		"memifFolder: run/memif", "want an absolute path"},
	{"MTUSize", "0", "mtuSize: 1450", "1450", func(c *Config) any { return c.Mode().MTU }, "mtuSize: 575", "576 to 9000"},
	{"StealFirstNIC", "false", "stealFirstNIC: true", "true", func(c *Config) any { return c.StealFirstNIC },
		"stealFirstNIC: true\nstealInterface: eth0", "StealFirstNIC decides nothing"},
	{"StealInterface", "", "stealInterface: eth1", "eth1", func(c *Config) any { return c.StealInterface }, "stealInterface: vpp1", "the agent's own"},
	{"STNSocketFile", DefaultSTNSocketFile, "STNSocketFile: " + DefaultSTNSocketFile, DefaultSTNSocketFile,
		func(c *Config) any { return c.STNSocketFile }, "STNSocketFile: /tmp/s", "second owner"},
	{"NatExternalTraffic", "false", "services: vpp\npodInterconnect: veth\nnatExternalTraffic: true", "true", func(c *Config) any { return c.Mode().NAT.External },
		"natExternalTraffic: true", "VPP translates nothing unless it serves services"},
	{"CleanupIdleNATSessions", "0", "services: vpp\npodInterconnect: tap\ncleanupIdleNATSessions: true", "10800",
		func(c *Config) any { return c.Mode().NAT.TCPIdle }, "cleanupIdleNATSessions: true", "VPP translates nothing unless it serves services"},
	{"TCPNATSessionTimeout", "180", "services: vpp\npodInterconnect: tap\ncleanupIdleNATSessions: true\ntcpNATSessionTimeout: 90", "90", func(c *Config) any { return c.TCPNATSessionTimeout },
		"services: vpp\ntcpNATSessionTimeout: 90", "unless CleanupIdleNATSessions is true"},
	{"OtherNATSessionTimeout", "0", "services: vpp\npodInterconnect: tap\ncleanupIdleNATSessions: true\notherNATSessionTimeout: 7", "420", func(c *Config) any { return c.Mode().NAT.OtherIdle },
		"otherNATSessionTimeout: 7", "VPP translates nothing unless it serves services"},
	{"ScanIPNeighbors", "false", "scanIPNeighbors: true", "true", func(c *Config) any { return c.Mode().ScanNeighbors },
		"scanIPNeighbors: 1", "is not true or false"},
	{"IPNeighborScanInterval", "1", "ipNeighborScanInterval: 1", "1", func(c *Config) any { return c.IPNeighborScanInterval },
		"ipNeighborScanInterval: 2", "no scan interval any more"},
	{"IPNeighborStaleThreshold", "4", "scanIPNeighbors: true\nipNeighborStaleThreshold: 9", "9", func(c *Config) any { return c.Mode().StaleMinutes },
		"ipNeighborStaleThreshold: 256", "is more than 255"},
	{"MainVRFID", "0", "mainVRFID: 5\npodVRFID: 7", "5", func(c *Config) any { return c.Mode().MainTable },
		"mainVRFID: 5\npodVRFID: 5", "pods need a table of their own"},
	// upstream ignores one without the other
	{"PodVRFID", "1", "podVRFID: 1", "1", func(c *Config) any { return c.Mode().PodTable },
		"podVRFID: 7", "give both, neither of them 0, or none"},
	{"ServiceLocalEndpointWeight", "1", "services: vpp\npodInterconnect: tap\nserviceLocalEndpointWeight: 3", "3",
		func(c *Config) any { return c.ServiceLocalEndpointWeight }, "serviceLocalEndpointWeight: 3", "kube-proxy does not weigh endpoints"},
	{"NetworkPolicies", "none", "networkPolicies: vpp\npodInterconnect: veth", "vpp", func(c *Config) any { return c.NetworkPolicies }, "networkPolicies: calico", "want none or vpp"},
	{"Services", "kube-proxy", "services: vpp\npodInterconnect: veth", "vpp", func(c *Config) any { return c.Services }, "services: ipvs", "want kube-proxy or vpp"},
	{"DisableNATVirtualReassembly", "false", "disableNATVirtualReassembly: false", "false",
		func(c *Config) any { return c.DisableNATVirtualReassembly }, "disableNATVirtualReassembly: true", "no such switch any more"},
	{"EnablePacketTrace", "false", "enablePacketTrace: false", "false", func(c *Config) any { return c.EnablePacketTrace },
		"enablePacketTrace: true", "vppctl"},
	{"IPAMConfig", "false", "ipamConfig:\n  podSubnetCIDR: 10.7.0.0/16\n  podNetworkPrefixLen: 26", "10.7.0.0/16 26", func(c *Config) any {
		p, ok, err := c.Pools()
		if !ok || err != nil {
			return ok
		}
		return fmt.Sprint(p.PodSubnet, " ", p.PodSubnetOneNodePrefixLen)
	}, "ipamConfig:\n  podSubnetCIDR: 10.1.0.0/99", "podSubnetCIDR"},
	{"NodeConfig", "{   false}", "nodeConfig:\n- nodeName: k8s-1\n  mainVPPInterface: {interfaceName: eth7, ip: 192.168.1.1/24}\n  gateway: 192.168.1.100",
		"{eth7 192.168.1.1/24 192.168.1.100 false}", func(c *Config) any {
			c.NodeName = "k8s-1"
			nic, address, gateway, dhcp := OwnSpecOf(c)
			return struct {
				NIC, Address, Gateway string
				DHCP                  bool
			}{nic, valid(address), valid(gateway), dhcp}
		}, "nodeConfig:\n- nodeName: k8s-1\n  mainVPPInterface: {ip: 10.7.0.1/16}\n  otherVPPInterfaces:\n  - {interfaceName: eth8, ip: 10.7.1.1/24}", "overlaps 10.7.0.0/16 of another interface"},
	{"NodeName", "", "nodeName: k8s-1", "k8s-1", func(c *Config) any { return c.NodeName }, "nodeName: [a]", "wants one value, not a list"},
	{"PodInterconnect", "macvlan", "podInterconnect: veth", "veth", func(c *Config) any { return c.Mode().Pod },
		"podInterconnect: bridge", "want veth, tap or macvlan"},
	{"HostInterconnect", "veth", "hostInterconnect: none", "none", func(c *Config) any { return c.Mode().Host },
		"hostInterconnect: bridge", "want veth, tap or none"},
	{"NodeIDQuarantine", "10m0s", "nodeIDQuarantine: 90s", "1m30s", func(c *Config) any { return c.NodeIDQuarantine },
		"nodeIDQuarantine: 10", "is not a duration such as 10m or 1m30s"},
	{"ClaimPatience", "2m0s", "claimPatience: 1s", "1s", func(c *Config) any { return c.ClaimPatience }, "claimPatience: soon", "is not a duration such as 10m or 1m30s"},
	{"AddPatience", "30s", "addPatience: 1m", "1m0s", func(c *Config) any { return c.AddPatience }, "addPatience: -1s", "is negative"},
	{"DriftRepair", "0s", "driftRepair: 1m", "1m0s", func(c *Config) any { return c.DriftRepair }, "driftRepair: -1s", "is negative"},
	{"ExternalByHost", "false", "externalByHost: true", "true", func(c *Config) any { return c.Mode().OutsideByHost }, "{TCPstackDisabled: true, hostInterconnect: none, externalByHost: true}", "there is no way to the host"},
	{"Hooks", "{  0s}", "hooks: {postAdd: /bin/a, preRemoval: /bin/b}", "{/bin/a /bin/b 10s}", func(c *Config) any { return c.Hooks },
		"hooks:\n  preRemoval: bin/b", "contiv.yaml:3:15: Hooks preRemoval \"bin/b\": want an absolute path of a program"},
	{"GRPCSocket", "", "grpcSocket: /run/vppdrill/contiv.sock", "/run/vppdrill/contiv.sock", func(c *Config) any { return c.GRPCSocket },
		"grpcSocket: run/contiv.sock", "contiv.yaml:2:13: GRPCSocket \"run/contiv.sock\": want an absolute path of at most 100 bytes"},
	// a driver's, no file's
	{"EmitHooks", "false", "", "false", func(c *Config) any { return c.EmitHooks }, "emitHooks: true", "unknown field \"emitHooks\""},
}

func valid[T interface {
	IsValid() bool
	String() string
}](x T) string {
	if !x.IsValid() {
		return ""
	}
	return x.String()
}

func TestConfigFields(t *testing.T) {
	listed := map[string]bool{}
	base := "TCPstackDisabled: true\n"
	parse := func(text string) (Config, error) {
		if !strings.Contains(text, "TCPstackDisabled") {
			text = base + text
		}
		return ParseConfig("contiv.yaml", []byte(text))
	}
	for _, f := range configFields {
		listed[f.field] = true
		cfg, err := parse("")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(f.show(&cfg)); got != f.byDefault {
			t.Errorf("%s is %q by default, not %q", f.field, got, f.byDefault)
		}
		cfg, err = parse(f.honoured)
		if err != nil {
			t.Errorf("%s: %q is refused: %v", f.field, f.honoured, err)
		} else if got := fmt.Sprint(f.show(&cfg)); got != f.shows {
			t.Errorf("%s: %q gives %q, not %q", f.field, f.honoured, got, f.shows)
		}
		if _, err = parse(f.refused); err == nil || !strings.Contains(err.Error(), f.message) {
			t.Errorf("%s: %q gives %v, not %q", f.field, f.refused, err, f.message)
		}
	}
	for i := range reflect.TypeFor[Config]().NumField() {
		if name := reflect.TypeFor[Config]().Field(i).Name; !listed[name] {
			t.Errorf("field %s is not in the table", name)
		}
	}
}

// TestConfigErrors: an error names file, line and column and what was probably meant.
func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"TCPstackDisabled: true\nMTUSise: 1450", `f.yaml:2:1: unknown field "MTUSise"; did you mean "MTUSize"?`},
		{"mtusize: 1450\nMTUSize: 1400\nTCPstackDisabled: true", `f.yaml:2:1: MTUSize: is given twice`},
		{"ipamConfig:\n  vxlanCidr: 192.168.30.0/24\n  podSubnetOneNodePrefixLen: abc", `f.yaml:3:30: IPAMConfig.podSubnetOneNodePrefixLen: "abc" is not a whole number`},
		{"nodeConfig: {}", "f.yaml:1:13: NodeConfig: wants a list, not fields"},
		{"- a", "f.yaml:1:1: wants fields, not a list"},
		{"a: [", "f.yaml"},
		{"TCPstackDisabled: true\nnodeConfig:\n- mainVPPInterface: {ip: 192.168.1.0/24}\n  gateway: gw\n- nodeName: x\n  stealInterface: lo\n- nodeName: x",
			"NodeName is empty\nf.yaml:3:1: NodeConfig : mainVPPInterface.ip 192.168.1.0/24 is the network address of its subnet\nf.yaml:3:1: NodeConfig : gateway \"gw\": want an address, as 192.168.16.100\nf.yaml:3:1: NodeConfig x: the node is named twice"},
		{"TCPstackDisabled: true\nnodeConfig:\n- nodeName: x\n  stealInterface: a/b", "f.yaml:3:1: NodeConfig x: stealInterface \"a/b\""},
		{"TCPstackDisabled: true\nstealInterface: eth0\nhostInterconnect: none", "f.yaml:2:17: StealInterface: the host keeps its address at the interconnect"},
		{"TCPstackDisabled: true\nstealInterface: eth0\nexternalByHost: true", "StealInterface: the host sends all by VPP"},
		{"TCPstackDisabled: true\nstealInterface: eth0\nservices: vpp", "StealInterface: VPP does not serve services"},
		{"TCPstackDisabled: true\nstealFirstNIC: true\nipamConfig: {nodeInterconnectDHCP: true}", "f.yaml:2:16: StealFirstNIC: the node's address is the host's"},
		{"TCPstackDisabled: true\nstealFirstNIC: true\nipamConfig: {podSubnetCIDR: fd00:1::/48, podSubnetOneNodePrefixLen: 64, vppHostSubnetCIDR: fd00:30::/64, vppHostSubnetOneNodePrefixLen: 120, nodeInterconnectCIDR: fd00:16::/64, vxlanCIDR: fd00:18::/64}", "StealFirstNIC: NICs are taken with IPv4 only"},
		{"TCPstackDisabled: true\nstealInterface: eth1\nnodeConfig:\n- nodeName: x\n  otherVPPInterfaces: [{interfaceName: eth1}]", "NodeConfig x: StealInterface: eth1 is VPP's already, by otherVPPInterfaces"},
		{"TCPstackDisabled: true\nnodeConfig:\n- nodeName: x\n  stealInterface: eth0\n  mainVPPInterface: {ip: 192.168.16.9/24}", "NodeConfig x: stealInterface: the node's address is the host's, remove mainVPPInterface.ip 192.168.16.9/24"},
		{"TCPstackDisabled: true\nnodeConfig:\n- nodeName: x\n  stealInterface: eth0\n  gateway: 192.168.16.9", "NodeConfig x: stealInterface: the node's gateway is the host's"},
		{"TCPstackDisabled: true\nMTUSize: 1450\ntapV2RxRingSize: 256", "f.yaml:3:18: TAPv2RxRingSize is of taps, and neither pods nor host have one; remove it"},
		{"TCPstackDisabled: true\nTAPv2TxRingSize: 256", "f.yaml:2:18: TAPv2TxRingSize is of taps"},
		{"TCPstackDisabled: true\nuseTAPInterfaces: true\ntcpChecksumOffloadDisabled: false", "f.yaml:3:29: TCPChecksumOffloadDisabled: checksum offload is of veths"},
		{"TCPstackDisabled: true\nipNeighborStaleThreshold: 9", "f.yaml:2:27: IPNeighborStaleThreshold counts only where neighbors are scanned; remove it"},
		{"TCPstackDisabled: true\nservices: vpp\nnatExternalTraffic: true\nuseL2Interconnect: true", "f.yaml:3:21: NatExternalTraffic hides nothing where nodes share a layer 2 segment"},
		{"TCPstackDisabled: true\nservices: vpp\nnatExternalTraffic: true\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}", "f.yaml:3:21: NatExternalTraffic hides nothing: no default gateway is given"},
		{"TCPstackDisabled: true\nservices: vpp\nnodeConfig:\n- {nodeName: a, natExternalTraffic: true}\n- {nodeName: b, gateway: 192.168.16.100}\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}", "NodeConfig a: natExternalTraffic hides nothing: no default gateway is given"},
		{"TCPstackDisabled: true\nuseTAPInterfaces: true\npodInterconnect: veth\nhostInterconnect: veth", "f.yaml:2:19: UseTAPInterfaces decides nothing"},
		{"TCPstackDisabled: true\nhooks: {timeout: 5s}", "f.yaml:2:18: Hooks timeout 5s is of programs, and none is given; remove it"},
		{"TCPstackDisabled: true\nhooks: {postAdd: /bin/a, timeout: 2m}", "f.yaml:2:35: Hooks timeout 2m0s is not between 0s and 1m0s"},
		{"TCPstackDisabled: true\nhooks: true", "f.yaml:2:8: Hooks: wants fields, not a truth value"},
		{"TCPstackDisabled: true\nipamConfig:\n  podSubnetCIDR: 10.1.0.0/99", "f.yaml:3:18: ipamConfig: failed to parse podSubnetCIDR"},
	} {
		if _, err := ParseConfig("f.yaml", []byte(c.yaml)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %v, not %q", c.yaml, err, c.want)
		}
	}
}

// TestConfigContivCIDR: one range is cut into all; the service range survives, which upstream lost.
func TestConfigContivCIDR(t *testing.T) {
	cfg, err := ParseConfig("f", []byte("TCPstackDisabled: true\nipamConfig: {contivCIDR: 10.128.0.0/14, serviceCIDR: 10.97.0.0/16}"))
	if err != nil {
		t.Fatal(err)
	}
	p, ok, err := cfg.Pools()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	got := fmt.Sprint(p.PodSubnet, p.PodSubnetOneNodePrefixLen, p.VPPHostSubnet, p.NodeInterconnect, p.VXLAN, p.Service) + " " + cfg.IPAMConfig.PodIfIPCIDR
	if want := "10.128.0.0/16 25 10.129.0.0/16 10.130.0.0/23 10.130.2.0/23 10.97.0.0/16 10.130.4.0/25"; got != want {
		t.Errorf("ranges are %s, not %s", got, want)
	}
	if _, err := ParseConfig("f", []byte("TCPstackDisabled: true\nipamConfig: {contivCIDR: nonsense}")); err == nil {
		t.Error("a contivCIDR that does not parse is accepted")
	}
}

// TestConfigNotBuilt goal: what Contiv has and is not built here is refused by name when the file is read, in one line
// for each.
func TestConfigNotBuilt(t *testing.T) {
	for text, want := range map[string]string{
		"ipamConfig: {nodeInterconnectDHCP: true, nodeInterconnectCIDR: 192.168.16.0/24}": "ipamConfig.nodeInterconnectCIDR 192.168.16.0/24: with nodeInterconnectDHCP the DHCP server decides",
		"ipamConfig: {nodeInterconnectDHCP: true, defaultGateway: 192.168.16.1}":          "ipamConfig.defaultGateway 192.168.16.1: with nodeInterconnectDHCP the DHCP server names the gateway",
		"Services: vpp\nipamConfig: {podSubnetCIDR: \"fd00:1::/64\", podSubnetOneNodePrefixLen: 80, vppHostSubnetCIDR: \"fd00:2::/64\", vppHostSubnetOneNodePrefixLen: 80, vxlanCIDR: \"fd00:3::/64\", nodeInterconnectCIDR: \"fd00:4::/64\"}":                                                                                                    "ipamConfig: podSubnetCIDR fd00:1::/64: VPP serves services of IPv4 only",
		"podInterconnect: veth\nipamConfig: {podSubnetCIDR: \"fd00:1::/64\", podSubnetOneNodePrefixLen: 80, vppHostSubnetCIDR: \"fd00:2::/64\", vppHostSubnetOneNodePrefixLen: 80, vxlanCIDR: \"fd00:3::/64\", nodeInterconnectDHCP: true}":                                                                                                       "ipamConfig: podSubnetCIDR fd00:1::/64: nodes lease addresses of IPv4 only",
		"podInterconnect: veth\nservices: vpp\nipamConfig: {podSubnetCIDR: \"fd00:1::/64\", podSubnetOneNodePrefixLen: 80, vppHostSubnetCIDR: \"fd00:2::/64\", vppHostSubnetOneNodePrefixLen: 80, vxlanCIDR: \"fd00:3::/64\", nodeInterconnectCIDR: \"fd00:4::/64\"}":                                                                             "ipamConfig: podSubnetCIDR fd00:1::/64: VPP serves services of IPv4 only",
		"podInterconnect: veth\nnodeConfig: [{nodeName: a, gateway: 192.168.16.1}]\nipamConfig: {podSubnetCIDR: \"fd00:1::/64\", podSubnetOneNodePrefixLen: 80, vppHostSubnetCIDR: \"fd00:2::/64\", vppHostSubnetOneNodePrefixLen: 80, vxlanCIDR: \"fd00:3::/64\", nodeInterconnectCIDR: \"fd00:4::/64\"}":                                        "ipamConfig: NodeConfig a: gateway 192.168.16.1 and podSubnetCIDR fd00:1::/64: a cluster has one address family",
		"podInterconnect: veth\nnodeConfig: [{nodeName: a, mainVPPInterface: {ip: 192.168.16.1/24}}]\nipamConfig: {podSubnetCIDR: \"fd00:1::/64\", podSubnetOneNodePrefixLen: 80, vppHostSubnetCIDR: \"fd00:2::/64\", vppHostSubnetOneNodePrefixLen: 80, vxlanCIDR: \"fd00:3::/64\", nodeInterconnectCIDR: \"fd00:4::/64\"}":                      "ipamConfig: NodeConfig a: mainVPPInterface.ip 192.168.16.1/24 and podSubnetCIDR fd00:1::/64: a cluster has one address family",
		"podInterconnect: veth\nnodeConfig: [{nodeName: a, otherVPPInterfaces: [{interfaceName: eth8, ip: 10.7.0.1/24}]}]\nipamConfig: {podSubnetCIDR: \"fd00:1::/64\", podSubnetOneNodePrefixLen: 80, vppHostSubnetCIDR: \"fd00:2::/64\", vppHostSubnetOneNodePrefixLen: 80, vxlanCIDR: \"fd00:3::/64\", nodeInterconnectCIDR: \"fd00:4::/64\"}": "ipamConfig: podSubnetCIDR fd00:1::/64: otherVPPInterfaces of a are wired with IPv4 only",
		"nodeConfig: [{nodeName: a, otherVPPInterfaces: [{interfaceName: eth8, ip: \"fd00::1/64\"}]}]": "NodeConfig a: otherVPPInterfaces.ip fd00::1/64: further interfaces are wired with IPv4 only",
	} {
		_, err := ParseConfig("contiv.yaml", []byte("TCPstackDisabled: true\n"+text))
		if err == nil || !strings.HasPrefix(err.Error(), "contiv.yaml:") || !strings.Contains(err.Error(), ": "+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.NodeName = "" }, "NodeName is empty"},
		{func(c *Config) { c.TCPstackDisabled = false }, "set it to true"},
		{func(c *Config) { c.NodeIDQuarantine = -time.Second }, "NodeIDQuarantine"},
		{func(c *Config) { c.IPAMConfig.SRv6.SFCEndLocalSIDSubnetCIDR = "5::/16" }, "segment routing"},
	} {
		cfg := story.Config("n1")
		c.change(&cfg)
		if _, err := New(cfg, freshAllocator(t)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New gives %v, not %q", err, c.want)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, c := range configFields {
		f.Add([]byte("TCPstackDisabled: true\n" + c.honoured))
		f.Add([]byte(c.refused))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := ParseConfig("f", text)
		if err != nil {
			return
		}
		// What was accepted can be used.
		cfg.NodeName = "n1"
		if _, err := New(cfg, freshAllocator(t)); err != nil {
			t.Errorf("accepted by ParseConfig and refused by New: %v", err)
		}
	})
}
