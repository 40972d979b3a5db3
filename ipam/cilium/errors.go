package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
)

// ErrAllocation is an error of an allocator. Upstream exports the name; nothing returns it by this type.
type ErrAllocation error

// Errors that callers branch on.
var (
	// ErrIPv4Disabled is returned when IPv4 allocation is disabled.
	ErrIPv4Disabled = errors.New("IPv4 allocation disabled")
	// ErrIPv6Disabled is returned when IPv6 allocation is disabled.
	ErrIPv6Disabled = errors.New("IPv6 allocation disabled")
	// ErrFull: every address of the range is allocated or excluded.
	ErrFull = errors.New("range is full")
	// ErrAllocated: the address wanted is allocated already.
	ErrAllocated = errors.New("provided IP is already allocated")
	// ErrNoMoreIPs: every address of the node's pool is in use, excluded or about to leave.
	ErrNoMoreIPs = errors.New("no more IPs available")
	// ErrNodeUnknown: the store has not seen the node's own CiliumNode.
	ErrNodeUnknown = errors.New("CiliumNode for own node is not available")
	// ErrInHandshake: the operator and the agent are agreeing to give this address back to the cloud.
	ErrInHandshake = errors.New("refused: address is in release handshake")
	// ErrNotRestored: existing holders have to be told before anything new may be decided.
	ErrNotRestored = errors.New("restore has not finished")
	// ErrNoCIDR: every block of the pool is held or cooling.
	ErrNoCIDR = errors.New("no free CIDR")
	// ErrCIDRTaken: somebody else holds the block or a part of it.
	ErrCIDRTaken = errors.New("CIDR is held by another node")
)

// NotInRangeError says that an address is not among those that a range gives out.
type NotInRangeError struct{ ValidRange netip.Prefix }

// Error names the range.
func (e NotInRangeError) Error() string {
	return "provided IP is not in the valid range. The range of valid IPs is " + e.ValidRange.String()
}

// InvalidIPError says that a text is neither an address nor, with OrOwner, the owner of one.
type InvalidIPError struct {
	Text    string
	OrOwner bool
}

// Error quotes the text as given.
func (e InvalidIPError) Error() string {
	if e.OrOwner {
		return "Invalid IP address or owner name: " + e.Text
	}
	return "Invalid IP address: " + e.Text
}

// BlacklistedError says that an address must not be allocated, and on whose behalf.
type BlacklistedError struct {
	IP    netip.Addr
	Owner string
}

// Error names the owner of the blacklist entry.
func (e BlacklistedError) Error() string {
	return fmt.Sprintf("IP %s is blacklisted, owned by %s", e.IP, e.Owner)
}

// IPNotAvailableInPoolError says that an address is not in the node's pool. Two of them are the same error when they
// name the same address.
type IPNotAvailableInPoolError struct{ IP netip.Addr }

// NewIPNotAvailableInPoolError returns the error for ip.
func NewIPNotAvailableInPoolError(ip netip.Addr) error { return &IPNotAvailableInPoolError{IP: ip} }

// Error names the address.
func (e *IPNotAvailableInPoolError) Error() string {
	return "IP " + e.IP.String() + " is not available"
}

// Is compares by address.
func (e *IPNotAvailableInPoolError) Is(target error) bool {
	other, ok := target.(*IPNotAvailableInPoolError) //nolint:errorlint // errors.Is unwraps for us
	return ok && other != nil && e != nil && other.IP == e.IP
}

// PoolNotReadyError says that no CIDR of a pool has a free address. The request is pending: the next Sync asks for it.
type PoolNotReadyError struct {
	Pool   string
	Family Family
}

// Error names the pool.
func (e PoolNotReadyError) Error() string {
	return "pool " + strconv.Quote(e.Pool) + " has no free " + string(e.Family) + " address yet"
}
