package calico

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Defaults of Calico (IPPool.blockSize, IPAMConfig.maxBlocksPerHost, and the grace that kube-controllers give an empty
// block).
const (
	DefaultBlockBits  = 26
	DefaultBlockBits6 = 122
	DefaultMaxBlocks  = 20
	DefaultGrace      = 15 * time.Minute
)

// ErrNoAddress: no block gives the host an address.
var ErrNoAddress = errors.New("no block has a free address for the host")

// Pools is what blocks are cut from, and how.
type Pools struct {
	// Ranges do not overlap; a block of none of them gives no more addresses. The first one of a family with room is used.
	Ranges []netip.Prefix
	// BlockBits is the prefix length of new blocks of IPv4, 20 to 32, BlockBits6 that of IPv6, 116 to 128; Lengths are those of ranges with
	// another one.
	BlockBits, BlockBits6 int
	Lengths               map[netip.Prefix]int
	// Selectors say of which nodes a range is; one without is of all.
	Selectors map[netip.Prefix]Selector
	// Namespaces say the same of the labels of pods' namespaces (namespaceSelector).
	Namespaces map[netip.Prefix]Selector
	// Names are the pools that are known, in use or not: of figures, and of what pods ask for.
	Names map[string]netip.Prefix
	// MaxBlocks is how many blocks of a family may have an affinity to one host, above 0.
	MaxBlocks int
	// Strict is strictAffinity: no host gets an address of another's block.
	Strict bool
	// Fixed: hosts claim no blocks, and use those that they have (autoAllocateBlocks is false).
	Fixed bool
}

// For are the pools of a node with these labels: of other ranges it claims no block and gets no address, as it keeps what it has of them.
func (p Pools) For(labels map[string]string) Pools {
	p.Ranges = slices.DeleteFunc(slices.Clone(p.Ranges), func(r netip.Prefix) bool { return !p.Selectors[r].Matches(labels) })
	return p
}

// bits is the prefix length of a range's new blocks.
func (p Pools) bits(r netip.Prefix) int {
	if n, other := p.Lengths[r]; other {
		return n
	}
	if r.Addr().Is6() {
		return p.BlockBits6
	}
	return p.BlockBits
}

// Assign says, of the pools and all blocks of one family, what a host changes to get an address for each use, or some of them: one block, new or not, as it should be then. Hosts use the
// blocks with an affinity to them, then claim new ones up to MaxBlocks, and borrow last. Blocks are in ascending order.
// Where one block has less, the host asks again. The error wraps ErrNoAddress.
func (p Pools) Assign(blocks []Block, host string, uses ...Use) (Block, error) {
	mine := 0
	for _, b := range blocks {
		if !owns(b.Affinity, host) {
			continue
		}
		if mine++; len(b.Free) > 0 && p.gives(b.CIDR) {
			return b.assign(host, uses), nil
		}
	}
	if mine < p.MaxBlocks && !p.Fixed {
		if cidr, ok := p.unclaimed(blocks, host); ok {
			return NewBlock(cidr, host).assign(host, uses), nil
		}
	}
	if !p.Strict && len(blocks) > 0 {
		at := start(host, uint64(len(blocks)))
		for i := range blocks {
			b := blocks[(at+uint64(i))%uint64(len(blocks))]
			if len(b.Free) > 0 && !b.Foreign && p.gives(b.CIDR) {
				return b.assign(host, uses), nil
			}
		}
	}
	return Block{}, fmt.Errorf("%s, %d blocks of its own, %d in all: %w", host, mine, len(blocks), ErrNoAddress)
}

// gives reports whether a block is of a range.
func (p Pools) gives(cidr netip.Prefix) bool {
	return slices.ContainsFunc(p.Ranges, func(r netip.Prefix) bool { return r.Bits() <= cidr.Bits() && r.Contains(cidr.Addr()) })
}

// unclaimed finds a block of the ranges that overlaps none that there is.
func (p Pools) unclaimed(blocks []Block, host string) (netip.Prefix, bool) {
	for _, r := range p.Ranges {
		bits := p.bits(r)
		count := space.SubnetCount(r, bits)
		if count == 0 {
			continue
		}
		taken, full := make(map[uint64]bool), false
		for _, b := range blocks {
			if !b.CIDR.Overlaps(r) {
				continue
			}
			// A pool's block size does not change while it has blocks; a range that took the place of another one may hold
			// longer ones, or lie in one.
			first, err := space.SubnetIndex(r, bits, b.CIDR.Addr())
			last, over := space.SubnetIndex(r, bits, space.Last(b.CIDR))
			switch {
			case errors.Is(err, space.ErrOutside) || errors.Is(over, space.ErrOutside):
				full = true
			case err != nil || over != nil: // behind the 2^64 that are looked at
			default:
				for i := first; i <= last; i++ {
					taken[i] = true
				}
			}
		}
		if full || uint64(len(taken)) >= count {
			continue
		}
		for i := start(host, count); ; i = (i + 1) % count {
			if !taken[i] {
				cidr, err := space.Subnet(r, bits, i)
				if err != nil {
					panic(fmt.Sprintf("calico: block %d of %s: %v", i, r, err))
				}
				return cidr, true
			}
		}
	}
	return netip.Prefix{}, false
}

// start is where a host's search begins.
func start(host string, n uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(host)) // it never fails
	return h.Sum64() % n
}

// Tend is what the cluster's controller does about one block: addresses of hosts that are gone are taken back, and a
// block that has been empty for long enough loses its affinity if its host is gone, if its range is, or if the host has
// another one of the family (others). A block that is empty and nobody's is deleted, which the driver sees from the result. The last result is
// false where nothing changes.
func (p Pools) Tend(b Block, empty bool, others int, lives func(host string) bool) (Block, bool) {
	next := b.clone()
	if b.Foreign {
		return next, false
	}
	for i, h := range b.Hosts {
		if NodeOf(h) != "" && !lives(h) { // of one that names no node nobody knows whether it is in use
			next.free(i)
		}
	}
	gone := b.Affinity != "" && !lives(b.Affinity)
	if gone || b.Affinity != "" && empty && next.Empty() && (others > 0 || !p.gives(b.CIDR)) {
		next.Affinity = ""
	}
	return next, next.Affinity != b.Affinity || len(next.Free) != len(b.Free) || b.Affinity == "" && b.Empty()
}
