package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: who claims a node's address on the wire takes its packets as long as VPPs believe him: until they probe their neighbors, or the node's
// VPP asks anew itself, and else for ever, which law reachable tells with both MACs. Method: a table of what follows on a claim.
func TestClaimedAddress(t *testing.T) {
	for _, c := range []struct{ what, wiring, then, tells string }{
		{"nothing corrects it", "", "", "neighbor entry of 192.168.16.2 has the MAC 02:5e:00:00:00:01, and the NIC of node-2 has"},
		{"neighbors are probed", ", neighborAge: 1m", "", ""},
		{"the node's VPP begins anew", "", ", {at: 30s, do: restart-vpp, node: node-2}", ""},
		{"the others' begin anew", "", ", {at: 30s, do: restart-vpp, node: all}", ""},
		{"until everything is healed", ", neighborAge: 1m", ", {at: 2m, do: claim-address, node: node-1}", ""},
		{"claims at the same time", ", neighborAge: 1m, node: l2", ", {at: 11s, do: claim-address, node: all, for: 5s}", ""},
		{"its node leaves", "", ", {at: 20s, do: remove-node, node: node-2}", ""},
		{"its node comes anew", "", ", {at: 30s, do: recreate-node, node: node-2}", ""},
	} {
		text := fmt.Sprintf("name: claimed\ntopology: {nodes: 3, podsPerNode: 1}\nconfig: {wiring: {pod: veth%s}}\n"+
			"timeline: [{at: 10s, do: claim-address, node: node-2, for: 10s}%s]\n", c.wiring, c.then)
		s, err := scenarios.Parse("claimed.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: check.All()})
		if err != nil {
			t.Fatal(err)
		}
		if (r.Verdict == result.Pass) != (c.tells == "") || c.tells != "" && !strings.Contains(fmt.Sprint(r.Error), c.tells) {
			t.Errorf("%s: %v, %v", c.what, r.Verdict, r.Error)
		}
	}
}
