package check

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: services-reached sees a mapping whose clients do not keep their endpoint for as long as the service says.
// Method: one mapping, by seconds.
func TestAffinity(t *testing.T) {
	at := netip.MustParseAddr("10.96.0.10")
	v := &serving{s: fact.Snapshot{Services: []scenarios.ServiceState{{Service: scenarios.Service{Name: "web", ClusterIP: at, Port: 80, Affinity: time.Hour}}}}}
	n := &fact.NodeState{Name: "node-1"}
	two := []fact.NATLocal{{Addr: netip.MustParseAddrPort("10.1.1.2:8080"), Weight: 1}, {Addr: netip.MustParseAddrPort("10.1.1.3:8080"), Weight: 1}}
	for _, tc := range []struct {
		seconds int64
		locals  []fact.NATLocal
		want    bool
	}{{3600, two, true}, {0, two, false}, {60, two, false}, {fact.AffinityUnknown, two, true}, {0, two[:1], true}} {
		m := fact.NATMapping{Addr: at, Port: 80, Proto: protoTCP, Locals: tc.locals, Affinity: tc.seconds}
		if err := v.mapped(n, &fact.NAT{Mappings: []fact.NATMapping{m}}); (err == nil) != tc.want {
			t.Errorf("%d s, %d endpoints: %v", tc.seconds, len(tc.locals), err)
		}
	}
}

// Goal: services-reached sees a mapping whose clients with affinity are sent to an endpoint that has gone. Method: one
// mapping, with and without such an endpoint.
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
		{"no endpoint was removed", "", nil},
		{"one that is there again", "", []fact.NATLocal{local("10.1.1.2:8080")}},
		{"one that has gone", "clients of 10.96.0.10:80 with affinity still get 10.1.1.3:8080, which is gone, from VPP of node-1", []fact.NATLocal{local("10.1.1.3:8080")}},
	} {
		m := fact.NATMapping{Addr: at, Port: 80, Proto: protoTCP, Locals: []fact.NATLocal{local("10.1.1.2:8080")}, Kept: tc.kept}
		err := v.mapped(n, &fact.NAT{Mappings: []fact.NATMapping{m}})
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v: want %q", tc.name, err, tc.want)
		}
	}
}
