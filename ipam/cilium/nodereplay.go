package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Apply implements ipam.NodeAllocator. A block's record carries its router's address. Cursors mean nothing here: a search
// starts anywhere.
func (n *Node) Apply(r ipam.Record) error {
	r.At = exact(r.At)
	if err := n.apply(r); err != nil {
		return fmt.Errorf("apply %q: %w", r, err)
	}
	return nil
}

func (n *Node) apply(r ipam.Record) error {
	if r.Op == ipam.OpBlock {
		return n.applyBlock(r)
	}
	b := n.block(space.Normal(r.Prefix))
	if b == nil {
		return fmt.Errorf("block %s is not held", r.Prefix)
	}
	switch r.Op {
	case ipam.OpLease:
		return n.applyLease(b, r)
	case ipam.OpRelease:
		h, ok := n.leases[r.Owner]
		if !ok || h.block != b || h.addr != space.NormalAddr(r.Addr) {
			return errors.New("owner does not hold that address")
		}
		n.takeBack(r.Owner, h)
	case ipam.OpDrain:
		if b.draining {
			return errors.New("block drains already")
		}
		b.draining, b.drained = true, r.At
		n.arrange(slices.DeleteFunc(slices.Clone(n.blocks), func(x *block) bool { return x.draining }))
	case ipam.OpDrop:
		if b.leases > 0 {
			return fmt.Errorf("block has %d leases", b.leases)
		}
		n.drop(b)
	case ipam.OpCursor:
		if !b.prefix.Contains(space.NormalAddr(r.Addr)) {
			return errors.New("cursor is outside the block")
		}
	default:
		return errors.New("unknown operation")
	}
	return nil
}

func (n *Node) applyBlock(r ipam.Record) error {
	b, err := n.newBlock(r.At, r.Prefix)
	if err != nil {
		return err
	}
	active := slices.Clone(n.active())
	for _, other := range active {
		if other.prefix != b.prefix && other.prefix.Overlaps(b.prefix) {
			return fmt.Errorf("overlaps block %s", other.prefix)
		}
	}
	switch known := n.block(b.prefix); {
	case known != nil && known.router != space.NormalAddr(r.Addr):
		return fmt.Errorf("the router of %s is %s", b.prefix, known.router)
	case known != nil:
		b = known
	case !r.Addr.IsValid():
		return errors.New("no address for the router")
	default:
		if err := n.settle(b, n.blocks, r.Addr); err != nil {
			return err
		}
	}
	n.activate(r.At, b)
	active = slices.DeleteFunc(active, func(x *block) bool { return x == b })
	n.arrange(append(active, b))
	return nil
}

func (n *Node) applyLease(b *block, r ipam.Record) error {
	addr := space.NormalAddr(r.Addr)
	i, inside := b.offset(addr)
	if !r.Owner.Valid() {
		return fmt.Errorf("owner %q is not valid", r.Owner)
	}
	if h, ok := n.leases[r.Owner]; ok {
		return fmt.Errorf("owner holds %s: %w", h.addr, ipam.ErrTaken)
	}
	if !inside || slices.ContainsFunc(n.blocks, func(x *block) bool { return slices.Contains(x.hard, addr) }) {
		return ipam.ErrNotInPool
	}
	// What is shut and nobody's is another block's first or last address: the lease is older than that block.
	if b.shut.Test(i) && n.holds(addr) {
		return ipam.ErrTaken
	}
	n.give(b, addr, r.Owner, r.At)
	return nil
}

// Records implements ipam.NodeAllocator. Draining blocks come first, so that no two active blocks ever overlap on the way.
func (n *Node) Records() []ipam.Record {
	leases := make(map[netip.Prefix][]ipam.Record)
	for _, l := range n.sortedLeases() {
		leases[l.Block] = append(leases[l.Block], ipam.Record{Op: ipam.OpLease, Owner: l.Owner, Addr: l.Addr, Prefix: l.Block, At: l.Since})
	}
	active := len(n.active())
	var records []ipam.Record
	for _, b := range slices.Concat(n.blocks[active:], n.blocks[:active]) {
		records = append(records, ipam.Record{Op: ipam.OpBlock, Addr: b.router, Prefix: b.prefix, At: b.since})
		records = append(records, leases[b.prefix]...)
		if b.draining {
			records = append(records, ipam.Record{Op: ipam.OpDrain, Prefix: b.prefix, At: b.drained})
		}
	}
	return records
}
