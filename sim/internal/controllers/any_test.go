package controllers_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// Goal: whatever happens, no two nodes ever have a common block, and once nothing happens any more everybody is served
// for whom there is a block. Method: rapid draws what befalls each system; stories' world looks after each event.
func TestAnyTroubleEndsServed(t *testing.T) {
	plans := map[string]scenarios.IPAM{
		"nodeipam": {System: scenarios.NodeIPAM, PodSubnetOneNodePrefixLen: 26},
		"cilium":   {System: scenarios.Cilium, PodSubnetOneNodePrefixLen: 27, Cilium: scenarios.CiliumIPAM{PreAllocate: 8}},
		"limited":  {System: scenarios.Cilium, PodSubnetOneNodePrefixLen: 27, ClientQPS: 1, ClientBurst: 1, Cilium: scenarios.CiliumIPAM{PreAllocate: 8}},
		"pools": {System: scenarios.Cilium, PodSubnetOneNodePrefixLen: 28, PodSubnetCIDR: scenarios.CIDR(netip.MustParsePrefix("10.1.0.0/16")), Ranges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/20")},
			Cilium: scenarios.CiliumIPAM{PreAllocate: 2, NamespacePool: "blue", Pools: []scenarios.CiliumPool{{Name: "blue", IPv4: []netip.Prefix{netip.MustParsePrefix("10.1.64.0/20")}, MaskSize: 27}}}},
		"datastore": {System: scenarios.Datastore, PodSubnetOneNodePrefixLen: 28, Datastore: scenarios.DatastoreIPAM{InstanceType: "t3.small", PrefixDelegation: true, WarmPrefix: 1, MetadataLag: time.Second}},
		"eni": {System: scenarios.Cilium, PodSubnetOneNodePrefixLen: 28, Cilium: scenarios.CiliumIPAM{Mode: scenarios.ENI, PreAllocate: 4, MaxAboveWatermark: 2, ReleaseDelay: time.Second},
			Datastore: scenarios.DatastoreIPAM{InstanceType: "t3.small", AttachDelay: time.Second}},
		"calico": calicoPlan(28, scenarios.CalicoIPAM{MaxBlocks: 3, EmptyBlockGrace: time.Minute}),
		"strict": calicoPlan(27, scenarios.CalicoIPAM{MaxBlocks: 20, StrictAffinity: true}),
	}
	for name, p := range plans {
		p.PodSubnetCIDR = scenarios.CIDR(netip.MustParsePrefix("10.1.0.0/24"))
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { anyTrouble(t, rt, p) })
		})
	}
}

func calicoPlan(bits int, own scenarios.CalicoIPAM) scenarios.IPAM {
	p := scenarios.IPAM{System: scenarios.Calico, PodSubnetOneNodePrefixLen: bits}
	scenarios.SetSection(&p, own)
	return p
}

func anyTrouble(t *testing.T, rt *rapid.T, p scenarios.IPAM) {
	w := newWorld(t, p)
	for range rapid.IntRange(3, 20).Draw(rt, "steps") {
		node := fmt.Sprintf("n%d", rapid.IntRange(0, 4).Draw(rt, "node"))
		h := w.agents[node]
		switch step := rapid.SampledFrom([]string{"join", "join", "leave", "crash", "pods", "lose", "fault"}).Draw(rt, "step"); {
		case step == "join" && h == nil:
			w.join(node)
		case step == "lose":
			how := scenarios.LoseLeader{Pause: time.Duration(rapid.IntRange(1, 60).Draw(rt, "pause")) * time.Second}
			switch rapid.SampledFrom([]string{"late", "within", "asleep"}).Draw(rt, "how") {
			case "within":
				how.Within = true
			case "asleep":
				how.Asleep, how.Pause = true, how.Pause+20*time.Second
			}
			_ = w.system.LoseLeader(how) // AWS has none
		case step == "fault":
			w.faults = append(w.faults, &storyFault{
				request: rapid.SampledFrom(controllers.RequestNames).Draw(rt, "request"),
				action:  fault.Action(rapid.IntRange(int(fault.Pass)+1, int(fault.CrashAfter)).Draw(rt, "action")),
				skip:    rapid.IntRange(0, 2).Draw(rt, "skip"), n: rapid.IntRange(1, 3).Draw(rt, "n"),
			})
		case h == nil:
		case step == "leave":
			w.leave(node)
		case step == "crash":
			w.crash(node)
		case step == "pods":
			h.pods(rapid.IntRange(0, 40).Draw(rt, "pods"))
		}
		w.must(w.run(time.Duration(rapid.IntRange(0, 20000).Draw(rt, "ms")) * time.Millisecond))
	}
	w.faults = nil
	w.must(w.run(20 * time.Minute))
	for range 10 { // ipamd looks at what there is once a minute
		if w.system.Pending() == "" {
			break
		}
		w.must(w.run(time.Second))
	}
	if why := w.system.Pending(); why != "" {
		rt.Fatalf("after 20 minutes: %s\n%s", why, w.state())
	}
	for name, h := range w.agents {
		held := h.alloc.Blocks()
		unserved := len(held) == 0 && w.system.FreeBlock()
		if p.System == scenarios.Calico { // who has no pods needs no address
			unserved = h.held() < h.wanted && w.system.FreeBlock()
		}
		if unserved || !slices.Equal(slices.SortedFunc(slices.Values(w.assigned[name]), netip.Prefix.Compare), ascending(held)) {
			rt.Fatalf("%s is not served\n%s", name, w.state())
		}
	}
}

func ascending(blocks []ipam.Block) []netip.Prefix {
	list := make([]netip.Prefix, len(blocks))
	for i, b := range blocks {
		list[i] = b.Prefix
	}
	slices.SortFunc(list, netip.Prefix.Compare)
	return list
}
