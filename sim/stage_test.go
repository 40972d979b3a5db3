package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/timeline/worldtest"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: the simulator does every action, but for those on controllers that a system of addresses has not. Method: every
// action of the language in one cluster per system.
func TestEveryAction(t *testing.T) {
	for system, want := range map[string]string{
		"contiv":                             "kill-plugin kill-runtime fill-disk lose-state stop-dhcp add-range remove-range restart-controller lose-leader",
		"cilium, ranges: [10.2.0.0/18]":      "kill-plugin kill-runtime fill-disk lose-state stop-dhcp",
		"nodeipam":                           "kill-plugin kill-runtime fill-disk lose-state stop-dhcp",
		"datastore":                          "kill-plugin kill-runtime fill-disk lose-state stop-dhcp restart-controller lose-leader",
		"contiv, nodeInterconnectDHCP: true": "kill-plugin kill-runtime fill-disk lose-state add-range remove-range restart-controller lose-leader",
	} {
		t.Run(system, func(t *testing.T) {
			s, err := scenarios.Parse("every.yaml", fmt.Appendf(nil, "%sconfig: {ipam: {system: %s, podSubnetCIDR: 10.2.0.0/16}}\n", worldtest.Scenario, system))
			if err != nil {
				t.Fatal(err)
			}
			w, err := sim.New(s, sim.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if have := strings.Join(worldtest.Answers(t, w), " "); have != want {
				t.Errorf("refused %q, want %q", have, want)
			}
		})
	}
}
