package check

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

func addrs(list ...string) (out []netip.Addr) {
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// Goal: stays-wired breaks when something of a living pod, peer or of the node itself is taken away or replaced, names whose it
// was, and stays silent where a fact is the cause. Method: two nodes with a pod; each case tells what came before and one removal.
func TestStaysWired(t *testing.T) {
	web := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}
	pod, block := netip.MustParseAddr("10.1.1.2"), netip.MustParsePrefix("10.1.2.0/24")
	start := []scenarios.Fact{
		{Kind: scenarios.FactAddressed, Node: "node-1", Addrs: addrs("192.168.16.1", "192.168.30.1", "172.30.1.1")},
		{Kind: scenarios.FactBlocks, Node: "node-1", Blocks: []ipam.Block{{Prefix: netip.MustParsePrefix("10.1.1.0/24"), Gateway: netip.MustParseAddr("10.1.1.1")}}},
		{Kind: scenarios.FactAddressed, Node: "node-2", Addrs: addrs("192.168.16.2", "192.168.30.2", "172.30.2.1")},
		{Kind: scenarios.FactBlocks, Node: "node-2", Blocks: []ipam.Block{{Prefix: block}}},
		{Kind: scenarios.FactAnswered, Node: "node-1", Owner: web, Pod: "default/web", Addr: pod, Netns: "/run/netns/c1"},
		{Kind: scenarios.FactRecord, Node: "node-2", Record: &scenarios.RecordChange{ID: 2, After: scenarios.NodeRecord{Name: "node-2", UID: "u2"}, Blocks: []netip.Prefix{block}}},
	}
	podRoute := scenarios.Removal{What: scenarios.RemovedRoute, Table: 1, Prefix: netip.PrefixFrom(pod, 32)}
	podTap := scenarios.Removal{What: scenarios.RemovedInterface, Name: "tap1", Netns: "/run/netns/c1"}
	tunnel := scenarios.Removal{What: scenarios.RemovedTunnel, Name: "vxlan_tunnel2", Addr: netip.MustParseAddr("192.168.16.2")}
	blockRoute := scenarios.Removal{What: scenarios.RemovedRoute, Table: 1, Prefix: block}
	moved := scenarios.Fact{Kind: scenarios.FactAddressed, Node: "node-1", Addrs: addrs("192.168.16.77", "192.168.30.1", "172.30.1.1")}
	movedAgain := scenarios.Fact{Kind: scenarios.FactAddressed, Node: "node-1", Addrs: addrs("192.168.16.78", "192.168.30.1", "172.30.1.1")}
	movedBefore := moved
	movedBefore.At = -time.Minute
	movedAgainBefore := movedAgain
	movedAgainBefore.At = -time.Minute
	away := scenarios.Fact{Kind: scenarios.FactBlocks, Node: "node-2"}
	newcomer := scenarios.Fact{Kind: scenarios.FactAddressed, At: 2 * time.Second, Node: "node-3", Addrs: addrs("192.168.16.3", "192.168.30.3", "172.30.3.1")}
	again := scenarios.Fact{Kind: scenarios.FactBlocks, At: 2 * time.Second, Node: "node-2", Blocks: []ipam.Block{{Prefix: block}, {Prefix: netip.MustParsePrefix("10.1.5.0/24")}}}
	toAndFro := []scenarios.Fact{away, start[3], away, start[3]}
	record := start[5].Record.After
	tells := scenarios.Fact{Kind: scenarios.FactRecord, Node: "node-2", Record: &scenarios.RecordChange{ID: 2, Before: record, After: record}}
	late := tells
	late.At = newsLate
	tellsAnew, tellsOther, releases := tells, tells, tells
	tellsAnew.Record = &scenarios.RecordChange{ID: 2, After: record}
	tellsOther.Record = &scenarios.RecordChange{ID: 2, Before: record, After: scenarios.NodeRecord{Name: "node-2", UID: "u9"}}
	releases.Record = &scenarios.RecordChange{ID: 2, Before: record, After: scenarios.NodeRecord{Name: "node-2", UID: "u2", Released: true}}
	early := netip.MustParsePrefix("10.1.3.0/28")
	up := scenarios.Fact{Kind: scenarios.FactAgentUp, Node: "node-2"}
	untaken := []scenarios.Fact{up, up, {Kind: scenarios.FactBlocks, Node: "node-2", Blocks: []ipam.Block{{Prefix: block}, {Prefix: early}}}}
	earlyRoute := scenarios.Removal{What: scenarios.RemovedRoute, Table: 1, Prefix: early}
	longAgo := slices.Clone(toAndFro)
	for i := range longAgo {
		longAgo[i].At = -time.Minute
	}
	ranges := scenarios.Fact{Kind: scenarios.FactDisturbed, Text: "change-cidr"}
	// node-4 leases an address, tells it, and begins with another one.
	leases := func(addr string) scenarios.Fact {
		c := &scenarios.RecordChange{ID: 4, After: scenarios.NodeRecord{Name: "node-4", UID: "u4"}, Address: netip.MustParseAddr(addr)}
		return scenarios.Fact{Kind: scenarios.FactRecord, Node: "node-4", Record: c}
	}
	begins := scenarios.Fact{Kind: scenarios.FactAddressed, Node: "node-4", Addrs: addrs("192.168.16.8", "10.20.0.4")}
	hostRoute := scenarios.Removal{What: scenarios.RemovedRoute, Prefix: netip.MustParsePrefix("10.20.0.4/32"), Replaced: true}
	rangesBefore := ranges
	rangesBefore.At = -time.Minute
	for _, tc := range []struct {
		name   string
		before []scenarios.Fact
		gone   []scenarios.Removal
		want   string
		took   time.Duration // the call
	}{
		{name: "route of a living pod", gone: []scenarios.Removal{podRoute}, want: "route 10.1.1.2/32 of table 1 () is taken from pod default/web"},
		{name: "its interface", gone: []scenarios.Removal{podTap}, want: "pod default/web"},
		{name: "its neighbor, by another MAC", gone: []scenarios.Removal{{What: scenarios.RemovedNeighbor, Addr: pod, Replaced: true}}, want: "is replaced under pod default/web"},
		{name: "after its DEL", before: []scenarios.Fact{{Kind: scenarios.FactAsked, Node: "node-1", Owner: web, Text: "Del"}}, gone: []scenarios.Removal{podRoute, podTap}},
		{name: "after another pod's DEL", before: []scenarios.Fact{{Kind: scenarios.FactAsked, Node: "node-1", Owner: ipam.Owner{ContainerID: "c2"}, Text: "Del"}},
			gone: []scenarios.Removal{podRoute}, want: "nobody asked for its DEL"},
		{name: "after a GC", before: []scenarios.Fact{{Kind: scenarios.FactAsked, Node: "node-1", Text: "GC"}}, gone: []scenarios.Removal{podRoute}},
		{name: "tunnel to a living peer", gone: []scenarios.Removal{tunnel}, want: "is taken from node-2"},
		{name: "route to its block", gone: []scenarios.Removal{blockRoute}, want: "is taken from node-2"},
		{name: "neighbor of its BVI", gone: []scenarios.Removal{{What: scenarios.RemovedNeighbor, Addr: netip.MustParseAddr("192.168.30.2")}}, want: "node-2"},
		{name: "after the peer left", before: []scenarios.Fact{{Kind: scenarios.FactNodeGone, Node: "node-2", Text: scenarios.NodeLeft}},
			gone: []scenarios.Removal{tunnel, blockRoute}},
		{name: "once after another node came in its place", before: []scenarios.Fact{{Kind: scenarios.FactNodeGone, Node: "node-2", Text: scenarios.NodeLeft}, start[2]},
			gone: []scenarios.Removal{tunnel}},
		{name: "a block that the peer has not any more", before: []scenarios.Fact{{Kind: scenarios.FactBlocks, Node: "node-2"}}, gone: []scenarios.Removal{blockRoute}},
		{name: "twice after the block went to and fro twice, by a node that hears late", before: toAndFro, gone: []scenarios.Removal{blockRoute, blockRoute}},
		{name: "thrice after it", before: toAndFro, gone: []scenarios.Removal{blockRoute, blockRoute, blockRoute}, want: "is taken from node-2"},
		{name: "once after the peer's record dropped the block, which it took later", before: []scenarios.Fact{tells}, gone: []scenarios.Removal{blockRoute}},
		{name: "twice after that", before: []scenarios.Fact{tells}, gone: []scenarios.Removal{blockRoute, blockRoute}, want: "is taken from node-2"},
		{name: "twice where the record and what the node takes tell of one leaving", before: []scenarios.Fact{tells, away, start[3]},
			gone: []scenarios.Removal{blockRoute, blockRoute}, want: "is taken from node-2"},
		{name: "twice where the node takes before its record tells", before: []scenarios.Fact{away, tells, start[3]},
			gone: []scenarios.Removal{blockRoute, blockRoute}, want: "is taken from node-2"},
		{name: "twice where they tell of two", before: []scenarios.Fact{away, start[3], late}, gone: []scenarios.Removal{blockRoute, blockRoute}},
		{name: "once after the peer's record was written anew without the block, as the store had lost it", before: []scenarios.Fact{tellsAnew}, gone: []scenarios.Removal{blockRoute}},
		{name: "after a record that was written anew with the block", before: []scenarios.Fact{start[5]}, gone: []scenarios.Removal{blockRoute}, want: "is taken from node-2"},
		{name: "after the record of another node of the peer's name", before: []scenarios.Fact{tellsOther}, gone: []scenarios.Removal{blockRoute}, want: "is taken from node-2"},
		{name: "after the peer's record was released", before: []scenarios.Fact{releases}, gone: []scenarios.Removal{blockRoute}, want: "is taken from node-2"},
		{name: "once after the peer's agent may have died before it took a block", before: untaken, gone: []scenarios.Removal{earlyRoute}},
		{name: "twice after that", before: untaken, gone: []scenarios.Removal{earlyRoute, earlyRoute}, want: "is taken from node-2"},
		{name: "after it took one in its first life", before: untaken[1:], gone: []scenarios.Removal{earlyRoute}, want: "is taken from node-2"},
		{name: "what it had taken by then", before: untaken, gone: []scenarios.Removal{blockRoute}, want: "is taken from node-2"},
		{name: "once where that was long ago", before: longAgo, gone: []scenarios.Removal{blockRoute}},
		{name: "twice where that was long ago", before: longAgo, gone: []scenarios.Removal{blockRoute, blockRoute}, want: "is taken from node-2"},
		{name: "once after the node's own move", before: []scenarios.Fact{moved}, gone: []scenarios.Removal{tunnel}},
		{name: "twice after it", before: []scenarios.Fact{moved}, gone: []scenarios.Removal{tunnel, tunnel}, want: "is taken from node-2"},
		{name: "twice after two moves, by a node that hears late", before: []scenarios.Fact{moved, movedAgain}, gone: []scenarios.Removal{tunnel, tunnel}},
		{name: "thrice after them", before: []scenarios.Fact{moved, movedAgain}, gone: []scenarios.Removal{tunnel, tunnel, tunnel}, want: "is taken from node-2"},
		{name: "once where they were long ago", before: []scenarios.Fact{movedBefore, movedAgainBefore}, gone: []scenarios.Removal{tunnel}},
		{name: "twice where they were long ago", before: []scenarios.Fact{movedBefore, movedAgainBefore}, gone: []scenarios.Removal{tunnel, tunnel}, want: "is taken from node-2"},
		{name: "once after a peer began with another address than its record had told", before: []scenarios.Fact{leases("192.168.16.7"), begins}, gone: []scenarios.Removal{hostRoute}},
		{name: "twice after it", before: []scenarios.Fact{leases("192.168.16.7"), begins}, gone: []scenarios.Removal{hostRoute, hostRoute}, want: "is replaced under node-4"},
		{name: "once after its record told another one before it began", before: []scenarios.Fact{leases("192.168.16.7"), leases("192.168.16.8"), begins}, gone: []scenarios.Removal{hostRoute}},
		{name: "twice after that", before: []scenarios.Fact{leases("192.168.16.7"), leases("192.168.16.8"), begins}, gone: []scenarios.Removal{hostRoute, hostRoute}, want: "is replaced under node-4"},
		{name: "twice where it told so behind its beginning", before: []scenarios.Fact{leases("192.168.16.7"), begins, leases("192.168.16.8")}, gone: []scenarios.Removal{hostRoute, hostRoute}, want: "is replaced under node-4"},
		{name: "after it began with what its record had told", before: []scenarios.Fact{leases("192.168.16.8"), begins}, gone: []scenarios.Removal{hostRoute}, want: "is replaced under node-4"},
		{name: "told late, of who had the address before", before: []scenarios.Fact{newcomer}, gone: []scenarios.Removal{{What: scenarios.RemovedTunnel, Name: "vxlan_tunnel3", Addr: netip.MustParseAddr("192.168.16.3")}}},
		{name: "told late, of who has had the address all along", before: []scenarios.Fact{again}, gone: []scenarios.Removal{tunnel}, want: "is taken from node-2"},
		{name: "route to a block after the ranges changed", before: []scenarios.Fact{ranges}, gone: []scenarios.Removal{blockRoute}},
		{name: "twice after that", before: []scenarios.Fact{ranges}, gone: []scenarios.Removal{blockRoute, blockRoute}, want: "is taken from node-2"},
		{name: "twice after they changed twice, by a node that hears late", before: []scenarios.Fact{ranges, ranges}, gone: []scenarios.Removal{blockRoute, blockRoute}},
		{name: "thrice after they changed twice", before: []scenarios.Fact{ranges, ranges}, gone: []scenarios.Removal{blockRoute, blockRoute, blockRoute}, want: "is taken from node-2"},
		{name: "once where they changed twice long ago", before: []scenarios.Fact{rangesBefore, rangesBefore}, gone: []scenarios.Removal{blockRoute}},
		{name: "twice where they changed twice long ago", before: []scenarios.Fact{rangesBefore, rangesBefore}, gone: []scenarios.Removal{blockRoute, blockRoute}, want: "is taken from node-2"},
		{name: "tunnel after the ranges changed", before: []scenarios.Fact{ranges}, gone: []scenarios.Removal{tunnel}, want: "node-2"},
		{name: "the node's own address", gone: []scenarios.Removal{{What: scenarios.RemovedAddress, Name: "loop1", Prefix: netip.MustParsePrefix("192.168.16.1/24")}},
			want: "node-1 itself"},
		{name: "the pods' gateway", gone: []scenarios.Removal{{What: scenarios.RemovedAddress, Name: "loop2", Prefix: netip.MustParsePrefix("10.1.1.1/24")}}, want: "node-1 itself"},
		{name: "the pods' gateway, which came back while the call was under way", took: time.Second / 2, before: []scenarios.Fact{
			{Kind: scenarios.FactBlocks, Node: "node-1"}, {Kind: scenarios.FactBlocks, At: 600 * time.Millisecond, Node: "node-1", Blocks: start[1].Blocks}},
			gone: []scenarios.Removal{{What: scenarios.RemovedAddress, Name: "loop2", Prefix: netip.MustParsePrefix("10.1.1.1/24")}}},
		{name: "the pods' gateway, which had come back before", took: time.Second / 2, before: []scenarios.Fact{
			{Kind: scenarios.FactBlocks, Node: "node-1"}, {Kind: scenarios.FactBlocks, At: 400 * time.Millisecond, Node: "node-1", Blocks: start[1].Blocks}},
			gone: []scenarios.Removal{{What: scenarios.RemovedAddress, Name: "loop2", Prefix: netip.MustParsePrefix("10.1.1.1/24")}}, want: "node-1 itself"},
		{name: "the BVI", gone: []scenarios.Removal{{What: scenarios.RemovedInterface, Name: "loop0", Addrs: []netip.Prefix{netip.MustParsePrefix("192.168.30.1/24")}}},
			want: "still has its address 192.168.30.1"},
		{name: "the pod table", gone: []scenarios.Removal{{What: scenarios.RemovedTable, Table: 1}}, want: "node-1 itself"},
		{name: "what is nobody's", gone: []scenarios.Removal{{What: scenarios.RemovedRoute, Prefix: netip.MustParsePrefix("10.9.9.9/32")},
			{What: scenarios.RemovedInterface, Name: "tap9", Netns: "/run/netns/left"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := staysWired().Watch()
			for _, f := range append(append([]scenarios.Fact{}, start...), tc.before...) {
				if err := w.Observe(&f); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			for i := range tc.gone {
				if err != nil {
					t.Fatalf("too early: %v", err)
				}
				err = w.Observe(&scenarios.Fact{Kind: scenarios.FactRemoved, At: time.Second, Node: "node-1", Removal: &tc.gone[i], Rest: tc.took})
			}
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%v: want %q", err, tc.want)
			}
			if w.Checks() != int64(len(tc.gone)) {
				t.Errorf("%d occasions", w.Checks())
			}
		})
	}
}

// Goal: the mapping of a service that keeps its endpoints goes twice at most, as the service may have been another one before, and freely where
// clients get none. Method: short histories; the last fact breaks the law or does not.
func TestStaysMapped(t *testing.T) {
	at := netip.MustParseAddr("10.96.0.10")
	front := func(kind scenarios.FactKind, proto scenarios.Protocol) scenarios.Fact {
		return scenarios.Fact{Kind: kind, Addr: at, Number: 80, Text: string(proto)}
	}
	served, unserved := front(scenarios.FactServed, scenarios.TCP), front(scenarios.FactUnserved, scenarios.TCP)
	gone := scenarios.Fact{Kind: scenarios.FactRemoved, Node: "node-1", Removal: &scenarios.Removal{What: scenarios.RemovedMapping, Call: "del", Addr: at, Port: 80, Proto: protoTCP}}
	kept, later := served, gone
	kept.Kept, later.At = true, newsLate
	for _, tc := range []watched{
		{"three times, and nothing happened", staysWired(), []scenarios.Fact{served, gone, gone, gone}, "NAT mapping of 10.96.0.10:80 (del) is taken from a service"},
		{"three times, after news came late", staysWired(), []scenarios.Fact{{Kind: scenarios.FactDisturbed, Text: "gap-watch"}, served, gone, gone, gone, gone}, ""},
		{"five times, after news came late", staysWired(), []scenarios.Fact{{Kind: scenarios.FactDisturbed, Text: "gap-watch"}, served, gone, gone, gone, gone, gone}, "NAT mapping of 10.96.0.10:80 (del) is taken from a service"},
		{"of one that had affinity until now", staysWired(), []scenarios.Fact{kept, gone, gone, gone}, ""},
		{"of one that had affinity long ago", staysWired(), []scenarios.Fact{kept, later, later, later}, "NAT mapping of 10.96.0.10:80 (del) is taken from a service"},
		{"of another protocol", staysWired(), []scenarios.Fact{front(scenarios.FactServed, scenarios.UDP), gone, gone}, ""},
		{"without endpoints", staysWired(), []scenarios.Fact{served, unserved, gone, gone}, ""},
		{"of a service that was another one", staysWired(), []scenarios.Fact{served, gone, unserved, served, gone}, ""},
		{"of no service", staysWired(), []scenarios.Fact{gone, gone}, ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}
