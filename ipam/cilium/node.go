package cilium

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// NodeConfig sets a Node up.
type NodeConfig struct {
	// Pick is needed.
	Pick Picker
	// Expiration is how long a lease lasts that nobody confirms; 0 for ever. Leases that Apply replays count as confirmed:
	// after a restart nobody knows any more who is late and who is there.
	Expiration time.Duration
	// Keep names addresses of a block that no pod gets, besides its first, its last and the router's; nil for none. It must
	// give the same answer for the same block each time.
	Keep func(block netip.Prefix) []netip.Addr
	// FirstRouter gives the router the first address of a block that is not kept, instead of any.
	FirstRouter bool
}

// Node gives out the pod addresses of one node the way Cilium's host-scope mode does: a search in a block starts anywhere
// and goes up, and a released address may come back at once. The router's address is picked like a pod's when the block
// is new, and stays. It is not safe for concurrent use.
//
// Blocks are tried in SetBlocks order. They may overlap only with draining ones: then an address held in one is taken in
// the other.
type Node struct {
	cfg    NodeConfig
	leases map[ipam.Owner]held
	blocks []*block // active in SetBlocks order, then draining ones ascending
	// overlapping says that some held blocks share addresses.
	overlapping bool
	timers      deadlines[ipam.Owner]
}

// held is one lease.
type held struct {
	addr  netip.Addr
	block *block
	since int64 // Unix nanoseconds
}

var _ ipam.NodeAllocator = (*Node)(nil)

// NewNode returns a node without blocks.
func NewNode(c NodeConfig) (*Node, error) {
	if c.Pick == nil {
		return nil, errors.New("node: a Picker is needed")
	}
	if c.Expiration < 0 {
		return nil, fmt.Errorf("node: expiration %s is negative", c.Expiration)
	}
	return &Node{cfg: c, leases: make(map[ipam.Owner]held)}, nil
}

// Allocate implements ipam.Allocator. An owner that holds another address than Want.Addr gets ErrTaken. There is one pool:
// Want.Pool is "" or "default", else ErrNotInPool.
func (n *Node) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	if h, ok := n.leases[o]; ok {
		if w.Addr.IsValid() && space.NormalAddr(w.Addr) != h.addr {
			return ipam.Lease{}, nil, fmt.Errorf("%s holds %s and wants %s: %w", o, h.addr, w.Addr, ipam.ErrTaken)
		}
		return h.lease(o), nil, nil
	}
	if !o.Valid() {
		return ipam.Lease{}, nil, fmt.Errorf("owner %q is not valid", o)
	}
	b, addr, err := n.pick(w)
	if err != nil {
		return ipam.Lease{}, nil, err
	}
	h := n.give(b, addr, o, now)
	if n.cfg.Expiration > 0 {
		n.timers.start(o, now.Add(n.cfg.Expiration))
	}
	l := h.lease(o)
	return l, []ipam.Record{{Op: ipam.OpLease, Owner: o, Addr: addr, Prefix: b.prefix, At: l.Since}}, nil
}

// pick finds an address, and changes nothing.
func (n *Node) pick(w ipam.Want) (*block, netip.Addr, error) {
	active := n.active()
	switch {
	case w.Pool != "" && w.Pool != DefaultPool:
		return nil, netip.Addr{}, fmt.Errorf("pool %q: %w", w.Pool, ipam.ErrNotInPool)
	case len(active) == 0:
		return nil, netip.Addr{}, ipam.ErrNoBlock
	case w.Addr.IsValid():
		return n.pickExactly(space.NormalAddr(w.Addr))
	}
	for _, b := range active {
		if i, ok := b.next(n.cfg.Pick, pickNext); ok {
			return b, b.addr(i), nil
		}
	}
	total, _ := n.Capacity(time.Time{})
	return nil, netip.Addr{}, fmt.Errorf("%d blocks from %s on with %d addresses: %w", len(active), active[0].prefix, total, ipam.ErrExhausted)
}

func (n *Node) pickExactly(addr netip.Addr) (*block, netip.Addr, error) {
	for _, b := range n.active() {
		if !b.prefix.Contains(addr) {
			continue
		}
		i, ok := b.offset(addr)
		switch {
		case ok && !b.shut.Test(i):
			return b, addr, nil
		case ok && (!n.reserved(addr) || n.holds(addr)):
			return nil, netip.Addr{}, fmt.Errorf("address %s in %s: %w", addr, b.prefix, ipam.ErrTaken)
		}
		return nil, netip.Addr{}, fmt.Errorf("address %s in %s: %w", addr, b.prefix, ipam.ErrNotInPool)
	}
	return nil, netip.Addr{}, fmt.Errorf("address %s: %w", addr, ipam.ErrNotInPool)
}

// give notes that o holds addr of b.
func (n *Node) give(b *block, addr netip.Addr, o ipam.Owner, now time.Time) held {
	h := held{addr: addr, block: b, since: now.UnixNano()}
	n.leases[o] = h
	b.leases++
	if !n.overlapping {
		b.shutAddr(addr)
		return h
	}
	for _, other := range n.blocks {
		other.shutAddr(addr)
	}
	return h
}

// Release implements ipam.Allocator. Besides the release it may record that a draining block is gone.
func (n *Node) Release(now time.Time, o ipam.Owner) []ipam.Record {
	h, ok := n.leases[o]
	if !ok {
		return nil
	}
	n.takeBack(o, h)
	at := exact(now)
	records := []ipam.Record{{Op: ipam.OpRelease, Owner: o, Addr: h.addr, Prefix: h.block.prefix, At: at}}
	if h.block.draining && h.block.leases == 0 {
		n.drop(h.block)
		records = append(records, ipam.Record{Op: ipam.OpDrop, Prefix: h.block.prefix, At: at})
	}
	return records
}

// takeBack ends a lease without a look at its block's end.
func (n *Node) takeBack(o ipam.Owner, h held) {
	delete(n.leases, o)
	n.timers.stop(o)
	h.block.leases--
	if !n.overlapping {
		h.block.openAddr(h.addr)
		return
	}
	n.reopen(h.addr)
}

// Confirm says that o uses its lease, which then does not expire. It reports whether o holds one.
func (n *Node) Confirm(o ipam.Owner) bool {
	n.timers.stop(o)
	_, ok := n.leases[o]
	return ok
}

// Expire releases the leases whose time ended at or before now without a Confirm, the earliest first.
func (n *Node) Expire(now time.Time) (records []ipam.Record) {
	for {
		o, ok := n.timers.due(now)
		if !ok {
			return records
		}
		records = append(records, n.Release(now, o)...)
	}
}

// NextExpiry is when the next lease expires, the zero time when none does.
func (n *Node) NextExpiry() time.Time {
	at, _ := n.timers.next()
	return at
}

// Leases implements ipam.Allocator. It works on a copy: the caller may change the node meanwhile.
func (n *Node) Leases() iter.Seq[ipam.Lease] { return slices.Values(n.sortedLeases()) }

func (n *Node) sortedLeases() []ipam.Lease {
	leases := make([]ipam.Lease, 0, len(n.leases))
	//vppdrill:unordered sorted below
	for o, h := range n.leases {
		leases = append(leases, h.lease(o))
	}
	slices.SortFunc(leases, func(x, y ipam.Lease) int { return x.Addr.Compare(y.Addr) })
	return leases
}

// Lease implements ipam.NodeAllocator.
func (n *Node) Lease(o ipam.Owner) (ipam.Lease, bool) {
	h, ok := n.leases[o]
	if !ok {
		return ipam.Lease{}, false
	}
	return h.lease(o), true
}

// Capacity implements ipam.NodeAllocator; both figures stop at the largest int. The time does not matter.
func (n *Node) Capacity(time.Time) (total, free int) {
	for _, b := range n.active() {
		total = addSaturating(total, b.capacity())
		free = addSaturating(free, b.size-b.shut.Count())
	}
	return total, free
}

func addSaturating(a int, b uint64) int {
	if b > uint64(math.MaxInt-a) {
		return math.MaxInt
	}
	return a + int(b)
}

// FreeAt implements ipam.NodeAllocator. Nothing ever cools: it is the zero time.
func (n *Node) FreeAt(time.Time) time.Time { return time.Time{} }

func (h held) lease(o ipam.Owner) ipam.Lease {
	return ipam.Lease{Owner: o, Addr: h.addr, Block: h.block.prefix, Gateway: h.block.router, Since: time.Unix(0, h.since).UTC()}
}

// exact is t as a Record keeps it.
func exact(t time.Time) time.Time { return time.Unix(0, t.UnixNano()).UTC() }
