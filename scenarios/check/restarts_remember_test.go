package check

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: restarts-remember breaks where a starting agent has lost what was told, or has back what was told to be gone, and nowhere else.
// Method: a lease, its answer, and what follows, then what the next life reads.
func TestRestartsRemember(t *testing.T) {
	web := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}
	addr := netip.MustParseAddr("10.1.1.2")
	newFact := func(kind fact.FactKind) fact.Fact {
		return fact.Fact{Kind: kind, Node: "n1", Owner: web, Addr: addr}
	}
	leased, answered, released, deleted := newFact(fact.FactLeased), newFact(fact.FactAnswered), newFact(fact.FactReleased), newFact(fact.FactDeleted)
	for _, tc := range []struct {
		name   string
		before []fact.Fact
		holds  bool
		want   string
	}{
		{name: "kept", before: []fact.Fact{leased, answered}, holds: true},
		{name: "lost", before: []fact.Fact{leased, answered}, want: "starts without 10.1.1.2"},
		{name: "leased and not answered, lost", before: []fact.Fact{leased}},
		{name: "leased and not answered, kept", before: []fact.Fact{leased}, holds: true},
		{name: "released and not answered, back", before: []fact.Fact{leased, answered, released}, holds: true},
		{name: "gone", before: []fact.Fact{leased, answered, released, deleted}},
		{name: "back", before: []fact.Fact{leased, answered, released, deleted}, holds: true, want: "starts with 10.1.1.2"},
		{name: "asked for anew", before: []fact.Fact{leased, answered, released, deleted, leased}, holds: true},
		{name: "asked for anew before the answer", before: []fact.Fact{leased, answered, released, leased, deleted}, holds: true},
		{name: "another machine", before: []fact.Fact{leased, answered, {Kind: fact.FactNodeGone, Node: "n1", Text: fact.NodeLeft}}},
		{name: "the machine was off", before: []fact.Fact{leased, answered, {Kind: fact.FactNodeGone, Node: "n1"}}, want: "starts without"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			up := fact.Fact{Kind: fact.FactAgentUp, Node: "n1"}
			if tc.holds {
				up.Leases = []ipam.Lease{{Owner: web, Addr: addr}}
			}
			w := restartsRemember().Watch()
			var err error
			for _, f := range append(tc.before, up) {
				if err == nil {
					err = w.Observe(&f)
				}
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v: want %q", err, tc.want)
			}
		})
	}
}
