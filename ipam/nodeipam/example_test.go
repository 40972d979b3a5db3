package nodeipam_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

func ExampleRangeAllocator() {
	params, err := nodeipam.Flags{ClusterCIDR: "10.0.0.0/22", ServiceCIDR: "10.0.0.0/24"}.Resolve()
	if err != nil {
		fmt.Println(err)
		return
	}
	existing := []nodeipam.KubeNode{{Name: "one", UID: "1", PodCIDRs: []string{"10.0.1.0/24"}}}
	r, err := nodeipam.NewCIDRRangeAllocator(params, existing)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(1700000000, 0)
	for _, e := range r.Step(now, nodeipam.NodeAdded{Node: nodeipam.KubeNode{Name: "two", UID: "2", ResourceVersion: "77"}}) {
		fmt.Println(string(e.AppendText(nil)))
	}
	// Output: patch-node #1 two uid=2 version=77 10.0.2.0/24
}

func ExampleNode() {
	n, err := nodeipam.NewNode(nodeipam.NodeConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(1700000000, 0)
	podCIDRs := []netip.Prefix{netip.MustParsePrefix("10.0.2.0/24"), netip.MustParsePrefix("fd00:0:0:2::/64")}
	if _, err := n.SetBlocks(now, podCIDRs); err != nil {
		fmt.Println(err)
		return
	}
	lease, _, _ := n.Allocate(now, ipam.Owner{Network: "k8s", ContainerID: "c0ffee", IfName: "eth0"}, ipam.Want{})
	fmt.Println(lease.Addr, lease.Gateway)
	// Output: 10.0.2.2 10.0.2.1
}
