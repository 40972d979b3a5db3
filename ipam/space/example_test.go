package space_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

func ExamplePool() {
	prefix := netip.MustParsePrefix("10.1.1.0/29")
	pool, err := space.NewPool(space.PoolConfig{
		Prefix:     prefix,
		Reserved:   []netip.Addr{space.First(prefix), space.Last(prefix)},
		ReuseDelay: 30 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	first, _ := pool.Allocate(now)
	second, _ := pool.Allocate(now)
	pool.Release(now, first)
	fmt.Println(first, second, pool.Free(now), pool.Free(now.Add(30*time.Second)))
	// Output: 10.1.1.1 10.1.1.2 4 5
}

func ExampleSubnets() {
	cluster, err := space.NewSubnets(netip.MustParsePrefix("10.1.0.0/16"), 24)
	if err != nil {
		fmt.Println(err)
		return
	}
	taken, _ := cluster.Occupy(netip.MustParsePrefix("10.1.0.0/22"))
	block, _ := cluster.Allocate()
	fmt.Println(taken, block)
	// Output: 4 10.1.4.0/24
}
