package check

import (
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: first-served breaks where somebody who asked later is served first, and stays silent where nobody was passed over or an older sandbox is in the
// way. Method: short histories of two ADDs on a node, and of nodes at a controller; the last fact breaks the law or does not.
func TestFirstServed(t *testing.T) {
	const node = "node-1"
	first, later := ipam.Owner{ContainerID: "first"}, ipam.Owner{ContainerID: "later"}
	addr := netip.MustParseAddr("10.1.1.5")
	asked := func(o ipam.Owner, uid string, at time.Duration) scenarios.Fact {
		return scenarios.Fact{Kind: scenarios.FactAsked, At: at, Node: node, Owner: o, Pod: "default/web", PodUID: uid, Text: scenarios.AskedAdd}
	}
	leased := func(o ipam.Owner, at time.Duration) scenarios.Fact {
		return scenarios.Fact{Kind: scenarios.FactLeased, At: at, Node: node, Owner: o, Addr: addr}
	}
	at := func(f scenarios.Fact, place uint32) scenarios.Fact {
		f.Number = place
		return f
	}
	line := func(node, what string, life uint32) scenarios.Fact {
		return scenarios.Fact{Kind: scenarios.FactInLine, Node: node, Text: what, Broken: "kube-controller-manager", Number: life}
	}
	const s = time.Second
	two := []scenarios.Fact{asked(first, "1", s), asked(later, "2", 2*s)}
	join := []scenarios.Fact{line("node-1", scenarios.LineJoined, 1), line("node-2", scenarios.LineJoined, 1)}
	with := func(history []scenarios.Fact, more ...scenarios.Fact) []scenarios.Fact {
		return append(history[:len(history):len(history)], more...)
	}
	for _, tc := range []watched{
		{"the later one first", firstServed(), with(two, leased(later, 3*s), leased(first, 4*s)), "asked at 1s and gets its address only now"},
		{"one after the other", firstServed(), with(two, leased(first, 3*s), leased(later, 4*s)), ""},
		{"both at once, the later one first", firstServed(), with(two, at(leased(later, 3*s), 1), at(leased(first, 3*s), 2)), "gets its address only now"},
		{"both at once in turn", firstServed(), with(two, at(leased(first, 3*s), 1), at(leased(later, 3*s), 2)), ""},
		{"both at once", firstServed(), with(two, leased(later, 3*s), leased(first, 3*s)), ""},
		{"asked again", firstServed(), with(two, asked(first, "1", 3*s), leased(later, 4*s), leased(first, 5*s)), ""},
		{"by another agent", firstServed(), with(two, scenarios.Fact{Kind: scenarios.FactAgentDown, Node: node}, leased(later, 3*s), leased(first, 4*s)), ""},
		{"refused when the later one has its address", firstServed(), with(two, leased(later, 3*s), scenarios.Fact{Kind: scenarios.FactRefused, At: 3 * s, Node: node, Owner: first}), ""},
		{"behind an older sandbox", firstServed(), with([]scenarios.Fact{asked(ipam.Owner{ContainerID: "older"}, "1", 0)}, with(two, leased(later, 3*s), leased(first, 4*s))...), ""},
		{"behind one that has gone", firstServed(), with([]scenarios.Fact{asked(ipam.Owner{ContainerID: "older"}, "1", 0),
			{Kind: scenarios.FactDeleted, Node: node, Owner: ipam.Owner{ContainerID: "older"}}}, with(two, leased(later, 3*s), leased(first, 4*s))...), "gets its address only now"},
		{"behind one whose ADD came after its DEL", firstServed(), with([]scenarios.Fact{{Kind: scenarios.FactAsked, Node: node, Owner: ipam.Owner{ContainerID: "older"}, Text: "Del"},
			asked(ipam.Owner{ContainerID: "older"}, "1", 0), {Kind: scenarios.FactDeleted, Node: node, Owner: ipam.Owner{ContainerID: "older"}}}, with(two, leased(later, 3*s), leased(first, 4*s))...), ""},
		{"with an address of its own", firstServed(), []scenarios.Fact{{Kind: scenarios.FactAsked, At: s, Node: node, Owner: first, Pod: "default/web", PodUID: "1", Text: scenarios.AskedAdd, Addr: addr},
			asked(later, "2", 2*s), leased(later, 3*s), leased(first, 4*s)}, ""},

		{"the later node first", firstServed(), with(join, line("node-2", scenarios.LineServed, 1)), "node-1 has waited for one for longer"},
		{"node after node", firstServed(), with(join, line("node-1", scenarios.LineServed, 1), line("node-2", scenarios.LineServed, 1)), ""},
		{"of a later life", firstServed(), with(join, line("node-2", scenarios.LineJoined, 2), line("node-2", scenarios.LineServed, 2)), ""},
		{"a node that has gone", firstServed(), with(join, scenarios.Fact{Kind: scenarios.FactAssigned, Node: "node-1"}, line("node-2", scenarios.LineServed, 1)), ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}
