package cilium

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// rangeSizeMax6 bounds IPv6 ranges: of a longer one only the first 2^16 addresses count.
const rangeSizeMax6 = 1 << 16

// RangeSize is how many addresses of cidr count: all, but at most 2^16 for IPv6; 0 for the zero Prefix.
func RangeSize(cidr netip.Prefix) uint64 {
	n := space.Count(cidr)
	if space.Normal(cidr).Addr().Is6() {
		n = min(n, rangeSizeMax6)
	}
	return n
}

// AddOffset is the address offset above base. The error wraps space.ErrOutside past the family's last address.
func AddOffset(base netip.Addr, offset uint64) (netip.Addr, error) {
	if !base.IsValid() {
		return netip.Addr{}, InvalidIPError{Text: base.String()}
	}
	return space.Add(base, offset)
}

// AddrOffset is the inverse of AddOffset: how far addr is above base. It is an error when addr is below base, of
// another family, or more than 2^64-1 above.
func AddrOffset(base, addr netip.Addr) (uint64, error) {
	n, ok := space.Distance(base, addr)
	if !ok {
		return 0, fmt.Errorf("%s is not at most 2^64-1 above %s", addr, base)
	}
	return n, nil
}
