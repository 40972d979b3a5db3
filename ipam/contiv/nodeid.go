package contiv

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// blockOf is the length-long block of node id in all. IDs count from 1; the ID one above the last block's number uses
// block 0, as in contiv/vpp 2.1.4.
func blockOf(field string, all netip.Prefix, length int, id uint32) (netip.Prefix, error) {
	count := space.SubnetCount(all, length)
	if id == 0 || uint64(id) > count {
		return netip.Prefix{}, fmt.Errorf("%s %s: %w %d > %d", field, all, ErrNodeIDRange, id, count)
	}
	n := uint64(id)
	if n == count {
		n = 0
	}
	return space.Subnet(all, length, n)
}

// hostOf is the address of node id in all, carrying all's length; the zero Prefix for the zero all. Each gateway in all
// at or below the address moves it up by one; a gateway elsewhere does not matter. Gateways ascend. lastToo lets an ID
// that nothing moved have the highest address, IPv4's broadcast.
func hostOf(field string, all netip.Prefix, gateways []netip.Addr, id uint32, lastToo bool) (netip.Prefix, error) {
	if !all.IsValid() {
		return netip.Prefix{}, nil
	}
	count := space.Count(all)
	if uint64(id) > count {
		return netip.Prefix{}, fmt.Errorf("%s %s: %w %d > %d", field, all, ErrNodeIDRange, id, count)
	}
	index := uint64(id)
	for _, gateway := range gateways {
		if gw, ok := space.Index(all, gateway); ok && gw <= index {
			index++
			lastToo = false
		}
	}
	top := count - 1
	if all.Addr().Is4() && !lastToo {
		top--
	}
	if id == 0 || count < 2 || index > top {
		return netip.Prefix{}, fmt.Errorf("%s %s: %w %d", field, all, ErrNoNodeAddress, id)
	}
	addr, err := space.Nth(all, index)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%s: %w", field, err)
	}
	return netip.PrefixFrom(addr, all.Bits()), nil
}

// maxHost is the highest ID that hostOf has an address for when the broadcast address is none.
func maxHost(all netip.Prefix, gateways []netip.Addr) uint64 {
	if !all.IsValid() {
		return ^uint64(0)
	}
	top := space.Count(all) - 1
	if all.Addr().Is4() && top > 0 {
		top--
	}
	highest := top
	for _, gateway := range gateways {
		if gw, ok := space.Index(all, gateway); ok && gw <= highest && top > 0 {
			top--
		}
	}
	return top
}
