package cilium_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// middle always picks the middle.
type middle struct{}

func (middle) Pick(_ string, n int) int { return n / 2 }

func ExampleNode() {
	now := time.Unix(1700000000, 0)
	pods, err := cilium.NewNode(cilium.NodeConfig{Pick: middle{}, FirstRouter: true})
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
	// lease k8s/c0ffee/eth0 10.1.1.128 10.1.1.0/24 1700000000000000000
	// 10.1.1.128 10.1.1.1
}

func ExampleIPAM() {
	now := time.Unix(1700000000, 0)
	i, err := cilium.NewIPAM(cilium.Addressing{CIDR4: netip.MustParsePrefix("10.2.0.0/24")}, cilium.Configuration{
		EnableIPv4: true, Pick: middle{}, Now: func() time.Time { return now },
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	i.BlacklistIPNet(netip.MustParsePrefix("10.2.0.128/25"), "local route")
	v4, _, _ := i.AllocateNextWithExpiration("ipv4", "default/web", 10*time.Minute)
	fmt.Println(v4.IP)
	for _, e := range i.Advance(now.Add(10 * time.Minute)) {
		fmt.Println("nobody came for", e.IP, "of", e.Owner)
	}
	_, _, status := i.Dump()
	fmt.Println(status)
	// Output:
	// 10.2.0.1
	// nobody came for 10.2.0.1 of default/web
	// IPv4: 0/254 allocated from 10.2.0.0/24
}

func ExampleClusterPool() {
	now := time.Unix(1700000000, 0)
	p, err := cilium.NewClusterPool(cilium.ClusterPoolConfig{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p.FinishRestore()
	cidrs, entries, _ := p.Assign(now, "node-1")
	fmt.Println(cidrs, entries)
	// Output: [10.0.0.0/24] [1 claim ipv4 node-1 10.0.0.0/24 1700000000000000000]
}

func ExampleCalculateExcessIPs() {
	w := cilium.Watermarks{MinAllocate: 16, PreAllocate: 8}
	fmt.Println(cilium.CalculateExcessIPs(cilium.NodeCount{Available: 17}, w), cilium.CalculateNeededIPs(cilium.NodeCount{Available: 12}, w))
	// Output: 1 4
}
