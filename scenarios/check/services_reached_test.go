package check

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: services-reached sees a mapping whose clients with affinity are sent to an endpoint that has gone. Method: one mapping, with and without
// such an endpoint.
func TestKeptEndpoints(t *testing.T) {
	local := func(text string) fact.NATLocal {
		return fact.NATLocal{Addr: netip.MustParseAddrPort(text), Table: 1, Weight: 1}
	}
	at := netip.MustParseAddr("10.96.0.10")
	v := &serving{s: fact.Snapshot{Services: []scenarios.ServiceState{{Service: scenarios.Service{Name: "web", ClusterIP: at, Port: 80}}}}}
	n := &fact.NodeState{Name: "node-1"}
	for _, tc := range []struct {
		name, want string
		kept       []fact.NATLocal
	}{
		{"nobody was taken away", "", nil},
		{"one that is there again", "", []fact.NATLocal{local("10.1.1.2:8080")}},
		{"one that has gone", "clients of 10.96.0.10:80 with affinity are sent to 10.1.1.3:8080 by VPP of node-1", []fact.NATLocal{local("10.1.1.3:8080")}},
	} {
		m := fact.NATMapping{Addr: at, Port: 80, Proto: protoTCP, Locals: []fact.NATLocal{local("10.1.1.2:8080")}, Kept: tc.kept}
		err := v.mapped(n, &fact.NAT{Mappings: []fact.NATMapping{m}})
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v: want %q", tc.name, err, tc.want)
		}
	}
}
