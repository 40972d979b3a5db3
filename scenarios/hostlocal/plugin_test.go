package hostlocal_test

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/hostlocal"
)

// Goal: addresses are the lowest free ones, an owner keeps its own, machines do not share, and a full block gives none. Method:
// a /29, of which three addresses are for pods, driven by a table.
func TestPlugin(t *testing.T) {
	block := []netip.Prefix{netip.MustParsePrefix("10.1.2.0/29")}
	owner := func(id string) ipam.Owner { return ipam.Owner{Network: "n", ContainerID: id, IfName: "eth0"} }
	var p hostlocal.Plugin
	for _, s := range []struct {
		do, id  string
		machine uint32
		cidrs   []netip.Prefix
		want    string
	}{
		{"pick", "a", 1, nil, "invalid IP"},
		{"pick", "a", 1, block, "10.1.2.2"},
		{"pick", "b", 1, block, "10.1.2.3"},
		{"pick", "a", 1, block, "10.1.2.2"},
		{"pick", "a", 2, block, "10.1.2.2"},
		{"pick", "c", 1, block, "10.1.2.4"},
		{"pick", "d", 1, block, "10.1.2.5"},
		{"pick", "e", 1, block, "invalid IP"},
		{"release", "b", 1, nil, ""},
		{"pick", "e", 1, block, "10.1.2.3"},
		{"pick", "a", 1, []netip.Prefix{netip.MustParsePrefix("10.9.0.0/24")}, "10.1.2.2"},
		{"forget", "", 1, nil, ""},
		{"pick", "z", 1, block, "10.1.2.2"},
	} {
		switch s.do {
		case "pick":
			if first, second := p.Pick(s.machine, s.cidrs, owner(s.id)); first.String() != s.want || second.IsValid() {
				t.Errorf("%s on %d gets %s and %s, want %s", s.id, s.machine, first, second, s.want)
			}
		case "release":
			p.Release(s.machine, owner(s.id))
		case "forget":
			p.Forget(s.machine)
		}
	}
}
