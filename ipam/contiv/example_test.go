package contiv_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
)

func ExampleIPAMConfig_Resolve() {
	plan, err := contiv.IPAMConfig{PodSubnetCIDR: "10.1.0.0/16", NodeInterconnectCIDR: "192.168.16.0/24"}.Resolve()
	if err != nil {
		fmt.Println(err)
		return
	}
	node, _ := plan.Node(5)
	fmt.Println(node.PodSubnet, node.PodGateway, node.NodeIP, plan.MaxNodeID())
	// Output: 10.1.5.0/24 10.1.5.1 192.168.16.5/24 254
}

func ExampleAllocator() {
	now := time.Unix(1700000000, 0)
	pods, err := contiv.New(contiv.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	records, _ := pods.SetBlocks(now, []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24")})
	web := ipam.Owner{Network: "k8s", ContainerID: "c0ffee", IfName: "eth0"}
	lease, more, _ := pods.Allocate(now, web, ipam.Want{})
	// The caller persists the records before it tells anybody about the lease.
	for _, r := range append(records, more...) {
		fmt.Println(r)
	}
	fmt.Println(lease.Addr, lease.Gateway)
	// Output:
	// block - 10.1.1.1 10.1.1.0/24 1700000000000000000
	// lease k8s/c0ffee/eth0 10.1.1.2 10.1.1.0/24 1700000000000000000
	// 10.1.1.2 10.1.1.1
}
