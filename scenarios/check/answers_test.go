package check

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: told-is-saved, one-sandbox, requests-answered, stays-quiet and calls-accepted break by what they are about, name it, and stay silent where it
// is right. Method: short histories; the last fact breaks the law or does not.
func TestAnswersAndCalls(t *testing.T) {
	const node, netns = "node-1", "/run/netns/web"
	web, next := ipam.Owner{ContainerID: "web"}, ipam.Owner{ContainerID: "next"}
	a, b := netip.MustParseAddr("10.1.1.5"), netip.MustParseAddr("10.1.1.6")
	asked := func(o ipam.Owner, uid string, at time.Duration) fact.Fact {
		return fact.Fact{Kind: fact.FactAsked, At: at, Node: node, Owner: o, Pod: "default/web", PodUID: uid, Text: fact.AskedAdd}
	}
	leased := func(o ipam.Owner, addr netip.Addr) fact.Fact {
		return fact.Fact{Kind: fact.FactLeased, Node: node, Owner: o, Addr: addr}
	}
	refused := func(at, patience time.Duration) fact.Fact {
		return fact.Fact{Kind: fact.FactRefused, At: at, Node: node, Owner: web, Rest: patience, Text: "VPP says no"}
	}
	answered := fact.Fact{Kind: fact.FactAnswered, Node: node, Owner: web, Addr: a, Netns: netns}
	deleted := fact.Fact{Kind: fact.FactDeleted, Node: node, Owner: web}
	saved := func(what string, addr netip.Addr) fact.Fact {
		return fact.Fact{Kind: fact.FactSaved, Node: node, Owner: web, Addr: addr, Text: what}
	}
	call := func(at time.Duration, text, netns string) fact.Fact {
		return fact.Fact{Kind: fact.FactCallRefused, At: at, Node: node, Text: text, Netns: netns, Calm: true}
	}
	in := func(netns string, f fact.Fact) fact.Fact {
		f.Netns = netns
		return f
	}
	one, two := ipam.Block{Prefix: netip.MustParsePrefix("10.1.0.0/28")}, ipam.Block{Prefix: netip.MustParsePrefix("10.1.0.16/28")}
	given := func(blocks ...ipam.Block) fact.Fact {
		return fact.Fact{Kind: fact.FactAssigned, Node: node, Blocks: blocks}
	}
	uses := func(blocks ...ipam.Block) fact.Fact {
		return fact.Fact{Kind: fact.FactBlocks, Node: node, Blocks: blocks}
	}
	crashed := fact.Fact{Kind: fact.FactNodeGone, Node: node}
	drains := ipam.Block{Prefix: netip.MustParsePrefix("10.1.1.0/28"), Draining: true}
	around := ipam.Block{Prefix: netip.MustParsePrefix("10.1.0.0/16")}
	later := func(at time.Duration, f fact.Fact) fact.Fact {
		f.At = at
		return f
	}
	for _, tc := range []watched{
		{"an answer before its lease is saved", toldIsSaved(), []fact.Fact{answered}, "is answered with 10.1.1.5, and the disk knows no lease of it"},
		{"an answer with another address", toldIsSaved(), []fact.Fact{saved(fact.SavedLease, b), answered}, "is answered with 10.1.1.5, and the disk says 10.1.1.6"},
		{"an ID before it is saved", toldIsSaved(), []fact.Fact{{Kind: fact.FactNodeID, Node: node, Number: 3}}, "acts on node ID 3, and the disk does not know it"},
		{"a DEL before the release is saved", toldIsSaved(), []fact.Fact{saved(fact.SavedLease, a), deleted}, "the disk still holds its lease of 10.1.1.5"},
		{"a DEL behind its release", toldIsSaved(), []fact.Fact{saved(fact.SavedLease, a), saved(fact.SavedRelease, a), deleted}, ""},
		{"a journal written anew without it", toldIsSaved(), []fact.Fact{saved(fact.SavedLease, a), saved(fact.SavedAll, netip.Addr{}), answered}, "the disk knows no lease of it"},
		{"what is saved", toldIsSaved(), []fact.Fact{saved(fact.SavedLease, a), answered, {Kind: fact.FactSaved, Node: node, Text: fact.SavedNodeID, Number: 3},
			{Kind: fact.FactNodeID, Node: node, Number: 3}}, ""},

		{"two sandboxes of a pod", oneSandbox(), []fact.Fact{asked(web, "1", 0), leased(web, a), asked(next, "1", 0), leased(next, b)}, "still holds its address"},
		{"after a restart", oneSandbox(), []fact.Fact{asked(web, "1", 0), {Kind: fact.FactAgentUp, Node: node, Leases: []ipam.Lease{{Owner: web, Addr: a}}},
			asked(next, "1", 0), leased(next, b)}, "still holds its address"},
		{"one after the other", oneSandbox(), []fact.Fact{asked(web, "1", 0), leased(web, a), asked(next, "1", 0),
			{Kind: fact.FactReleased, Node: node, Owner: web, Addr: a}, leased(next, b)}, ""},
		{"of another pod of the same name", oneSandbox(), []fact.Fact{asked(web, "1", 0), leased(web, a), asked(next, "2", 0), leased(next, b)}, ""},

		{"given up early", requestsAnswered(), []fact.Fact{asked(web, "1", 0), refused(time.Second, 30*time.Second)}, "was refused after 1s (VPP says no), and it is to wait 30s"},
		{"given up in time", requestsAnswered(), []fact.Fact{asked(web, "1", 0), refused(31*time.Second, 30*time.Second)}, ""},
		{"asked again by the same plugin", requestsAnswered(), []fact.Fact{asked(web, "1", 0), asked(web, "1", 20*time.Second), refused(31*time.Second, 30*time.Second)}, ""},
		{"refused for something else", requestsAnswered(), []fact.Fact{asked(web, "1", 0), refused(time.Second, 0)}, ""},
		{"its namespace is gone", requestsAnswered(), []fact.Fact{in(netns, asked(web, "1", 0)), call(time.Second, "no such network namespace", netns), refused(31*time.Second, 30*time.Second)}, "30s after a call had shown that its namespace is gone"},
		{"and said so at once", requestsAnswered(), []fact.Fact{in(netns, asked(web, "1", 0)), call(time.Second, "no such network namespace", netns), refused(2*time.Second, 0)}, ""},
		{"its namespace is gone and the agent ended", requestsAnswered(), []fact.Fact{in(netns, asked(web, "1", 0)), call(time.Second, "no such network namespace", netns), refused(31*time.Second, 0)}, ""},
		{"another's namespace is gone", requestsAnswered(), []fact.Fact{in(netns, asked(web, "1", 0)), call(time.Second, "no such network namespace", "/other"), refused(31*time.Second, 0)}, ""},
		{"answered late", requestsAnswered(), []fact.Fact{{Kind: fact.FactSlow, Node: node, Owner: web, Text: "Check", Rest: 10 * time.Second}}, "the Check of"},
		{"answered at the second try", requestsAnswered(), []fact.Fact{{Kind: fact.FactSlow, Node: node, Owner: web, Text: fact.AskedAdd, Rest: time.Second}}, ""},
		{"never answered", requestsAnswered(), []fact.Fact{{Kind: fact.FactAbandoned, Node: node, Owner: web, Text: "Del", Rest: time.Minute}}, "the Del of"},

		{"out of a draining block", leaseInRange(), []fact.Fact{uses(drains), later(time.Minute, leased(web, a))}, "which has been draining for 1m0s"},
		{"out of a block that has just begun to drain", leaseInRange(), []fact.Fact{later(time.Minute, uses(drains)), later(time.Minute, leased(web, a))}, ""},
		{"out of an active block around a draining one", leaseInRange(), []fact.Fact{uses(around, drains), later(time.Minute, leased(web, a))}, ""},

		{"a block taken back in use", grantsUsed(), []fact.Fact{given(one, two), uses(one, two), given(one)}, "10.1.0.16/28 is taken back while node-1 still gives"},
		{"taken back when dropped", grantsUsed(), []fact.Fact{given(one, two), uses(one, two), uses(one), given(one)}, ""},
		{"taken back piece by piece of a node that has left", grantsUsed(), []fact.Fact{given(one, two), uses(one, two),
			{Kind: fact.FactNodeGone, Node: node, Text: fact.NodeLeft}, given(one)}, ""},
		{"taken back of a node that lies still", grantsUsed(), []fact.Fact{given(one, two), uses(one, two), {Kind: fact.FactNodeGone, Node: node}, given(one)}, "is taken back while"},
		{"a node that has left", grantsUsed(), []fact.Fact{given(one, two), uses(one, two), given()}, ""},

		{"a call in quiet", staysQuiet(), []fact.Fact{{Kind: fact.FactQuiet}, {Kind: fact.FactVPPWrite, At: time.Second, Node: node, Text: "ip_route_add_del_v2"}}, "although everything was done"},
		{"a call for a pod in quiet", staysQuiet(), []fact.Fact{{Kind: fact.FactQuiet}, asked(web, "1", time.Second), {Kind: fact.FactVPPWrite, At: 2 * time.Second, Node: node, Text: "tap_create_v3"}}, ""},
		{"a call before", staysQuiet(), []fact.Fact{{Kind: fact.FactVPPWrite, Node: node, Text: "tap_create_v3"}, {Kind: fact.FactQuiet}}, ""},

		{"a call refused for nothing", callsAccepted(), []fact.Fact{call(0, "ip_route_add_del_v2 of route 10.1.1.5/32: no such entry", "")}, "nothing explains the refusal"},
		{"by what was broken by hand", callsAccepted(), []fact.Fact{{Kind: fact.FactDisturbed, Text: "break-wiring"}, call(0, "linux_route_del of eth0: does not exist", "")}, ""},
		{"for want of a namespace", callsAccepted(), []fact.Fact{answered, call(0, "linux_route_set of eth0: no such network namespace", netns)}, ""},
		{"of an earlier boot", callsAccepted(), []fact.Fact{answered, crashed, call(0, "linux_route_set of eth0: no such network namespace", netns)}, "ended with an earlier boot of node-1"},
		{"a link that went with its namespace", callsAccepted(), []fact.Fact{{Kind: fact.FactSandboxGone, Node: node, Owner: web}, call(time.Second, "linux_link_del of veth vd1: does not exist", "")}, ""},
		{"long after", callsAccepted(), []fact.Fact{{Kind: fact.FactSandboxGone, Node: node, Owner: web}, call(time.Hour, "linux_link_del of veth vd1: does not exist", "")}, "nothing explains"},
		{"a route behind its gateway's", callsAccepted(), []fact.Fact{call(0, "linux_route_set of 0.0.0.0/0: a route to its gateway 10.1.1.1 does not exist", "")}, ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}

// Goal: pods-served looks at what is free. Method: one node, of which one number is changed at a time.
func TestServed(t *testing.T) {
	block := netip.MustParsePrefix("10.1.1.0/30")
	lease := func(last byte) ipam.Lease { return ipam.Lease{Addr: netip.AddrFrom4([4]byte{10, 1, 1, last})} }
	full := func() fact.NodeState {
		leases := []ipam.Lease{lease(2), lease(3)}
		return fact.NodeState{Name: "node-1", MachineUp: true, AgentUp: true, ID: 1, Waiting: 1, Blocks: []ipam.Block{{Prefix: block, Gateway: lease(1).Addr}},
			Reserved: []netip.Addr{lease(0).Addr}, Leases: func() iter.Seq[ipam.Lease] { return slices.Values(leases) }}
	}
	for _, tc := range []struct {
		name   string
		law    fact.Law
		change func(n *fact.NodeState)
		want   string
	}{
		{"full", podsServed(), func(*fact.NodeState) {}, ""},
		{"a free address", podsServed(), func(n *fact.NodeState) {
			n.Leases = func() iter.Seq[ipam.Lease] { return slices.Values([]ipam.Lease{lease(2)}) }
		}, "10.1.1.3 is nobody's"},
		{"a resting address", podsServed(), func(n *fact.NodeState) {
			n.Leases = func() iter.Seq[ipam.Lease] { return slices.Values([]ipam.Lease{lease(2)}) }
			n.Resting = []netip.Addr{lease(3).Addr}
		}, ""},
		{"nobody waits", podsServed(), func(n *fact.NodeState) { n.Waiting, n.Reserved = 0, nil }, ""},
		{"a draining block", podsServed(), func(n *fact.NodeState) { n.Blocks[0].Draining, n.Reserved = true, nil }, ""},
	} {
		n := full()
		tc.change(&n)
		_, err := tc.law.Check(fact.Snapshot{Settled: true, Nodes: []fact.NodeState{n}})
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v: want %q", tc.name, err, tc.want)
		}
	}
}
