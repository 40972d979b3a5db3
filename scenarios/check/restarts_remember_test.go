package check

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: restarts-remember breaks where a starting agent has lost what was told, or has back what was told to be gone,
// and nowhere else. Method: a lease, its answer, and what follows, then what the next life reads.
func TestRestartsRemember(t *testing.T) {
	web := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}
	addr := netip.MustParseAddr("10.1.1.2")
	leased := fact.Leased{Owner: web, Addr: addr}
	answered := fact.Answered{Owner: web, Addr: addr}
	released := fact.Released{Owner: web, Addr: addr}
	deleted := fact.Deleted{Owner: web}
	for _, tc := range []struct {
		name   string
		before []fact.What
		holds  bool
		want   string
	}{
		{name: "kept", before: []fact.What{leased, answered}, holds: true},
		{name: "lost", before: []fact.What{leased, answered}, want: "starts without 10.1.1.2"},
		{name: "leased and not answered, lost", before: []fact.What{leased}},
		{name: "leased and not answered, kept", before: []fact.What{leased}, holds: true},
		{name: "released and not answered, back", before: []fact.What{leased, answered, released}, holds: true},
		{name: "gone", before: []fact.What{leased, answered, released, deleted}},
		{name: "back", before: []fact.What{leased, answered, released, deleted}, holds: true, want: "starts with 10.1.1.2"},
		{name: "asked for anew", before: []fact.What{leased, answered, released, deleted, leased}, holds: true},
		{name: "asked for anew before the answer", before: []fact.What{leased, answered, released, leased, deleted}, holds: true},
		{name: "another machine", before: []fact.What{leased, answered, fact.NodeGone{Left: true}}},
		{name: "the machine was off", before: []fact.What{leased, answered, fact.NodeGone{}}, want: "starts without"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			up := fact.AgentUp{}
			if tc.holds {
				up.Leases = []ipam.Lease{{Owner: web, Addr: addr}}
			}
			w := restartsRemember().Watch()
			var err error
			for _, what := range append(tc.before, up) {
				if err == nil {
					err = w.Observe(&fact.Fact{Node: "n1", What: what})
				}
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v: want %q", err, tc.want)
			}
		})
	}
}
