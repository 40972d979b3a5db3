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

// Goal: told-is-saved, one-sandbox, requests-answered, stays-quiet and calls-accepted break by what they are about,
// name it, and stay silent where it is right. Method: short histories; the last fact breaks the law or does not.
func TestAnswersAndCalls(t *testing.T) {
	const node, netns = "node-1", "/run/netns/web"
	web, next := ipam.Owner{ContainerID: "web"}, ipam.Owner{ContainerID: "next"}
	a, b := netip.MustParseAddr("10.1.1.5"), netip.MustParseAddr("10.1.1.6")
	asked := func(o ipam.Owner, uid string, at time.Duration) fact.Fact {
		return fact.Fact{At: at, Node: node, What: fact.Asked{Owner: o, Pod: "default/web", PodUID: uid, Command: fact.AskedAdd}}
	}
	leased := func(o ipam.Owner, addr netip.Addr) fact.Fact {
		return fact.Fact{Node: node, What: fact.Leased{Owner: o, Addr: addr}}
	}
	refused := func(at, patience time.Duration) fact.Fact {
		return fact.Fact{At: at, Node: node, What: fact.Refused{Owner: web, Wait: patience, Why: "VPP says no"}}
	}
	answered := fact.Fact{Node: node, What: fact.Answered{Owner: web, Addr: a, Netns: netns}}
	deleted := fact.Fact{Node: node, What: fact.Deleted{Owner: web}}
	saved := func(addr netip.Addr) fact.Fact {
		return fact.Fact{Node: node, What: fact.SavedLease{Owner: web, Addr: addr}}
	}
	call := func(at time.Duration, text, netns string) fact.Fact {
		return fact.Fact{At: at, Node: node, What: fact.CallRefused{Call: text, Netns: netns, Calm: true}}
	}
	inNetns := fact.Fact{Node: node, What: fact.Asked{Owner: web, Pod: "default/web", PodUID: "1", Netns: netns, Command: fact.AskedAdd}}
	one, two := ipam.Block{Prefix: netip.MustParsePrefix("10.1.0.0/28")}, ipam.Block{Prefix: netip.MustParsePrefix("10.1.0.16/28")}
	given := func(blocks ...ipam.Block) fact.Fact {
		return fact.Fact{Node: node, What: fact.Assigned{Blocks: blocks}}
	}
	uses := func(blocks ...ipam.Block) fact.Fact {
		return fact.Fact{Node: node, What: fact.NodeBlocks{Blocks: blocks}}
	}
	crashed := fact.Fact{Node: node, What: fact.NodeGone{}}
	drains := ipam.Block{Prefix: netip.MustParsePrefix("10.1.1.0/28"), Draining: true}
	around := ipam.Block{Prefix: netip.MustParsePrefix("10.1.0.0/16")}
	later := func(at time.Duration, f fact.Fact) fact.Fact {
		f.At = at
		return f
	}
	asks := fact.Fact{Node: node, What: fact.Asked{Owner: web, Command: fact.AskedAdd, Wanted: []netip.Addr{b, netip.MustParseAddr("fd00::6")}}}
	got := func(o ipam.Owner, addr string) fact.Fact {
		return fact.Fact{Node: node, What: fact.Answered{Owner: o, Pod: "default/web", Addr: netip.MustParseAddr(addr)}}
	}
	for _, tc := range []watched{
		{"another address than the pod asks for", addressAsAsked(), []fact.Fact{asks, answered}, "asks for 10.1.1.6, and its ADD was answered with 10.1.1.5"},
		{"another one of the second family", addressAsAsked(), []fact.Fact{asks, got(web, "10.1.1.6"), got(web.Second(), "fd00::7")}, "asks for fd00::6"},
		{"what the pod asks for", addressAsAsked(), []fact.Fact{asks, refused(0, 0), got(web, "10.1.1.6"), got(web.Second(), "fd00::6")}, ""},
		{"a later sandbox that asks for none", addressAsAsked(), []fact.Fact{asks, refused(0, 0), {Node: node, What: fact.SandboxGone{Owner: web}}, answered}, ""},
		{"an answer before its lease is saved", toldIsSaved(), []fact.Fact{answered}, "is answered with 10.1.1.5, but its lease is not on disk"},
		{"an answer with another address", toldIsSaved(), []fact.Fact{saved(b), answered}, "is answered with 10.1.1.5, but its lease on disk is 10.1.1.6"},
		{"an ID before it is saved", toldIsSaved(), []fact.Fact{{Node: node, What: fact.NodeID{ID: 3}}}, "acts on node ID 3, which is not on disk"},
		{"a DEL before the release is saved", toldIsSaved(), []fact.Fact{saved(a), deleted}, "its lease of 10.1.1.5 is still on disk"},
		{"a DEL behind its release", toldIsSaved(), []fact.Fact{saved(a), {Node: node, What: fact.SavedRelease{Owner: web, Addr: a}}, deleted}, ""},
		{"a journal written anew without it", toldIsSaved(), []fact.Fact{saved(a), {Node: node, What: fact.SavedAll{}}, answered}, "its lease is not on disk"},
		{"what is saved", toldIsSaved(), []fact.Fact{saved(a), answered, {Node: node, What: fact.SavedNodeID{ID: 3}},
			{Node: node, What: fact.NodeID{ID: 3}}}, ""},

		{"two sandboxes of a pod", oneSandbox(), []fact.Fact{asked(web, "1", 0), leased(web, a), asked(next, "1", 0), leased(next, b)}, "still holds its address"},
		{"after a restart", oneSandbox(), []fact.Fact{asked(web, "1", 0), {Node: node, What: fact.AgentUp{Leases: []ipam.Lease{{Owner: web, Addr: a}}}},
			asked(next, "1", 0), leased(next, b)}, "still holds its address"},
		{"one after the other", oneSandbox(), []fact.Fact{asked(web, "1", 0), leased(web, a), asked(next, "1", 0),
			{Node: node, What: fact.Released{Owner: web, Addr: a}}, leased(next, b)}, ""},
		{"of another pod of the same name", oneSandbox(), []fact.Fact{asked(web, "1", 0), leased(web, a), asked(next, "2", 0), leased(next, b)}, ""},

		{"given up early", requestsAnswered(), []fact.Fact{asked(web, "1", 0), refused(time.Second, 30*time.Second)}, "was refused after 1s (VPP says no), but it should wait 30s"},
		{"given up in time", requestsAnswered(), []fact.Fact{asked(web, "1", 0), refused(31*time.Second, 30*time.Second)}, ""},
		{"asked again by the same plugin", requestsAnswered(), []fact.Fact{asked(web, "1", 0), asked(web, "1", 20*time.Second), refused(31*time.Second, 30*time.Second)}, ""},
		{"refused for something else", requestsAnswered(), []fact.Fact{asked(web, "1", 0), refused(time.Second, 0)}, ""},
		{"its namespace is gone", requestsAnswered(), []fact.Fact{inNetns, call(time.Second, "no such network namespace", netns), refused(31*time.Second, 30*time.Second)}, "30s after a call had shown that its namespace is gone"},
		{"and said so at once", requestsAnswered(), []fact.Fact{inNetns, call(time.Second, "no such network namespace", netns), refused(2*time.Second, 0)}, ""},
		{"its namespace is gone and the agent ended", requestsAnswered(), []fact.Fact{inNetns, call(time.Second, "no such network namespace", netns), refused(31*time.Second, 0)}, ""},
		{"another's namespace is gone", requestsAnswered(), []fact.Fact{inNetns, call(time.Second, "no such network namespace", "/other"), refused(31*time.Second, 0)}, ""},
		{"answered late", requestsAnswered(), []fact.Fact{{Node: node, What: fact.Slow{Owner: web, Command: "Check", Took: 10 * time.Second}}}, "the Check of"},
		{"answered at the second try", requestsAnswered(), []fact.Fact{{Node: node, What: fact.Slow{Owner: web, Command: fact.AskedAdd, Took: time.Second}}}, ""},
		{"never answered", requestsAnswered(), []fact.Fact{{Node: node, What: fact.Abandoned{Owner: web, Command: "Del", Took: time.Minute}}}, "the Del of"},

		{"out of a draining block", leaseInRange(), []fact.Fact{uses(drains), later(time.Minute, leased(web, a))}, "which has been draining for 1m0s"},
		{"out of a block that has just begun to drain", leaseInRange(), []fact.Fact{later(time.Minute, uses(drains)), later(time.Minute, leased(web, a))}, ""},
		{"out of an active block around a draining one", leaseInRange(), []fact.Fact{uses(around, drains), later(time.Minute, leased(web, a))}, ""},

		{"a block taken back in use", grantsUsed(), []fact.Fact{given(one, two), uses(one, two), given(one)}, "10.1.0.16/28 is taken back while node-1 still allocates"},
		{"taken back when dropped", grantsUsed(), []fact.Fact{given(one, two), uses(one, two), uses(one), given(one)}, ""},
		{"taken back piece by piece of a node that has left", grantsUsed(), []fact.Fact{given(one, two), uses(one, two),
			{Node: node, What: fact.NodeGone{Left: true}}, given(one)}, ""},
		{"taken back of a node that lies still", grantsUsed(), []fact.Fact{given(one, two), uses(one, two), {Node: node, What: fact.NodeGone{}}, given(one)}, "is taken back while"},
		{"a node that has left", grantsUsed(), []fact.Fact{given(one, two), uses(one, two), given()}, ""},

		{"a call in quiet", staysQuiet(), []fact.Fact{{What: fact.Quiet{}}, {At: time.Second, Node: node, What: fact.VPPWrite{Call: "ip_route_add_del_v2"}}}, "although it had nothing pending"},
		{"a call for a pod in quiet", staysQuiet(), []fact.Fact{{What: fact.Quiet{}}, asked(web, "1", time.Second), {At: 2 * time.Second, Node: node, What: fact.VPPWrite{Call: "tap_create_v3"}}}, ""},
		{"a call before", staysQuiet(), []fact.Fact{{Node: node, What: fact.VPPWrite{Call: "tap_create_v3"}}, {What: fact.Quiet{}}}, ""},

		{"a call refused for nothing", callsAccepted(), []fact.Fact{call(0, "ip_route_add_del_v2 of route 10.1.1.5/32: no such entry", "")}, "nothing explains the refusal"},
		{"by what was broken by hand", callsAccepted(), []fact.Fact{{What: fact.Disturbed{By: "break-wiring"}}, call(0, "linux_route_del of eth0: does not exist", "")}, ""},
		{"for want of a namespace", callsAccepted(), []fact.Fact{answered, call(0, "linux_route_set of eth0: no such network namespace", netns)}, ""},
		{"of an earlier boot", callsAccepted(), []fact.Fact{answered, crashed, call(0, "linux_route_set of eth0: no such network namespace", netns)}, "ended with an earlier boot of node-1"},
		{"a link that went with its namespace", callsAccepted(), []fact.Fact{{Node: node, What: fact.SandboxGone{Owner: web}}, call(time.Second, "linux_link_del of veth vd1: does not exist", "")}, ""},
		{"long after", callsAccepted(), []fact.Fact{{Node: node, What: fact.SandboxGone{Owner: web}}, call(time.Hour, "linux_link_del of veth vd1: does not exist", "")}, "nothing explains"},
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
		}, "10.1.1.3 is free"},
		{"a resting address", podsServed(), func(n *fact.NodeState) {
			n.Leases = func() iter.Seq[ipam.Lease] { return slices.Values([]ipam.Lease{lease(2)}) }
			n.Resting = []netip.Addr{lease(3).Addr}
		}, ""},
		{"no pod waits", podsServed(), func(n *fact.NodeState) { n.Waiting, n.Reserved = 0, nil }, ""},
		{"the address that a pod asks for", podsServed(), func(n *fact.NodeState) {
			n.Waiting, n.WaitingFor, n.Reserved = 0, [][]netip.Addr{{lease(0).Addr}}, nil
		}, "waits for [10.1.1.0]"},
		{"a taken address that a pod asks for", podsServed(), func(n *fact.NodeState) {
			n.Waiting, n.WaitingFor, n.Reserved = 0, [][]netip.Addr{{lease(3).Addr}, {lease(1).Addr}, {lease(9).Addr}}, nil
		}, ""},
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
