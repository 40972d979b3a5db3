package nodeipam

import (
	"cmp"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// minPerNodeHostBits is the API's lower bound of ClusterCIDR.PerNodeHostBits.
const minPerNodeHostBits = 4

// ClusterCIDR is one range of node blocks for the nodes that a selector chooses. At least one family is set; a node
// gets a block of each.
type ClusterCIDR struct {
	Name     string
	Selector Selector
	// PerNodeHostBits is how many bits a node's block leaves to pods, >= 4, in both families.
	PerNodeHostBits int
	IPv4, IPv6      netip.Prefix
}

func (c ClusterCIDR) check() error {
	if !c.IPv4.IsValid() && !c.IPv6.IsValid() {
		return fmt.Errorf("invalid ClusterCIDR %s: must provide IPv4 and/or IPv6 config", c.Name)
	}
	switch {
	case c.PerNodeHostBits < minPerNodeHostBits:
		return fmt.Errorf("invalid ClusterCIDR %s: perNodeHostBits %d is less than %d", c.Name, c.PerNodeHostBits, minPerNodeHostBits)
	case c.IPv4.IsValid() && !space.Normal(c.IPv4).Addr().Is4():
		return fmt.Errorf("invalid ClusterCIDR %s: %s is not IPv4", c.Name, c.IPv4)
	case c.IPv6.IsValid() && !space.Normal(c.IPv6).Addr().Is6():
		return fmt.Errorf("invalid ClusterCIDR %s: %s is not IPv6", c.Name, c.IPv6)
	}
	return nil
}

// mask is the length of node blocks in a family.
func (c ClusterCIDR) mask(p netip.Prefix) int { return p.Addr().Unmap().BitLen() - c.PerNodeHostBits }

// first is the range that stands for both in the choice order.
func (c ClusterCIDR) first() netip.Prefix {
	if c.IPv4.IsValid() {
		return space.Normal(c.IPv4)
	}
	return space.Normal(c.IPv6)
}

// maxAllocatable is how many nodes the range is enough for: the smaller family's count.
func (c ClusterCIDR) maxAllocatable() uint64 {
	n := ^uint64(0)
	for _, p := range [...]netip.Prefix{c.IPv4, c.IPv6} {
		if p.IsValid() {
			n = min(n, space.SubnetCount(p, c.mask(p)))
		}
	}
	return n
}

// Candidate is a ClusterCIDR whose selector chooses a node. MatchCount is how many requirements of it the node meets.
type Candidate struct {
	ClusterCIDR ClusterCIDR
	MatchCount  int
}

// Compare is the order in which a node's candidates are tried: more matching labels first, then fewer blocks in all,
// then fewer addresses in a block, then the selector's text, the range's text and the name in lexical order.
func (c Candidate) Compare(d Candidate) int {
	return cmp.Or(
		cmp.Compare(d.MatchCount, c.MatchCount),
		cmp.Compare(c.ClusterCIDR.maxAllocatable(), d.ClusterCIDR.maxAllocatable()),
		cmp.Compare(c.ClusterCIDR.PerNodeHostBits, d.ClusterCIDR.PerNodeHostBits),
		cmp.Compare(c.ClusterCIDR.Selector.String(), d.ClusterCIDR.Selector.String()),
		cmp.Compare(c.ClusterCIDR.first().String(), d.ClusterCIDR.first().String()),
		cmp.Compare(c.ClusterCIDR.Name, d.ClusterCIDR.Name),
	)
}
