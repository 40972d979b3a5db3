package lab_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: a NIC that agents would take for an interface of their own is refused in one line before anything is made, any
// other name is fine. Method: a table.
func TestNICNames(t *testing.T) {
	for nic, ok := range map[string]bool{
		"true": true, "GigabitEthernet0/8/0": true, "uplink0": true, "eth1": true, "false": true,
		"host-eth1": false, "host-": false, "tap0": false, "loop7": false, "vxlan_tunnel3": false, "memif1/0": false,
	} {
		s, err := scenarios.Parse("nic.yaml", fmt.Appendf(nil, "# A NIC.\nname: nic\ntopology: {nodes: 1, nic: %s}\n", nic))
		if err != nil {
			t.Errorf("%s: %v", nic, err)
			continue
		}
		err = lab.Validate(s)
		if (err == nil) != ok || err != nil && (!strings.Contains(err.Error(), fmt.Sprintf("topology.nic %q", nic)) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v", nic, err)
		}
	}
}
