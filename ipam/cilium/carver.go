package cilium

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// carver cuts equally long blocks out of ranges and knows which node holds which. It goes on behind the block given
// last, range after range; a returned block comes back after the delay.
type carver struct {
	bits   int
	delay  time.Duration
	ranges []*space.Subnets
	holder map[netip.Prefix]string
	// lengths counts the held and cooling blocks of each length: blocks from an older configuration, or adopted ones, may
	// overlap others in part.
	lengths map[int]int
	cooling []returned // by time of return
}

// newCarver returns a carver without ranges.
func newCarver(bits int, delay time.Duration) *carver {
	return &carver{bits: bits, delay: delay, holder: make(map[netip.Prefix]string), lengths: make(map[int]int)}
}

// extend adds a range. Blocks in it that are held or cooling already stay so.
func (c *carver) extend(p netip.Prefix) error {
	s, err := space.NewSubnets(p, c.bits)
	if err != nil {
		return err
	}
	for _, r := range c.ranges {
		if r.Prefix().Overlaps(s.Prefix()) {
			return fmt.Errorf("range %s overlaps %s", s.Prefix(), r.Prefix())
		}
	}
	//vppdrill:unordered a set is filled
	for cidr := range c.holder {
		_, _ = s.Occupy(cidr) // the error is that cidr is elsewhere
	}
	for _, r := range c.cooling {
		_, _ = s.Occupy(r.cidr)
	}
	c.ranges = append(c.ranges, s)
	return nil
}

// claim gives holder the next block that is free. Foreign finds a block of somebody else that overlaps one of this
// carver's.
func (c *carver) claim(now time.Time, holder string, foreign func(netip.Prefix) (netip.Prefix, bool)) (netip.Prefix, error) {
	c.expire(now)
	for _, s := range c.ranges {
		if p, ok := search(s, foreign); ok {
			c.hold(p, holder)
			return p, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("%d blocks of length %d in %d ranges: %w", c.capacity(), c.bits, len(c.ranges), ErrNoCIDR)
}

// search takes the next block of s that is free. A foreign block is passed over as a whole: it may cover 2^60 blocks of
// s.
func search(s *space.Subnets, foreign func(netip.Prefix) (netip.Prefix, bool)) (netip.Prefix, bool) {
	var aside []netip.Prefix
	p, ok := s.Allocate()
	for ok {
		wide, taken := foreign(p)
		if !taken {
			break
		}
		_, _ = s.Occupy(wide) // it overlaps p, which is of s
		aside = append(aside, wide, p)
		p, ok = s.Allocate()
	}
	// None of this carver's own blocks is among them: nobody gets a block of which another has a part.
	for _, q := range aside {
		_, _ = s.Release(q)
	}
	return p, ok
}

// restore gives holder a block that it had before, in the ranges or not, cooling or not.
func (c *carver) restore(holder string, p netip.Prefix) error {
	if other, ok := c.conflict(p); ok {
		if c.holder[p] == holder {
			return nil
		}
		return fmt.Errorf("CIDR %s of %s overlaps %s of %s: %w", p, holder, other, c.holder[other], ErrCIDRTaken)
	}
	if at := slices.IndexFunc(c.cooling, func(r returned) bool { return r.cidr == p }); at >= 0 {
		c.cooling = slices.Delete(c.cooling, at, at+1)
		c.lose(p)
	}
	for _, s := range c.ranges {
		_, _ = s.Occupy(p) // the error is that p is elsewhere
	}
	c.hold(p, holder)
	return nil
}

func (c *carver) hold(p netip.Prefix, holder string) {
	c.holder[p] = holder
	c.lengths[p.Bits()]++
}

// lose ends the counting of p.
func (c *carver) lose(p netip.Prefix) {
	if c.lengths[p.Bits()]--; c.lengths[p.Bits()] == 0 {
		delete(c.lengths, p.Bits())
	}
}

// alone reports whether no block of another length than p is about.
func (c *carver) alone(p netip.Prefix) bool {
	_, same := c.lengths[p.Bits()]
	return len(c.lengths) == 0 || same && len(c.lengths) == 1
}

// conflict finds a held block that overlaps p.
func (c *carver) conflict(p netip.Prefix) (netip.Prefix, bool) {
	longer := false
	for bits := range p.Addr().BitLen() + 1 {
		if c.lengths[bits] == 0 {
			continue
		}
		if bits > p.Bits() {
			longer = true
			break
		}
		wide, err := p.Addr().Prefix(bits)
		if _, ok := c.holder[wide]; ok && err == nil {
			return wide, true
		}
	}
	if longer {
		return c.within(p)
	}
	return netip.Prefix{}, false
}

// within finds the first held block inside of p.
func (c *carver) within(p netip.Prefix) (first netip.Prefix, ok bool) {
	//vppdrill:unordered the first in order is found in any order
	for q := range c.holder {
		if q.Overlaps(p) && (!ok || q.Compare(first) < 0) {
			first, ok = q, true
		}
	}
	return first, ok
}

// engaged finds a block that is held or cooling and overlaps p.
func (c *carver) engaged(p netip.Prefix) (netip.Prefix, bool) {
	if q, held := c.conflict(p); held {
		return q, true
	}
	for _, r := range c.cooling {
		if r.cidr.Overlaps(p) {
			return r.cidr, true
		}
	}
	return netip.Prefix{}, false
}

// all yields the held blocks in ascending order.
func (c *carver) all() iter.Seq[netip.Prefix] {
	held := make([]netip.Prefix, 0, len(c.holder))
	for p := range c.holder {
		held = append(held, p)
	}
	slices.SortFunc(held, netip.Prefix.Compare)
	return slices.Values(held)
}

// capacity is how many blocks the ranges have in all, at most 2^64-1.
func (c *carver) capacity() (n uint64) {
	for _, s := range c.ranges {
		n += min(s.Capacity(), ^uint64(0)-n)
	}
	return n
}
