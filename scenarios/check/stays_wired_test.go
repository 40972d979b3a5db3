package check

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

func addrs(list ...string) (out []netip.Addr) {
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// Goal: stays-wired breaks when something of a living pod, peer or of the node itself is taken away or replaced, names
// whose it was, and stays silent where a fact is the cause. Method: two nodes with a pod; each case tells what came
// before and one removal.
func TestStaysWired(t *testing.T) {
	web := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}
	pod, block := netip.MustParseAddr("10.1.1.2"), netip.MustParsePrefix("10.1.2.0/24")
	own := fact.NodeBlocks{Blocks: []ipam.Block{{Prefix: netip.MustParsePrefix("10.1.1.0/24"), Gateway: netip.MustParseAddr("10.1.1.1")}}}
	record := fact.NodeRecord{Name: "node-2", UID: "u2"}
	start := []fact.Fact{
		{Node: "node-1", What: fact.Addressed{Addrs: addrs("192.168.16.1", "192.168.30.1", "172.30.1.1")}},
		{Node: "node-1", What: own},
		{Node: "node-2", What: fact.Addressed{Addrs: addrs("192.168.16.2", "192.168.30.2", "172.30.2.1")}},
		{Node: "node-2", What: fact.NodeBlocks{Blocks: []ipam.Block{{Prefix: block}}}},
		{Node: "node-1", What: fact.Answered{Owner: web, Pod: "default/web", Addr: pod, Netns: "/run/netns/c1"}},
		{Node: "node-2", What: fact.RecordChange{ID: 2, After: record, Blocks: []netip.Prefix{block}}},
	}
	podRoute := fact.Removal{What: fact.RemovedRoute, Table: 1, Prefix: netip.PrefixFrom(pod, 32)}
	podTap := fact.Removal{What: fact.RemovedInterface, Name: "tap1", Netns: "/run/netns/c1"}
	tunnel := fact.Removal{What: fact.RemovedTunnel, Name: "vxlan_tunnel2", Addr: netip.MustParseAddr("192.168.16.2")}
	blockRoute := fact.Removal{What: fact.RemovedRoute, Table: 1, Prefix: block}
	moved := fact.Fact{Node: "node-1", What: fact.Addressed{Addrs: addrs("192.168.16.77", "192.168.30.1", "172.30.1.1")}}
	movedAgain := fact.Fact{Node: "node-1", What: fact.Addressed{Addrs: addrs("192.168.16.78", "192.168.30.1", "172.30.1.1")}}
	movedBefore := moved
	movedBefore.At = -time.Minute
	movedAgainBefore := movedAgain
	movedAgainBefore.At = -time.Minute
	away := fact.Fact{Node: "node-2", What: fact.NodeBlocks{}}
	newcomer := fact.Fact{At: 2 * time.Second, Node: "node-3", What: fact.Addressed{Addrs: addrs("192.168.16.3", "192.168.30.3", "172.30.3.1")}}
	again := fact.Fact{At: 2 * time.Second, Node: "node-2", What: fact.NodeBlocks{Blocks: []ipam.Block{{Prefix: block}, {Prefix: netip.MustParsePrefix("10.1.5.0/24")}}}}
	toAndFro := []fact.Fact{away, start[3], away, start[3]}
	rewrites := func(before, after fact.NodeRecord) fact.Fact {
		return fact.Fact{Node: "node-2", What: fact.RecordChange{ID: 2, Before: before, After: after}}
	}
	tells, tellsAnew := rewrites(record, record), rewrites(fact.NodeRecord{}, record)
	tellsOther := rewrites(record, fact.NodeRecord{Name: "node-2", UID: "u9"})
	releases := rewrites(record, fact.NodeRecord{Name: "node-2", UID: "u2", Released: true})
	late := tells
	late.At = newsLate
	early := netip.MustParsePrefix("10.1.3.0/28")
	up := fact.Fact{Node: "node-2", What: fact.AgentUp{}}
	untaken := []fact.Fact{up, up, {Node: "node-2", What: fact.NodeBlocks{Blocks: []ipam.Block{{Prefix: block}, {Prefix: early}}}}}
	earlyRoute := fact.Removal{What: fact.RemovedRoute, Table: 1, Prefix: early}
	longAgo := slices.Clone(toAndFro)
	for i := range longAgo {
		longAgo[i].At = -time.Minute
	}
	ranges := fact.Fact{What: fact.Disturbed{By: "change-cidr"}}
	// node-4 leases an address, tells it, and begins with another one.
	leases := func(addr string) fact.Fact {
		after := fact.NodeRecord{Name: "node-4", UID: "u4"}
		return fact.Fact{Node: "node-4", What: fact.RecordChange{ID: 4, After: after, Address: netip.MustParseAddr(addr)}}
	}
	begins := fact.Fact{Node: "node-4", What: fact.Addressed{Addrs: addrs("192.168.16.8", "10.20.0.4")}}
	hostRoute := fact.Removal{What: fact.RemovedRoute, Prefix: netip.MustParsePrefix("10.20.0.4/32"), Replaced: true}
	rangesBefore := ranges
	rangesBefore.At = -time.Minute
	for _, tc := range []struct {
		name   string
		before []fact.Fact
		gone   []fact.Removal
		want   string
		took   time.Duration // the call
	}{
		{name: "route of a living pod", gone: []fact.Removal{podRoute}, want: "route 10.1.1.2/32 of table 1 () is removed from pod default/web"},
		{name: "its interface", gone: []fact.Removal{podTap}, want: "pod default/web"},
		{name: "its neighbor, by another MAC", gone: []fact.Removal{{What: fact.RemovedNeighbor, Addr: pod, Replaced: true}}, want: "is replaced under pod default/web"},
		{name: "after its DEL", before: []fact.Fact{{Node: "node-1", What: fact.Asked{Owner: web, Command: "Del"}}}, gone: []fact.Removal{podRoute, podTap}},
		{name: "after another pod's DEL", before: []fact.Fact{{Node: "node-1", What: fact.Asked{Owner: ipam.Owner{ContainerID: "c2"}, Command: "Del"}}},
			gone: []fact.Removal{podRoute}, want: "its DEL was not requested"},
		{name: "after a GC", before: []fact.Fact{{Node: "node-1", What: fact.Asked{Command: "GC"}}}, gone: []fact.Removal{podRoute}},
		{name: "tunnel to a living peer", gone: []fact.Removal{tunnel}, want: "is removed from node-2"},
		{name: "route to its block", gone: []fact.Removal{blockRoute}, want: "is removed from node-2"},
		{name: "neighbor of its BVI", gone: []fact.Removal{{What: fact.RemovedNeighbor, Addr: netip.MustParseAddr("192.168.30.2")}}, want: "node-2"},
		{name: "after the peer left", before: []fact.Fact{{Node: "node-2", What: fact.NodeGone{Left: true}}},
			gone: []fact.Removal{tunnel, blockRoute}},
		{name: "once after another node came in its place", before: []fact.Fact{{Node: "node-2", What: fact.NodeGone{Left: true}}, start[2]},
			gone: []fact.Removal{tunnel}},
		{name: "a block that the peer has not any more", before: []fact.Fact{{Node: "node-2", What: fact.NodeBlocks{}}}, gone: []fact.Removal{blockRoute}},
		{name: "twice after the block went to and fro twice, by a node that is notified late", before: toAndFro, gone: []fact.Removal{blockRoute, blockRoute}},
		{name: "thrice after it", before: toAndFro, gone: []fact.Removal{blockRoute, blockRoute, blockRoute}, want: "is removed from node-2"},
		{name: "once after the peer's record dropped the block, which it took later", before: []fact.Fact{tells}, gone: []fact.Removal{blockRoute}},
		{name: "twice after that", before: []fact.Fact{tells}, gone: []fact.Removal{blockRoute, blockRoute}, want: "is removed from node-2"},
		{name: "twice where the record and what the node takes tell of one leaving", before: []fact.Fact{tells, away, start[3]},
			gone: []fact.Removal{blockRoute, blockRoute}, want: "is removed from node-2"},
		{name: "twice where the node takes before its record tells", before: []fact.Fact{away, tells, start[3]},
			gone: []fact.Removal{blockRoute, blockRoute}, want: "is removed from node-2"},
		{name: "twice where they tell of two", before: []fact.Fact{away, start[3], late}, gone: []fact.Removal{blockRoute, blockRoute}},
		{name: "once after the peer's record was written anew without the block, as the store had lost it", before: []fact.Fact{tellsAnew}, gone: []fact.Removal{blockRoute}},
		{name: "after a record that was written anew with the block", before: []fact.Fact{start[5]}, gone: []fact.Removal{blockRoute}, want: "is removed from node-2"},
		{name: "after the record of another node of the peer's name", before: []fact.Fact{tellsOther}, gone: []fact.Removal{blockRoute}, want: "is removed from node-2"},
		{name: "after the peer's record was released", before: []fact.Fact{releases}, gone: []fact.Removal{blockRoute}, want: "is removed from node-2"},
		{name: "once after the peer's agent may have died before it took a block", before: untaken, gone: []fact.Removal{earlyRoute}},
		{name: "twice after that", before: untaken, gone: []fact.Removal{earlyRoute, earlyRoute}, want: "is removed from node-2"},
		{name: "after it took one in its first life", before: untaken[1:], gone: []fact.Removal{earlyRoute}, want: "is removed from node-2"},
		{name: "what it had taken by then", before: untaken, gone: []fact.Removal{blockRoute}, want: "is removed from node-2"},
		{name: "once where that was long ago", before: longAgo, gone: []fact.Removal{blockRoute}},
		{name: "twice where that was long ago", before: longAgo, gone: []fact.Removal{blockRoute, blockRoute}, want: "is removed from node-2"},
		{name: "once after the node's own move", before: []fact.Fact{moved}, gone: []fact.Removal{tunnel}},
		{name: "twice after it", before: []fact.Fact{moved}, gone: []fact.Removal{tunnel, tunnel}, want: "is removed from node-2"},
		{name: "twice after two moves, by a node that is notified late", before: []fact.Fact{moved, movedAgain}, gone: []fact.Removal{tunnel, tunnel}},
		{name: "thrice after them", before: []fact.Fact{moved, movedAgain}, gone: []fact.Removal{tunnel, tunnel, tunnel}, want: "is removed from node-2"},
		{name: "once where they were long ago", before: []fact.Fact{movedBefore, movedAgainBefore}, gone: []fact.Removal{tunnel}},
		{name: "twice where they were long ago", before: []fact.Fact{movedBefore, movedAgainBefore}, gone: []fact.Removal{tunnel, tunnel}, want: "is removed from node-2"},
		{name: "once after a peer began with another address than its record had told", before: []fact.Fact{leases("192.168.16.7"), begins}, gone: []fact.Removal{hostRoute}},
		{name: "twice after it", before: []fact.Fact{leases("192.168.16.7"), begins}, gone: []fact.Removal{hostRoute, hostRoute}, want: "is replaced under node-4"},
		{name: "once after its record told another one before it began", before: []fact.Fact{leases("192.168.16.7"), leases("192.168.16.8"), begins}, gone: []fact.Removal{hostRoute}},
		{name: "twice after that", before: []fact.Fact{leases("192.168.16.7"), leases("192.168.16.8"), begins}, gone: []fact.Removal{hostRoute, hostRoute}, want: "is replaced under node-4"},
		{name: "twice where it told so behind its beginning", before: []fact.Fact{leases("192.168.16.7"), begins, leases("192.168.16.8")}, gone: []fact.Removal{hostRoute, hostRoute}, want: "is replaced under node-4"},
		{name: "after it began with what its record had told", before: []fact.Fact{leases("192.168.16.8"), begins}, gone: []fact.Removal{hostRoute}, want: "is replaced under node-4"},
		{name: "told late, of who had the address before", before: []fact.Fact{newcomer}, gone: []fact.Removal{{What: fact.RemovedTunnel, Name: "vxlan_tunnel3", Addr: netip.MustParseAddr("192.168.16.3")}}},
		{name: "told late, of who has had the address all along", before: []fact.Fact{again}, gone: []fact.Removal{tunnel}, want: "is removed from node-2"},
		{name: "route to a block after the ranges changed", before: []fact.Fact{ranges}, gone: []fact.Removal{blockRoute}},
		{name: "twice after that", before: []fact.Fact{ranges}, gone: []fact.Removal{blockRoute, blockRoute}, want: "is removed from node-2"},
		{name: "twice after they changed twice, by a node that is notified late", before: []fact.Fact{ranges, ranges}, gone: []fact.Removal{blockRoute, blockRoute}},
		{name: "thrice after they changed twice", before: []fact.Fact{ranges, ranges}, gone: []fact.Removal{blockRoute, blockRoute, blockRoute}, want: "is removed from node-2"},
		{name: "once where they changed twice long ago", before: []fact.Fact{rangesBefore, rangesBefore}, gone: []fact.Removal{blockRoute}},
		{name: "twice where they changed twice long ago", before: []fact.Fact{rangesBefore, rangesBefore}, gone: []fact.Removal{blockRoute, blockRoute}, want: "is removed from node-2"},
		{name: "tunnel after the ranges changed", before: []fact.Fact{ranges}, gone: []fact.Removal{tunnel}, want: "node-2"},
		{name: "the node's own address", gone: []fact.Removal{{What: fact.RemovedAddress, Name: "loop1", Prefix: netip.MustParsePrefix("192.168.16.1/24")}},
			want: "node-1 itself"},
		{name: "the pods' gateway", gone: []fact.Removal{{What: fact.RemovedAddress, Name: "loop2", Prefix: netip.MustParsePrefix("10.1.1.1/24")}}, want: "node-1 itself"},
		{name: "the pods' gateway, which came back while the call was under way", took: time.Second / 2, before: []fact.Fact{
			{Node: "node-1", What: fact.NodeBlocks{}}, {At: 600 * time.Millisecond, Node: "node-1", What: own}},
			gone: []fact.Removal{{What: fact.RemovedAddress, Name: "loop2", Prefix: netip.MustParsePrefix("10.1.1.1/24")}}},
		{name: "the pods' gateway, which had come back before", took: time.Second / 2, before: []fact.Fact{
			{Node: "node-1", What: fact.NodeBlocks{}}, {At: 400 * time.Millisecond, Node: "node-1", What: own}},
			gone: []fact.Removal{{What: fact.RemovedAddress, Name: "loop2", Prefix: netip.MustParsePrefix("10.1.1.1/24")}}, want: "node-1 itself"},
		{name: "the BVI", gone: []fact.Removal{{What: fact.RemovedInterface, Name: "loop0", Addrs: []netip.Prefix{netip.MustParsePrefix("192.168.30.1/24")}}},
			want: "still has its address 192.168.30.1"},
		{name: "the pod table", gone: []fact.Removal{{What: fact.RemovedTable, Table: 1}}, want: "node-1 itself"},
		{name: "a removal without an owner", gone: []fact.Removal{{What: fact.RemovedRoute, Prefix: netip.MustParsePrefix("10.9.9.9/32")},
			{What: fact.RemovedInterface, Name: "tap9", Netns: "/run/netns/left"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := staysWired().Watch()
			for _, f := range append(append([]fact.Fact{}, start...), tc.before...) {
				if err := w.Observe(&f); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			for i := range tc.gone {
				if err != nil {
					t.Fatalf("too early: %v", err)
				}
				err = w.Observe(&fact.Fact{At: time.Second, Node: "node-1", What: fact.Removed{Removal: &tc.gone[i], Ago: tc.took}})
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

// Goal: the mapping of a service that keeps its endpoints goes twice at most, as the service may have been another one
// before, and freely where clients get none. Method: short histories; the last fact breaks the law or does not.
func TestStaysMapped(t *testing.T) {
	at, tcp := netip.MustParseAddrPort("10.96.0.10:80"), string(scenarios.TCP)
	served := fact.Fact{What: fact.Served{Endpoint: at, Proto: tcp}}
	unserved := fact.Fact{What: fact.Served{Endpoint: at, Proto: tcp, Gone: true}}
	kept := fact.Fact{What: fact.Served{Endpoint: at, Proto: tcp, Kept: true}}
	udp := fact.Fact{What: fact.Served{Endpoint: at, Proto: string(scenarios.UDP)}}
	gone := fact.Fact{Node: "node-1", What: fact.Removed{Removal: &fact.Removal{What: fact.RemovedMapping, Call: "del", Addr: at.Addr(), Port: at.Port(), Proto: protoTCP}}}
	later := gone
	later.At = newsLate
	for _, tc := range []watched{
		{"three times, and nothing happened", staysWired(), []fact.Fact{served, gone, gone, gone}, "NAT mapping of 10.96.0.10:80 (del) is removed from a service"},
		{"three times, after news came late", staysWired(), []fact.Fact{{What: fact.Disturbed{By: "gap-watch"}}, served, gone, gone, gone, gone}, ""},
		{"five times, after news came late", staysWired(), []fact.Fact{{What: fact.Disturbed{By: "gap-watch"}}, served, gone, gone, gone, gone, gone}, "NAT mapping of 10.96.0.10:80 (del) is removed from a service"},
		{"of one that had affinity until now", staysWired(), []fact.Fact{kept, gone, gone, gone}, ""},
		{"of one that had affinity long ago", staysWired(), []fact.Fact{kept, later, later, later}, "NAT mapping of 10.96.0.10:80 (del) is removed from a service"},
		{"of another protocol", staysWired(), []fact.Fact{udp, gone, gone}, ""},
		{"without endpoints", staysWired(), []fact.Fact{served, unserved, gone, gone}, ""},
		{"of a service that was another one", staysWired(), []fact.Fact{served, gone, unserved, served, gone}, ""},
		{"of no service", staysWired(), []fact.Fact{gone, gone}, ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}
