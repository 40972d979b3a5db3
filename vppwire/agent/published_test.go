package agent_test

import (
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// FuzzParsePools: whatever was published, the parser says what it means or refuses it.
func FuzzParsePools(f *testing.F) {
	f.Add(`{"generation":3,"ipamConfig":{"podSubnetCIDR":"10.3.0.0/16"}}`)
	f.Add(`{"generation":-1}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := agent.ParsePools([]byte(text))
		if err == nil && (p.Generation < 1 || !p.PodSubnet.IsValid()) {
			t.Fatalf("%q: %+v", text, p)
		}
	})
}
