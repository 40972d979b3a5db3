package datastore

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Apply implements ipam.NodeAllocator. A release without owner says that the address cools since then, in whatever block
// it is. A cursor changes nothing, because this allocator always starts at the lowest address.
func (n *Node) Apply(r ipam.Record) error {
	r.At = exact(r.At)
	if err := n.apply(r); err != nil {
		return fmt.Errorf("apply %q: %w", r, err)
	}
	n.saw(r.At)
	return nil
}

func (n *Node) apply(r ipam.Record) error {
	if r.Op == ipam.OpBlock {
		return n.applyBlock(r)
	}
	if r.Op == ipam.OpRelease && r.Owner == (ipam.Owner{}) {
		return n.applyCooling(r)
	}
	b := n.blocks[space.Normal(r.Prefix)]
	if b == nil {
		return fmt.Errorf("block %s is not held", r.Prefix)
	}
	switch r.Op {
	case ipam.OpLease:
		return n.applyLease(b, r)
	case ipam.OpRelease:
		l := n.leases[r.Owner]
		if l == nil || l.block != b || l.addr != space.NormalAddr(r.Addr) {
			return errors.New("owner does not hold that address")
		}
		n.takeBack(r.At, l)
	case ipam.OpDrain:
		if b.draining {
			return errors.New("block drains already")
		}
		b.drain(r.At)
		n.deactivate(b)
	case ipam.OpDrop:
		if b.leases > 0 {
			return fmt.Errorf("block has %d leases", b.leases)
		}
		n.forget(b)
		n.deactivate(b)
	case ipam.OpCursor:
		if !b.prefix.Contains(space.NormalAddr(r.Addr)) {
			return errors.New("cursor is outside the block")
		}
	default:
		return errors.New("unknown operation")
	}
	return nil
}

// deactivate takes b out of the active blocks, if it is there.
func (n *Node) deactivate(b *nodeBlock) {
	n.arrange(slices.DeleteFunc(slices.Clone(n.active), func(x *nodeBlock) bool { return x == b }))
}

func (n *Node) applyBlock(r ipam.Record) error {
	b, err := n.newBlock(r.At, r.Prefix)
	if err != nil {
		return err
	}
	if r.Addr.IsValid() && space.NormalAddr(r.Addr) != b.gateway {
		return fmt.Errorf("gateway of %s is %s", b.prefix, b.gateway)
	}
	if other := n.overlapping(b.prefix); other != nil {
		return fmt.Errorf("overlaps block %s", other.prefix)
	}
	if known := n.blocks[b.prefix]; known != nil {
		b = known
	} else if err := n.checkNew(b); err != nil {
		return err
	}
	n.activate(r.At, b)
	if b.taken != nil {
		n.deactivate(b) // named again: it goes to the end
	}
	n.enroll(b)
	return nil
}

// overlapping is an active block that shares addresses with p and is another, nil when there is none.
func (n *Node) overlapping(p netip.Prefix) *nodeBlock {
	if b := n.blockOf(p.Addr()); b != nil && b.prefix != p {
		return b
	}
	// Any other starts behind p's first address; as active blocks are disjoint, the next one tells.
	i, _ := slices.BinarySearchFunc(n.sorted, p.Addr(), func(b *nodeBlock, a netip.Addr) int {
		if b.prefix.Addr().Compare(a) <= 0 {
			return -1
		}
		return 1
	})
	if i < len(n.sorted) && n.sorted[i].prefix.Overlaps(p) {
		return n.sorted[i]
	}
	return nil
}

func (n *Node) applyLease(b *nodeBlock, r ipam.Record) error {
	addr := space.NormalAddr(r.Addr)
	switch l := n.leases[r.Owner]; {
	case !r.Owner.Valid():
		return fmt.Errorf("owner %q is not valid", r.Owner)
	case l != nil:
		return fmt.Errorf("owner holds %s: %w", l.addr, ipam.ErrTaken)
	case !b.prefix.Contains(addr):
		return fmt.Errorf("address is outside the block: %w", ipam.ErrNotInPool)
	case n.holder[addr] != nil:
		return fmt.Errorf("%s holds it: %w", n.holder[addr].owner, ipam.ErrTaken)
	case n.reservedFor(b, addr):
		return fmt.Errorf("address is reserved: %w", ipam.ErrNotInPool)
	}
	n.give(&lease{owner: r.Owner, addr: addr, block: b, since: r.At})
	return nil
}

// reservedFor reports whether no lease of addr in b can be. The first and last address of another block may be leased: the
// lease is older than that block. Its other two may not, because SetBlocks refuses such a block.
func (n *Node) reservedFor(b *nodeBlock, addr netip.Addr) bool {
	if n.reserved[addr] == 0 {
		return false
	}
	if slices.Contains(n.ownOf(b), addr) {
		return true
	}
	for _, other := range n.blocks { // in any order: one is enough
		if other != b && slices.Contains(n.ownOf(other)[1:3], addr) {
			return true
		}
	}
	return false
}

func (n *Node) applyCooling(r ipam.Record) error {
	addr, prefix := space.NormalAddr(r.Addr), space.Normal(r.Prefix)
	switch {
	case !prefix.Contains(addr):
		return errors.New("address is outside the block")
	case n.holder[addr] != nil:
		return ipam.ErrTaken
	}
	n.cool(ember{addr: addr, prefix: prefix, at: r.At})
	n.refresh(addr)
	return nil
}

// Records implements ipam.NodeAllocator. Draining blocks come first, so that no two active blocks ever overlap on the way;
// addresses that still cool are releases without owner, at the end.
func (n *Node) Records() []ipam.Record {
	leases := make(map[*nodeBlock][]ipam.Lease, len(n.blocks))
	for l := range n.Leases() {
		b := n.blocks[l.Block]
		leases[b] = append(leases[b], l)
	}
	var records []ipam.Record
	tell := func(b *nodeBlock) {
		records = append(records, ipam.Record{Op: ipam.OpBlock, Addr: b.gateway, Prefix: b.prefix, At: b.since})
		for _, l := range leases[b] {
			records = append(records, ipam.Record{Op: ipam.OpLease, Owner: l.Owner, Addr: l.Addr, Prefix: b.prefix, At: l.Since})
		}
		if b.draining {
			records = append(records, ipam.Record{Op: ipam.OpDrain, Prefix: b.prefix, At: b.drained})
		}
	}
	for _, b := range n.ascending() {
		if b.draining {
			tell(b)
		}
	}
	for _, b := range n.active {
		tell(b)
	}
	return append(records, n.coolingRecords()...)
}

func (n *Node) coolingRecords() []ipam.Record {
	list := make([]ipam.Record, 0, len(n.embers))
	for _, e := range n.embers {
		if n.clock.Sub(e.at) <= n.cooling {
			list = append(list, ipam.Record{Op: ipam.OpRelease, Addr: e.addr, Prefix: e.prefix, At: e.at})
		}
	}
	slices.SortFunc(list, func(a, b ipam.Record) int { return cmp.Or(a.At.Compare(b.At), a.Addr.Compare(b.Addr)) })
	return list
}
