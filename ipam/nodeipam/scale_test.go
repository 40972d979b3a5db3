package nodeipam

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// Goal: thousands of nodes that arrive at once are served by parallel requests, as many as upstream's workers and no
// more. Method: 5000 nodes, an API server that needs 50 ms for each request, and virtual time.
func TestManyNodesAtOnce(t *testing.T) {
	const latency, nodes = 50 * time.Millisecond, 5000
	params := CIDRAllocatorParams{ClusterCIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, NodeCIDRMaskSizes: []int{24}}
	r, err := NewCIDRRangeAllocator(params, nil)
	if err != nil {
		t.Fatal(err)
	}
	type reply struct {
		at time.Time
		id uint64
	}
	var replies []reply
	now, most := storyEpoch, 0
	perform := func(effects []Effect) {
		for _, e := range effects {
			replies = append(replies, reply{now.Add(latency), e.(PatchNodeCIDRs).ID})
		}
		most = max(most, len(replies))
	}
	for i := range nodes {
		perform(r.Step(now, NodeAdded{KubeNode{Name: fmt.Sprintf("n%d", i), ResourceVersion: "1"}}))
	}
	for len(replies) > 0 {
		first := replies[0]
		replies = replies[1:]
		now = first.at
		perform(r.Step(now, Answered{ID: first.id, Outcome: ipam.Done}))
	}
	if want := storyEpoch.Add((nodes + cidrUpdateWorkers - 1) / cidrUpdateWorkers * latency); now.After(want) || most > cidrUpdateWorkers {
		t.Errorf("it took %s with up to %d requests at once, want %s with %d", now.Sub(storyEpoch), most, want.Sub(storyEpoch), cidrUpdateWorkers)
	}
	if u := r.Ranges()[0]; u.Blocks-u.Free != nodes {
		t.Errorf("%d blocks are taken", u.Blocks-u.Free)
	}
}

// BenchmarkNodeLife is one node that comes, gets its CIDR and goes, beside 10000 others.
func BenchmarkNodeLife(b *testing.B) {
	yardstick.Beside(b)
	params := CIDRAllocatorParams{ClusterCIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, NodeCIDRMaskSizes: []int{24}}
	r, err := NewCIDRRangeAllocator(params, nil)
	if err != nil {
		b.Fatal(err)
	}
	serve := func(effects []Effect) {
		for _, e := range effects {
			r.Step(storyEpoch, Answered{ID: e.(PatchNodeCIDRs).ID, Outcome: ipam.Done})
		}
	}
	for i := range 10000 {
		serve(r.Step(storyEpoch, NodeAdded{KubeNode{Name: fmt.Sprintf("n%d", i)}}))
	}
	node := KubeNode{Name: "node", UID: "uid", ResourceVersion: "1"}
	b.ReportAllocs()
	for b.Loop() {
		serve(r.Step(storyEpoch, NodeAdded{node}))
		r.Step(storyEpoch, NodeDeleted{node})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "nodes/s")
}

// BenchmarkHeartbeat is an update that changes nothing but the version.
func BenchmarkHeartbeat(b *testing.B) {
	yardstick.Beside(b)
	params := CIDRAllocatorParams{ClusterCIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, NodeCIDRMaskSizes: []int{24}}
	node := KubeNode{Name: "node", UID: "uid", ResourceVersion: "1", PodCIDRs: []string{"10.0.0.0/24"}}
	r, err := NewCIDRRangeAllocator(params, []KubeNode{node})
	if err != nil {
		b.Fatal(err)
	}
	ev := Event(NodeUpdated{node})
	b.ReportAllocs()
	for b.Loop() {
		r.Step(storyEpoch, ev)
	}
}

// BenchmarkNodeAllocateRelease is one pod address with its owner; the budget is 1 µs.
func BenchmarkNodeAllocateRelease(b *testing.B) {
	yardstick.Beside(b)
	n, err := NewNode(NodeConfig{})
	if err != nil {
		b.Fatal(err)
	}
	blocks := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/64")}
	if _, err := n.SetBlocks(storyEpoch, blocks); err != nil {
		b.Fatal(err)
	}
	owner := func(i int) ipam.Owner {
		return ipam.Owner{Network: "k8s-pod-network", ContainerID: fmt.Sprintf("%064x", i), IfName: "eth0"}
	}
	for i := range 60000 {
		if _, _, err := n.Allocate(storyEpoch, owner(i), ipam.Want{}); err != nil {
			b.Fatal(err)
		}
	}
	o := owner(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := n.Allocate(storyEpoch, o, ipam.Want{}); err != nil {
			b.Fatal(err)
		}
		n.Release(storyEpoch, o)
	}
}
