package agentconfig

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: no setting of wiring, of agents or of pod interfaces' addresses is taken that reaches no agent. Method: each field of the two
// sections by itself, another value than the default's, and what agents are given; a new field without a value here fails.
func TestSettingsReachAgents(t *testing.T) {
	values := map[string]any{
		"Pod": scenarios.PodTAP, "Node": scenarios.NodeL2, "Host": scenarios.HostVETH,
		"MTU": uint32(1400), "RxRing": uint32(512), "TxRing": uint32(64), "KeepOffload": true, "StealNIC": true, "NeighborAge": 4 * time.Minute,
		"NodeIDQuarantine": time.Minute, "AddPatience": time.Minute, "DriftRepair": time.Minute, "HookTime": time.Second,
	}
	values["Memif"] = true
	// What others are given, or only together.
	elsewhere := map[string]string{
		"Services": "with Pod", "MainVRF": "with PodVRF", "PodVRF": "with MainVRF", "CallTimeout": "the driver's", "HookFails": "the world's",
		"NatExternal": "with Services", "NatCleanup": "with Services", "NatTCPTimeout": "with Services", "NatTimeout": "with Services",
		"LocalEndpoints": "with Services", "Policies": "with Pod",
	}
	plain, err := Of(scenarios.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []func(*scenarios.Config) reflect.Value{
		func(c *scenarios.Config) reflect.Value { return reflect.ValueOf(&c.Wiring).Elem() },
		func(c *scenarios.Config) reflect.Value { return reflect.ValueOf(&c.Agent).Elem() },
	} {
		c := scenarios.DefaultConfig()
		for i := range section(&c).NumField() {
			c := scenarios.DefaultConfig()
			name := section(&c).Type().Field(i).Name
			value, ok := values[name]
			if !ok {
				if elsewhere[name] == "" {
					t.Errorf("%s has no value here", name)
				}
				continue
			}
			section(&c).Field(i).Set(reflect.ValueOf(value))
			given, err := Of(c)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if reflect.DeepEqual(given, plain) {
				t.Errorf("%s changes nothing that an agent is given", name)
			}
		}
	}
	c := scenarios.DefaultConfig()
	c.IPAM.PodIfIPCIDR = netip.MustParsePrefix("10.2.1.0/24")
	if given, err := Of(c); err != nil || given.IPAMConfig.PodIfIPCIDR != "10.2.1.0/24" {
		t.Errorf("podIfIPCIDR: %q, %v", given.IPAMConfig.PodIfIPCIDR, err)
	}
}
