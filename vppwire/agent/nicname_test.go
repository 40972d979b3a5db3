package agent

import (
	"strings"
	"testing"
)

// Goal: a NIC of a name that the agent gives to interfaces of its own is refused, because the agent would take it for
// one that nobody wants any more. Method: a table.
func TestNICNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"": true, "GigabitEthernet0/8/0": true, "uplink0": true, "eth1": true,
		"host-eth1": false, "tap0": false, "loop7": false, "vxlan_tunnel3": false,
	} {
		c := Config{NodeName: "k8s-1", TCPstackDisabled: true, NodeConfig: []NodeConfig{{NodeName: "k8s-1",
			NodeConfigSpec: NodeConfigSpec{MainVPPInterface: InterfaceConfig{InterfaceName: name}}}}}
		c.ApplyDefaults()
		err := c.Validate()
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "mainVPPInterface.interfaceName") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
