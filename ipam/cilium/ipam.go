package cilium

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// IPAM hands out a node's addresses under the names of cilium/cilium's pkg/ipam. NewIPAM makes one.
type IPAM struct {
	// IPv6Allocator and IPv4Allocator are nil for a family that is disabled.
	IPv6Allocator Allocator
	IPv4Allocator Allocator

	cfg         Configuration
	addressing  NodeAddressing
	owner       map[netip.Addr]string
	timers      deadlines[netip.Addr]
	expirations map[netip.Addr]expiration
	blacklist   IPBlacklist
	clock       time.Time
}

// NewIPAM returns an IPAM for the configured mode. With a CiliumNode's pool it asks owner to create the resource first,
// and allocation fails until the Store has seen it; from then on owner counts the events of the Store's resource. Owner
// may be nil.
func NewIPAM(nodeAddressing NodeAddressing, c Configuration, owner Owner) (*IPAM, error) {
	if c.Pick == nil {
		return nil, errors.New("IPAM: a Picker is needed")
	}
	ipam := &IPAM{
		cfg: c, addressing: nodeAddressing,
		owner: make(map[netip.Addr]string), expirations: make(map[netip.Addr]expiration),
	}
	mode := strings.ToLower(c.IPAM)
	switch mode {
	case "", ModeHostScope, ModeKubernetes, ModeClusterPool:
	case ModeCRD, ModeENI, ModeAzure:
		if c.Store == nil {
			return nil, fmt.Errorf("IPAM %s: a Store is needed", mode)
		}
		if owner != nil {
			c.Store.owner = owner
			owner.UpdateCiliumNodeResource()
		}
	case ModeMultiPool:
		if c.MultiPool == nil {
			return nil, errors.New("IPAM multi-pool: a MultiPool is needed")
		}
	default:
		return nil, unknownBackendError(c.IPAM)
	}
	for _, f := range families {
		if !ipam.enabled(f) {
			continue
		}
		a, err := ipam.newAllocator(mode, f)
		if err != nil {
			return nil, fmt.Errorf("IPAM %s: %w", f, err)
		}
		*ipam.slot(f) = a
	}
	return ipam, nil
}

// unknownBackendError is the mode that nobody knows.
type unknownBackendError string

// Error is what upstream says before it ends the process, and what would have been known.
func (e unknownBackendError) Error() string {
	return "Unknown IPAM backend " + strings.Trim(strconv.Quote(string(e)), `"`) + ": want one of " + strings.Join(modes[:], ", ")
}

func (ipam *IPAM) newAllocator(mode string, f Family) (Allocator, error) {
	switch mode {
	case ModeCRD, ModeENI, ModeAzure:
		return ipam.cfg.Store.Allocator(f), nil
	case ModeMultiPool:
		return &multiPoolAllocator{m: ipam.cfg.MultiPool, family: f, now: ipam.now}, nil
	}
	if ipam.addressing == nil {
		return nil, errors.New("node addressing is needed")
	}
	o := RangeOptions{AllowFirst: ipam.cfg.AllowFirstLastIPs, AllowLast: ipam.cfg.AllowFirstLastIPs}
	cidr := space.Normal(ipam.cidr(f))
	if other := DeriveFamily(cidr.Addr()); other != "" && other != f {
		return nil, fmt.Errorf("allocation range %s is %s", cidr, other)
	}
	return newHostScope(cidr, o, ipam.cfg.Pick)
}

func (ipam *IPAM) enabled(f Family) bool {
	if f == IPv4 {
		return ipam.cfg.EnableIPv4
	}
	return ipam.cfg.EnableIPv6
}

func (ipam *IPAM) slot(f Family) *Allocator {
	if f == IPv4 {
		return &ipam.IPv4Allocator
	}
	return &ipam.IPv6Allocator
}

// allocator is the family's allocator, nil when it is disabled or f is no family.
func (ipam *IPAM) allocator(f Family) Allocator {
	if f != IPv4 && f != IPv6 {
		return nil
	}
	return *ipam.slot(f)
}

func (ipam *IPAM) cidr(f Family) netip.Prefix {
	if f == IPv4 {
		return ipam.addressing.IPv4().AllocationCIDR()
	}
	return ipam.addressing.IPv6().AllocationCIDR()
}

func (ipam *IPAM) lock() func() {
	if ipam.cfg.Lock == nil {
		return func() {}
	}
	ipam.cfg.Lock.Lock()
	return ipam.cfg.Lock.Unlock
}

// AllocateIP allocates exactly ip. The error is a BlacklistedError, ErrIPv4Disabled, ErrIPv6Disabled, or the
// allocator's.
func (ipam *IPAM) AllocateIP(ip netip.Addr, owner string) (err error) {
	defer ipam.lock()()
	ip = space.NormalAddr(ip)
	f := DeriveFamily(ip)
	if f == "" {
		return InvalidIPError{Text: ip.String()}
	}
	if by, ok := ipam.blacklist.Contains(ip); ok {
		return BlacklistedError{IP: ip, Owner: by}
	}
	a := ipam.allocator(f)
	if a == nil {
		return f.disabled()
	}
	if _, err := a.Allocate(ip, owner); err != nil {
		return err
	}
	ipam.give(ip, owner)
	return nil
}

// give notes owner. A timer that was started while nobody had ip is over: it says nothing about the new owner.
func (ipam *IPAM) give(ip netip.Addr, owner string) {
	ipam.owner[ip] = owner
	ipam.stopTimer(ip)
}

// AllocateIPString is AllocateIP with the address as text.
func (ipam *IPAM) AllocateIPString(ipAddr, owner string) error {
	ip, err := netip.ParseAddr(ipAddr)
	if err != nil {
		return InvalidIPError{Text: ipAddr}
	}
	return ipam.AllocateIP(ip, owner)
}

// ReleaseIP frees ip and stops its timer. Whether an address that is not allocated is an error is up to the allocator:
// not with an allocation range, but with a CiliumNode's pool.
func (ipam *IPAM) ReleaseIP(ip netip.Addr) error {
	defer ipam.lock()()
	return ipam.release(space.NormalAddr(ip))
}

func (ipam *IPAM) release(ip netip.Addr) error {
	f := DeriveFamily(ip)
	if f == "" {
		return InvalidIPError{Text: ip.String()}
	}
	a := ipam.allocator(f)
	if a == nil {
		return f.disabled()
	}
	if err := a.Release(ip); err != nil {
		return err
	}
	delete(ipam.owner, ip)
	ipam.stopTimer(ip)
	return nil
}

// ReleaseIPString frees the address that the text is, or else every address of the owner with that name, in ascending
// order. All are tried; errors come joined.
func (ipam *IPAM) ReleaseIPString(releaseArg string) (err error) {
	if ip, err := netip.ParseAddr(releaseArg); err == nil {
		return ipam.ReleaseIP(ip)
	}
	defer ipam.lock()()
	var ips []netip.Addr
	for ip, owner := range ipam.owner {
		if owner == releaseArg {
			ips = append(ips, ip)
		}
	}
	if len(ips) == 0 {
		return InvalidIPError{Text: releaseArg, OrOwner: true}
	}
	slices.SortFunc(ips, netip.Addr.Compare)
	for _, ip := range ips {
		err = errors.Join(err, ipam.release(ip))
	}
	return err
}

// sortedOwners lists allocated addresses in ascending order.
func (ipam *IPAM) sortedOwners() []netip.Addr {
	return slices.SortedFunc(maps.Keys(ipam.owner), netip.Addr.Compare)
}
