package cidrset_test

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/internal/cidrset"
)

func ExampleCIDRSet() {
	set, err := cidrset.NewCIDRSet(netip.MustParsePrefix("10.0.0.0/22"), 24)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = set.Occupy(netip.MustParsePrefix("10.0.0.0/23"))
	first, _ := set.AllocateNext()
	second, _ := set.AllocateNext()
	_, err = set.AllocateNext()
	fmt.Println(first, second)
	fmt.Println(err)
	// Output:
	// 10.0.2.0/24 10.0.3.0/24
	// CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range: 10.0.0.0/22 holds 4 blocks of /24
}
