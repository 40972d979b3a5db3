package cilium

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// newBlock returns a block that is in nobody's way: without router, next to nothing.
func (n *Node) newBlock(at time.Time, p netip.Prefix) (*block, error) {
	prefix := space.Normal(p)
	skip, size := usable(prefix, RangeOptions{})
	if !prefix.IsValid() || size < 2 {
		return nil, fmt.Errorf("block %s: no room for a router and a pod", p)
	}
	b := &block{prefix: prefix, skip: skip, size: size, shut: space.NewBitmap(size), since: at}
	if skip > 0 {
		b.edges = []netip.Addr{prefix.Addr(), space.Last(prefix)}
	}
	if n.cfg.Keep != nil {
		for _, a := range n.cfg.Keep(prefix) {
			b.hard = append(b.hard, space.NormalAddr(a))
		}
	}
	return b, nil
}

// settle gives a new block a router, the wanted one if want is valid, among the others that stay. It refuses a block whose
// own addresses pods hold; nothing but b has changed then.
func (n *Node) settle(b *block, others []*block, want netip.Addr) error {
	for _, a := range b.hard {
		b.shutAddr(a)
		if n.holds(a) {
			return fmt.Errorf("block %s: its own address %s is held by a pod: %w", b.prefix, a, ipam.ErrTaken)
		}
	}
	var routers []netip.Addr
	for _, other := range others {
		if other.prefix.Overlaps(b.prefix) {
			for a := range other.own() {
				b.shutAddr(a)
			}
			routers = append(routers, other.router)
			//vppdrill:unordered a set is filled
			for _, h := range n.leases {
				b.shutAddr(h.addr)
			}
		}
	}
	i, ok := uint64(0), false
	switch {
	case want.IsValid():
		// A block that is older than the others may have its router on their first or last address.
		want = space.NormalAddr(want)
		i, ok = b.offset(want)
		ok = ok && !slices.Contains(b.hard, want) && !slices.Contains(routers, want) && !n.holds(want)
	case n.cfg.FirstRouter:
		i, ok = b.shut.NextClear(0)
	default:
		i, ok = b.next(n.cfg.Pick, pickRouter)
	}
	if !ok {
		return fmt.Errorf("block %s: no address for the router: %w", b.prefix, ipam.ErrTaken)
	}
	b.router = b.addr(i)
	b.hard = append(b.hard, b.router)
	b.shut.Set(i)
	return nil
}

// active are the blocks that new picks come from.
func (n *Node) active() []*block {
	for i, b := range n.blocks {
		if b.draining {
			return n.blocks[:i]
		}
	}
	return n.blocks
}

// reserved reports whether addr is some held block's own.
func (n *Node) reserved(addr netip.Addr) bool {
	return slices.ContainsFunc(n.blocks, func(b *block) bool {
		return slices.Contains(b.hard, addr) || slices.Contains(b.edges, addr)
	})
}

func (n *Node) overlaps(p netip.Prefix) bool {
	return slices.ContainsFunc(n.blocks, func(b *block) bool { return b.prefix != p && b.prefix.Overlaps(p) })
}

// holds reports whether somebody holds addr. It looks through all leases: no pick needs it.
func (n *Node) holds(addr netip.Addr) bool {
	//vppdrill:unordered the answer is the same in any order
	for _, h := range n.leases {
		if h.addr == addr {
			return true
		}
	}
	return false
}

// reopen makes addr pickable in every block, unless it is held or some block's own.
func (n *Node) reopen(addr netip.Addr) {
	if n.reserved(addr) || n.holds(addr) {
		return
	}
	for _, b := range n.blocks {
		b.openAddr(addr)
	}
}

// drop forgets a block without leases.
func (n *Node) drop(b *block) {
	n.blocks = slices.DeleteFunc(n.blocks, func(x *block) bool { return x == b })
	if n.overlapping {
		for a := range b.own() {
			n.reopen(a)
		}
		n.look()
	}
}

// look finds out whether any held blocks overlap.
func (n *Node) look() {
	n.overlapping = slices.ContainsFunc(n.blocks, func(b *block) bool { return n.overlaps(b.prefix) })
}

// arrange puts the blocks in order: active ones as given, then the others ascending.
func (n *Node) arrange(active []*block) {
	rest := slices.DeleteFunc(slices.Clone(n.blocks), func(b *block) bool { return slices.Contains(active, b) })
	slices.SortFunc(rest, func(x, y *block) int { return x.prefix.Compare(y.prefix) })
	n.blocks = slices.Concat(active, rest)
	n.look()
}

// join makes a new block's own addresses unpickable everywhere.
func (n *Node) join(b *block) {
	for a := range b.own() {
		for _, other := range n.blocks {
			other.shutAddr(a)
		}
	}
	n.blocks = append(n.blocks, b)
}

func (n *Node) block(p netip.Prefix) *block {
	for _, b := range n.blocks {
		if b.prefix == p {
			return b
		}
	}
	return nil
}

// SetBlocks implements ipam.NodeAllocator. It refuses, and changes nothing, when a prefix has no room for a router and a
// pod, two prefixes overlap, or draining blocks leave a new one no address for its router.
func (n *Node) SetBlocks(now time.Time, prefixes []netip.Prefix) ([]ipam.Record, error) {
	at := exact(now)
	wanted := make([]*block, len(prefixes))
	for i, p := range prefixes {
		b, err := n.newBlock(at, p)
		if err != nil {
			return nil, err
		}
		for _, earlier := range wanted[:i] {
			if earlier.prefix.Overlaps(b.prefix) {
				return nil, fmt.Errorf("block %s overlaps %s", b.prefix, earlier.prefix)
			}
		}
		if known := n.block(b.prefix); known != nil {
			b = known
		}
		wanted[i] = b
	}
	// What has no leases and is not wanted is gone before the new blocks come.
	stay := slices.DeleteFunc(slices.Clone(n.blocks), func(b *block) bool { return b.leases == 0 && !slices.Contains(wanted, b) })
	for _, b := range wanted {
		if !b.router.IsValid() {
			if err := n.settle(b, stay, netip.Addr{}); err != nil {
				return nil, err
			}
		}
	}
	records := n.retire(at, wanted)
	// What is active already in the wanted order needs no word; from the first difference on, each is named again.
	active := slices.DeleteFunc(slices.Clone(n.blocks), func(b *block) bool { return b.draining })
	same := 0
	for same < len(active) && same < len(wanted) && active[same] == wanted[same] {
		same++
	}
	for _, b := range wanted[same:] {
		n.activate(at, b)
		records = append(records, ipam.Record{Op: ipam.OpBlock, Addr: b.router, Prefix: b.prefix, At: at})
	}
	n.arrange(wanted)
	return records, nil
}

// activate makes b, new, draining or active, the last active block. Callers arrange.
func (n *Node) activate(at time.Time, b *block) {
	if n.block(b.prefix) == nil {
		n.join(b)
	}
	if b.draining {
		b.draining, b.since = false, at
	}
}

// retire drains held blocks that are not wanted, and drops those without leases.
func (n *Node) retire(at time.Time, wanted []*block) (records []ipam.Record) {
	held := slices.Clone(n.blocks)
	slices.SortFunc(held, func(x, y *block) int { return x.prefix.Compare(y.prefix) })
	for _, b := range held {
		switch {
		case slices.Contains(wanted, b):
		case b.leases == 0:
			n.drop(b)
			records = append(records, ipam.Record{Op: ipam.OpDrop, Prefix: b.prefix, At: at})
		case !b.draining:
			b.draining, b.drained = true, at
			records = append(records, ipam.Record{Op: ipam.OpDrain, Prefix: b.prefix, At: at})
		}
	}
	return records
}

// Blocks implements ipam.NodeAllocator.
func (n *Node) Blocks() []ipam.Block {
	var blocks []ipam.Block
	for _, b := range n.blocks {
		blocks = append(blocks, b.public())
	}
	return blocks
}
