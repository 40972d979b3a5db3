package datastore

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// nodeBlock is one prefix that a Node holds.
type nodeBlock struct {
	prefix  netip.Prefix
	gateway netip.Addr
	// taken has the addresses that cannot be given: leased from whatever block, cooling or reserved. Only active blocks
	// have it.
	taken *space.Bitmap
	// spare is how many of them are reserved.
	spare    int
	position int // in Node.active
	leases   int
	draining bool
	since    time.Time // became active
	drained  time.Time
}

func (b *nodeBlock) addr(index uint64) netip.Addr {
	a, err := space.Nth(b.prefix, index)
	if err != nil {
		panic(fmt.Sprintf("datastore: index %d of block %s: %v", index, b.prefix, err))
	}
	return a
}

// newBlock checks a prefix and makes a block of it that the Node does not hold yet.
func (n *Node) newBlock(at time.Time, p netip.Prefix) (*nodeBlock, error) {
	b := &nodeBlock{prefix: space.Normal(p), gateway: n.gateway, since: at}
	bits := space.HostBits(b.prefix)
	switch {
	case !b.prefix.IsValid():
		return nil, fmt.Errorf("block %s is not valid", p)
	case bits > blockHostBitsMax:
		return nil, fmt.Errorf("block %s: more than %d host bits", p, blockHostBitsMax)
	case n.gateway.IsValid() && b.prefix.Contains(n.gateway):
		return nil, fmt.Errorf("block %s contains the gateway %s", p, n.gateway)
	case !n.gateway.IsValid():
		if bits < 3 {
			return nil, fmt.Errorf("block %s: needs at least 3 host bits", p)
		}
		b.gateway = b.addr(1)
	}
	return b, nil
}

// ownOf are the addresses of b that no pod gets.
func (n *Node) ownOf(b *nodeBlock) []netip.Addr {
	if n.gateway.IsValid() {
		return nil
	}
	last := space.Last(b.prefix)
	return []netip.Addr{b.prefix.Addr(), b.gateway, last.Prev(), last}
}

// SetBlocks implements ipam.NodeAllocator. It refuses, and changes nothing, when a prefix is too small or too large, when
// two overlap, or when a pod holds, in a draining block, the address that would be a new block's gateway or last but one.
func (n *Node) SetBlocks(now time.Time, prefixes []netip.Prefix) ([]ipam.Record, error) {
	n.saw(now)
	at := exact(now)
	wanted := make([]*nodeBlock, len(prefixes))
	named := make(map[*nodeBlock]bool, len(prefixes))
	for i, p := range prefixes {
		b, err := n.newBlock(at, p)
		if err != nil {
			return nil, err
		}
		if known := n.blocks[b.prefix]; known != nil {
			b = known
		} else if err := n.checkNew(b); err != nil {
			return nil, err
		}
		wanted[i], named[b] = b, true
	}
	if err := disjoint(wanted); err != nil {
		return nil, err
	}
	records := n.retire(at, named)
	// What is active already in the wanted order needs no word; from the first difference on, each is named again.
	same := 0
	for same < len(n.active) && same < len(wanted) && n.active[same] == wanted[same] {
		same++
	}
	for _, b := range wanted[same:] {
		n.activate(at, b)
		records = append(records, ipam.Record{Op: ipam.OpBlock, Addr: b.gateway, Prefix: b.prefix, At: at})
	}
	n.arrange(wanted)
	return records, nil
}

// disjoint refuses blocks that share addresses.
func disjoint(blocks []*nodeBlock) error {
	sorted := slices.SortedFunc(slices.Values(blocks), compareBlock)
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1].prefix, sorted[i].prefix; a.Overlaps(b) {
			return fmt.Errorf("block %s overlaps %s", b, a)
		}
	}
	return nil
}

func compareBlock(a, b *nodeBlock) int { return a.prefix.Compare(b.prefix) }

// checkNew refuses a block whose gateway or loopback a pod holds.
func (n *Node) checkNew(b *nodeBlock) error {
	own := n.ownOf(b)
	if len(own) == 0 {
		return nil
	}
	for _, addr := range own[1:3] {
		if l := n.holder[addr]; l != nil {
			return fmt.Errorf("block %s: its own address %s is held by a pod of block %s: %w", b.prefix, addr, l.block.prefix, ipam.ErrTaken)
		}
	}
	return nil
}

// retire drains held blocks that are not wanted, and forgets those without leases. Callers arrange.
func (n *Node) retire(at time.Time, wanted map[*nodeBlock]bool) (records []ipam.Record) {
	for _, b := range n.ascending() {
		switch {
		case wanted[b]:
		case b.leases == 0:
			n.forget(b)
			records = append(records, ipam.Record{Op: ipam.OpDrop, Prefix: b.prefix, At: at})
		case !b.draining:
			b.drain(at)
			records = append(records, ipam.Record{Op: ipam.OpDrain, Prefix: b.prefix, At: at})
		}
	}
	return records
}

func (b *nodeBlock) drain(at time.Time) { b.draining, b.drained, b.taken = true, at, nil }

// ascending are the held blocks by prefix.
func (n *Node) ascending() []*nodeBlock {
	list := make([]*nodeBlock, 0, len(n.blocks))
	for _, b := range n.blocks {
		list = append(list, b)
	}
	slices.SortFunc(list, compareBlock)
	return list
}

// activate makes b held and not draining. Callers arrange.
func (n *Node) activate(at time.Time, b *nodeBlock) {
	if n.blocks[b.prefix] == nil {
		n.blocks[b.prefix] = b
		for _, addr := range n.ownOf(b) {
			n.reserved[addr]++
		}
	}
	if b.draining {
		b.draining, b.since = false, at
	}
}

// forget makes b a block that is not held; if it is active, callers arrange. Active blocks get what it alone reserved.
func (n *Node) forget(b *nodeBlock) {
	delete(n.blocks, b.prefix)
	for _, addr := range n.ownOf(b) {
		if n.reserved[addr]--; n.reserved[addr] > 0 {
			continue
		}
		delete(n.reserved, addr)
		if other := n.blockOf(addr); other != nil && other != b {
			other.spare--
			n.refresh(addr)
		}
	}
}

// arrange makes blocks the active ones in this order; those that were not active before learn what is taken.
func (n *Node) arrange(blocks []*nodeBlock) {
	n.active = blocks
	n.sorted = slices.SortedFunc(slices.Values(blocks), compareBlock)
	n.open = space.NewBitmap(uint64(len(blocks)))
	for i, b := range blocks {
		b.position = i
		if b.taken == nil {
			n.populate(b)
		}
		n.mark(b)
	}
}

// enroll is arrange for one more block at the end, without looking at the others.
func (n *Node) enroll(b *nodeBlock) {
	b.position = len(n.active)
	n.active = append(n.active, b)
	i, _ := slices.BinarySearchFunc(n.sorted, b, compareBlock)
	n.sorted = slices.Insert(n.sorted, i, b)
	if n.open.Size() < uint64(len(n.active)) {
		wider := space.NewBitmap(uint64(2 * len(n.active)))
		for j, ok := n.open.NextSet(0); ok; j, ok = n.open.NextSet(j + 1) {
			wider.Set(j)
		}
		n.open = wider
	}
	n.populate(b)
	n.mark(b)
}

// populate works out b's bits, by its addresses or by all that is known, whichever is less.
func (n *Node) populate(b *nodeBlock) {
	b.taken = space.NewBitmap(space.Count(b.prefix))
	b.spare = 0
	if b.taken.Size() <= uint64(len(n.holder)+len(n.embers)+len(n.reserved)) {
		for a := b.prefix.Addr(); b.prefix.Contains(a); a = a.Next() {
			_, cools := n.embers[a]
			b.set(a, cools || n.holder[a] != nil)
			b.reserve(a, n.reserved[a])
		}
		return
	}
	for a := range n.holder { // in any order: each sets its own bit
		b.set(a, true)
	}
	for a := range n.embers { // in any order: the same
		b.set(a, true)
	}
	for a, blocks := range n.reserved { // in any order: the same
		b.reserve(a, blocks)
	}
}

func (b *nodeBlock) set(a netip.Addr, taken bool) {
	if index, ok := space.Index(b.prefix, a); ok && taken {
		b.taken.Set(index)
	}
}

func (b *nodeBlock) reserve(a netip.Addr, blocks int) {
	if blocks > 0 && b.prefix.Contains(a) {
		b.spare++
		b.set(a, true)
	}
}

// mark notes whether b has something to give.
func (n *Node) mark(b *nodeBlock) {
	if b.taken.Count() == b.taken.Size() {
		n.open.Clear(uint64(b.position))
	} else {
		n.open.Set(uint64(b.position))
	}
}

// blockOf is the active block with an address, nil when there is none.
func (n *Node) blockOf(addr netip.Addr) *nodeBlock {
	i, found := slices.BinarySearchFunc(n.sorted, addr, func(b *nodeBlock, a netip.Addr) int { return b.prefix.Addr().Compare(a) })
	if !found {
		i--
	}
	if i < 0 || !n.sorted[i].prefix.Contains(addr) {
		return nil
	}
	return n.sorted[i]
}

// refresh makes the active block's bit of an address say what is known of it.
func (n *Node) refresh(addr netip.Addr) {
	b := n.blockOf(addr)
	if b == nil || b.draining { // SetBlocks drains blocks before it arranges the others
		return
	}
	index, _ := space.Index(b.prefix, addr)
	_, cools := n.embers[addr]
	if cools || n.holder[addr] != nil || n.reserved[addr] > 0 {
		b.taken.Set(index)
	} else {
		b.taken.Clear(index)
	}
	n.mark(b)
}

// Blocks implements ipam.NodeAllocator.
func (n *Node) Blocks() []ipam.Block {
	var list []ipam.Block
	for _, b := range n.active {
		list = append(list, ipam.Block{Prefix: b.prefix, Gateway: b.gateway})
	}
	for _, b := range n.ascending() {
		if b.draining {
			list = append(list, ipam.Block{Prefix: b.prefix, Gateway: b.gateway, Draining: true})
		}
	}
	return list
}
