package datastore_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
)

func ExampleDataStore() {
	now := time.Unix(1700000000, 0)
	file := datastore.NewTestCheckpoint(nil)
	ds := datastore.NewDataStore(nil, file, func() time.Time { return now })
	ds.CheckpointMigrationPhase = 2
	if err := ds.AddENI("eni-1", 0, true, false); err != nil {
		fmt.Println(err)
	}
	if err := ds.AddIPv4AddressToStore("eni-1", netip.MustParseAddr("10.0.0.9")); err != nil {
		fmt.Println(err)
	}
	if err := ds.ReadBackingStore(); err != nil {
		fmt.Println(err)
	}
	web := datastore.IPAMKey{NetworkName: "aws-cni", ContainerID: "c0ffee", IfName: "eth0"}
	fmt.Println(ds.AssignPodIPv4Address(web))
	fmt.Println(ds.UnassignPodIPv4Address(web))
	_, _, err := ds.AssignPodIPv4Address(web)
	fmt.Println(err)
	now = now.Add(31 * time.Second)
	fmt.Println(ds.AssignPodIPv4Address(web))
	// Output:
	// 10.0.0.9 0 <nil>
	// 10.0.0.9 0 <nil>
	// assignPodIPv4AddressUnsafe: no available IP addresses
	// 10.0.0.9 0 <nil>
}

func ExampleNewNode() {
	node, err := datastore.NewNode(datastore.NodeConfig{Gateway: netip.MustParseAddr("169.254.1.1")})
	if err != nil {
		fmt.Println(err)
	}
	now := time.Unix(1700000000, 0)
	records, err := node.SetBlocks(now, []netip.Prefix{netip.MustParsePrefix("10.0.0.16/28")})
	fmt.Println(records, err)
	lease, records, err := node.Allocate(now, ipam.Owner{Network: "aws-cni", ContainerID: "c0ffee", IfName: "eth0"}, ipam.Want{})
	fmt.Println(lease.Addr, records, err)
	// Output:
	// [block - 169.254.1.1 10.0.0.16/28 1700000000000000000] <nil>
	// 10.0.0.16 [lease aws-cni/c0ffee/eth0 10.0.0.16 10.0.0.16/28 1700000000000000000] <nil>
}
