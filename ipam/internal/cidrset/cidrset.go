package cidrset

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Errors of CIDRSet under upstream's names and texts; they come wrapped with the range and what it holds.
var (
	// ErrCIDRRangeNoCIDRsRemaining: every block is taken.
	ErrCIDRRangeNoCIDRsRemaining = errors.New("CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range")
	// ErrCIDRSetSubNetTooBig: the range has more blocks than the set may keep.
	//lint:ignore ST1005 the text is upstream's
	ErrCIDRSetSubNetTooBig = errors.New("New CIDR set failed; the node CIDR size is too big")
	// ErrOutOfRange: the CIDR and the cluster's range share no address.
	ErrOutOfRange = errors.New("out the range of cluster cidr")
)

const (
	// clusterSubnetMaxDiff is upstream's limit for IPv6: 2^16 blocks, which its bitmap of big integers can bear.
	clusterSubnetMaxDiff = 16
	// widthMax leaves room to count blocks in 64 bits.
	widthMax = 63
)

// CIDRSet is the set of equally long blocks of a cluster's range. It is not safe for concurrent use.
type CIDRSet struct {
	cluster netip.Prefix
	mask    int
	taken   space.Bitmap
	next    uint64 // where AllocateNext looks first; Size stands for 0
	// parts are the occupied pieces of blocks that are not occupied as a whole, by block.
	parts map[uint64][]netip.Prefix
	tally tally
	full  error
	quick quick
}

// Option sets a CIDRSet up.
type Option func(*options)

type options struct{ anyWidth bool }

// WithAnyWidth lifts the limit of 2^16 IPv6 blocks to 2^63. Memory follows the blocks in use, not the range.
func WithAnyWidth() Option { return func(o *options) { o.anyWidth = true } }

// NewCIDRSet returns the empty set of length-nodeMaskSize blocks of cluster, whose host bits do not matter. It fails
// with ErrCIDRSetSubNetTooBig, or when nodeMaskSize is shorter than the cluster's mask or longer than an address.
func NewCIDRSet(cluster netip.Prefix, nodeMaskSize int, opts ...Option) (*CIDRSet, error) {
	var o options
	for _, set := range opts {
		set(&o)
	}
	c := space.Normal(cluster)
	if !c.IsValid() || nodeMaskSize < c.Bits() || nodeMaskSize > c.Addr().BitLen() {
		return nil, fmt.Errorf("node mask size %d does not split cluster CIDR %s", nodeMaskSize, cluster)
	}
	width := nodeMaskSize - c.Bits()
	if width > widthMax || c.Addr().Is6() && width > clusterSubnetMaxDiff && !o.anyWidth {
		return nil, fmt.Errorf("%w: /%d in %s", ErrCIDRSetSubNetTooBig, nodeMaskSize, c)
	}
	s := &CIDRSet{cluster: c, mask: nodeMaskSize, taken: *space.NewBitmap(space.SubnetCount(c, nodeMaskSize))}
	s.quick = newQuick(c, nodeMaskSize)
	// Made once, because a full range is asked again by every waiting node.
	s.full = fmt.Errorf("%w: %s holds %d blocks of /%d", ErrCIDRRangeNoCIDRsRemaining, c, s.taken.Size(), s.mask)
	return s, nil
}

// ClusterCIDR is the range that blocks are cut from, masked.
func (s *CIDRSet) ClusterCIDR() netip.Prefix { return s.cluster }

// NodeMaskSize is the length of each block.
func (s *CIDRSet) NodeMaskSize() int { return s.mask }

// MaxCIDRs is how many blocks there are.
func (s *CIDRSet) MaxCIDRs() uint64 { return s.taken.Size() }

// AllocatedCIDRs is how many blocks are taken, wholly or in part.
func (s *CIDRSet) AllocatedCIDRs() uint64 { return s.taken.Count() }

// Free is how many blocks AllocateNext could give.
func (s *CIDRSet) Free() uint64 { return s.taken.Size() - s.taken.Count() }

// AllocateNext takes the next free block, or fails with ErrCIDRRangeNoCIDRsRemaining.
func (s *CIDRSet) AllocateNext() (netip.Prefix, error) {
	i, ok := s.allocate()
	if !ok {
		return netip.Prefix{}, s.full
	}
	if s.quick.v4 {
		return s.quick.block4(i), nil
	}
	return s.block(i), nil
}

// allocate takes the index of the next free block; false when every block is taken.
func (s *CIDRSet) allocate() (uint64, bool) {
	from := s.next
	i, ok := s.taken.TakeNear(from)
	if !ok {
		if i, ok = s.taken.TakeNext(from); !ok {
			return 0, false
		}
	}
	tries := i - from
	if i < from {
		tries += s.taken.Size()
	}
	s.next = i + 1
	s.tally.tried(tries)
	return i, true
}

// Occupy takes what cidr shares with the range, taken already or not. It fails with ErrOutOfRange when that is nothing.
func (s *CIDRSet) Occupy(cidr netip.Prefix) error {
	cidr, first, last, err := s.span(cidr)
	if err != nil {
		return err
	}
	if cidr.Bits() > s.mask {
		s.occupyPart(first, cidr)
		return nil
	}
	s.forgetParts(first, last)
	s.setRange(first, last)
	return nil
}

// Release frees what cidr shares with the range, taken or not. A block is free again when no part of it is occupied.
func (s *CIDRSet) Release(cidr netip.Prefix) error {
	i, ok := uint64(0), s.quick.v4 && cidr.Addr().Is4() && cidr.Bits() == s.quick.mask
	if ok {
		i = s.quick.index4(cidr.Addr()) // without a call
	} else {
		i, ok = s.quick.index(cidr)
	}
	if ok && len(s.parts) == 0 && i < s.taken.Size() {
		if !s.taken.ClearNear(i) {
			s.taken.Clear(i)
		}
		return nil
	}
	cidr, first, last, err := s.span(cidr)
	if err != nil {
		return err
	}
	if cidr.Bits() > s.mask {
		s.releasePart(first, cidr)
		return nil
	}
	s.forgetParts(first, last)
	s.clearRange(first, last)
	return nil
}

func (s *CIDRSet) setRange(first, last uint64) {
	if first == last {
		if s.taken.Set(first) {
			s.tally.occupied++
		}
		return
	}
	s.tally.occupied += s.taken.SetRange(first, last)
}

func (s *CIDRSet) clearRange(first, last uint64) uint64 {
	if first != last {
		return s.taken.ClearRange(first, last)
	}
	if s.taken.Clear(first) {
		return 1
	}
	return 0
}

// Has reports whether some part of block i is occupied.
func (s *CIDRSet) Has(i uint64) bool { return s.taken.Test(i) }

// CIDRBlock is the block of index i, in 0..MaxCIDRs-1.
func (s *CIDRSet) CIDRBlock(i uint64) (netip.Prefix, error) {
	return space.Subnet(s.cluster, s.mask, i)
}

// block is CIDRBlock for an index that is known to be good.
func (s *CIDRSet) block(i uint64) netip.Prefix {
	if s.quick.works {
		return s.quick.block(i)
	}
	p, err := space.Subnet(s.cluster, s.mask, i)
	if err != nil {
		panic(fmt.Sprintf("cidrset: block %d of %s: %v", i, s.cluster, err))
	}
	return p
}

// IndexOf is the index of the block that cidr's first address lies in.
func (s *CIDRSet) IndexOf(cidr netip.Prefix) (uint64, error) {
	cidr = space.Normal(cidr)
	i, err := space.SubnetIndex(s.cluster, s.mask, cidr.Addr())
	if err != nil {
		return 0, fmt.Errorf("CIDR %s is out of the range of CIDR allocator %s: %w", cidr, s.cluster, err)
	}
	return i, nil
}

// Indices are the indices of the first and the last block that cidr shares addresses with. A cidr longer than the node
// mask lies in one block; one that holds the whole range yields every block.
func (s *CIDRSet) Indices(cidr netip.Prefix) (first, last uint64, err error) {
	_, first, last, err = s.span(cidr)
	return first, last, err
}

// span is Indices with cidr in normal form.
func (s *CIDRSet) span(cidr netip.Prefix) (p netip.Prefix, first, last uint64, err error) {
	if i, ok := s.quick.index(cidr); ok && i < s.taken.Size() {
		return s.quick.block(i), i, i, nil
	}
	p = space.Normal(cidr)
	if !p.IsValid() || !p.Overlaps(s.cluster) {
		return p, 0, 0, fmt.Errorf("cidr %s is %w %s", p, ErrOutOfRange, s.cluster)
	}
	if p.Bits() <= s.cluster.Bits() {
		return p, 0, s.taken.Size() - 1, nil
	}
	if first, err = s.IndexOf(p); err != nil {
		return p, 0, 0, err
	}
	if p.Bits() < s.mask {
		return p, first, first + 1<<(s.mask-p.Bits()) - 1, nil
	}
	return p, first, first, nil
}
