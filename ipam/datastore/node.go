package datastore

import (
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// NodeConfig sets a Node up. The zero NodeConfig is valid.
type NodeConfig struct {
	// Cooling is how long a released address is not given out again, the boundary included; 0 is CoolingPeriod, negative
	// not at all.
	Cooling time.Duration
	// Gateway is one address outside all blocks that every pod uses as its gateway, as AWS does with 169.254.1.1; then every
	// address of a block is for pods. The zero Addr gives each block a gateway of its own at index 1, as the wiring of this
	// module expects, and reserves it, the first and the last two addresses: at least 3 host bits are needed then.
	Gateway netip.Addr
}

// blockHostBitsMax keeps an address's index in a block within 64 bits.
const blockHostBitsMax = 63

// Node is the allocator for one node whose blocks are what EC2 delegated to its ENIs. Within the first block in SetBlocks
// order that has one, the lowest free address is given, so that later blocks empty and can go back. It is not safe for
// concurrent use.
//
// It follows DataStore's rules for addresses with blocks and Records in place of ENIs and a checkpoint file.
type Node struct {
	cooling time.Duration
	gateway netip.Addr

	leases map[ipam.Owner]*lease
	holder map[netip.Addr]*lease
	blocks map[netip.Prefix]*nodeBlock
	active []*nodeBlock // in SetBlocks order
	sorted []*nodeBlock // the active ones by address
	open   *space.Bitmap
	// embers are the cooling addresses; queue has them by release time, and entries that embers contradicts are void.
	embers map[netip.Addr]ember
	queue  emberQueue
	// reserved counts the held blocks that reserve an address.
	reserved map[netip.Addr]int
	// clock is the latest time seen; Records leaves out what had cooled by then.
	clock time.Time
}

type lease struct {
	owner ipam.Owner
	addr  netip.Addr
	block *nodeBlock
	since time.Time
}

func (l *lease) public() ipam.Lease {
	return ipam.Lease{Owner: l.owner, Addr: l.addr, Block: l.block.prefix, Gateway: l.block.gateway, Since: l.since}
}

// ember is an address that cools, and the block that it was given from.
type ember struct {
	addr   netip.Addr
	prefix netip.Prefix
	at     time.Time
}

var _ ipam.NodeAllocator = (*Node)(nil)

// NewNode returns an allocator without blocks.
func NewNode(cfg NodeConfig) (*Node, error) {
	if cfg.Cooling == 0 {
		cfg.Cooling = CoolingPeriod
	}
	return &Node{
		cooling: cfg.Cooling, gateway: space.NormalAddr(cfg.Gateway),
		leases: make(map[ipam.Owner]*lease), holder: make(map[netip.Addr]*lease),
		blocks: make(map[netip.Prefix]*nodeBlock), open: space.NewBitmap(0),
		embers: make(map[netip.Addr]ember), reserved: make(map[netip.Addr]int),
	}, nil
}

// Allocate implements ipam.Allocator. An owner that holds another address than Want.Addr gets ErrTaken, a cooling
// Want.Addr ErrExhausted. There is one pool: Want.Pool is "" or "default", else ErrNotInPool.
func (n *Node) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	n.saw(now)
	if l, ok := n.leases[o]; ok {
		if w.Addr.IsValid() && space.NormalAddr(w.Addr) != l.addr {
			return ipam.Lease{}, nil, fmt.Errorf("%s holds %s and wants %s: %w", o, l.addr, w.Addr, ipam.ErrTaken)
		}
		return l.public(), nil, nil
	}
	switch {
	case !o.Valid():
		return ipam.Lease{}, nil, fmt.Errorf("owner %q is not valid", o)
	case w.Pool != "" && w.Pool != "default":
		return ipam.Lease{}, nil, fmt.Errorf("pool %q: %w", w.Pool, ipam.ErrNotInPool)
	case len(n.active) == 0:
		return ipam.Lease{}, nil, ipam.ErrNoBlock
	}
	n.thaw()
	b, addr, err := n.pick(space.NormalAddr(w.Addr))
	if err != nil {
		return ipam.Lease{}, nil, err
	}
	l := n.give(&lease{owner: o, addr: addr, block: b, since: exact(now)})
	return l, []ipam.Record{{Op: ipam.OpLease, Owner: o, Addr: addr, Prefix: b.prefix, At: l.Since}}, nil
}

func (n *Node) pick(want netip.Addr) (*nodeBlock, netip.Addr, error) {
	if want.IsValid() {
		b, err := n.pickExactly(want)
		return b, want, err
	}
	if i, ok := n.open.NextSet(0); ok {
		b := n.active[i]
		index, ok := b.taken.NextClear(0)
		if !ok {
			panic(fmt.Sprintf("datastore: block %s is open and has no address", b.prefix))
		}
		return b, b.addr(index), nil
	}
	total, _ := n.Capacity(n.clock)
	return nil, netip.Addr{}, fmt.Errorf("%s with %d addresses, %d cooling: %w", n.describe(), total, len(n.embers), ipam.ErrExhausted)
}

func (n *Node) pickExactly(want netip.Addr) (*nodeBlock, error) {
	b := n.blockOf(want)
	if b == nil {
		return nil, fmt.Errorf("address %s in %s: %w", want, n.describe(), ipam.ErrNotInPool)
	}
	index, ok := space.Index(b.prefix, want)
	switch {
	case ok && !b.taken.Test(index):
		return b, nil
	case slices.Contains(n.ownOf(b), want):
		return nil, fmt.Errorf("address %s is reserved in %s: %w", want, b.prefix, ipam.ErrNotInPool)
	case n.holder[want] != nil:
		return nil, fmt.Errorf("address %s in %s: %w", want, b.prefix, ipam.ErrTaken)
	case n.reserved[want] > 0:
		return nil, fmt.Errorf("address %s is reserved by another block: %w", want, ipam.ErrNotInPool)
	}
	total, _ := n.Capacity(n.clock)
	return nil, fmt.Errorf("address %s cools in %s with %d addresses: %w", want, b.prefix, total, ipam.ErrExhausted)
}

func (n *Node) describe() string {
	if len(n.active) == 1 {
		return "block " + n.active[0].prefix.String()
	}
	return fmt.Sprintf("%d blocks", len(n.active))
}

// give books a lease of an address that is free or cooling.
func (n *Node) give(l *lease) ipam.Lease {
	n.leases[l.owner], n.holder[l.addr] = l, l
	l.block.leases++
	delete(n.embers, l.addr)
	n.refresh(l.addr)
	return l.public()
}

// Release implements ipam.Allocator. Besides the release it may record that a draining block is gone.
func (n *Node) Release(now time.Time, o ipam.Owner) []ipam.Record {
	n.saw(now)
	l, ok := n.leases[o]
	if !ok {
		return nil
	}
	at, b := exact(now), l.block
	n.takeBack(at, l)
	records := []ipam.Record{{Op: ipam.OpRelease, Owner: o, Addr: l.addr, Prefix: b.prefix, At: at}}
	if b.draining && b.leases == 0 {
		n.forget(b)
		records = append(records, ipam.Record{Op: ipam.OpDrop, Prefix: b.prefix, At: at})
	}
	return records
}

func (n *Node) takeBack(at time.Time, l *lease) {
	delete(n.leases, l.owner)
	delete(n.holder, l.addr)
	l.block.leases--
	n.cool(ember{addr: l.addr, prefix: l.block.prefix, at: at})
	n.refresh(l.addr)
}

// cool notes that an address that nobody holds cools; an earlier release of it is forgotten.
func (n *Node) cool(e ember) {
	if n.cooling < 0 {
		return
	}
	if old, ok := n.embers[e.addr]; ok && !old.at.Before(e.at) {
		return
	}
	n.embers[e.addr] = e
	n.queue.push(e)
}

// thaw frees what has cooled long enough by the clock.
func (n *Node) thaw() {
	for len(n.queue) > 0 && n.clock.Sub(n.queue[0].at) > n.cooling {
		e := n.queue.pop()
		if n.embers[e.addr] == e {
			delete(n.embers, e.addr)
			n.refresh(e.addr)
		}
	}
}

// Lease implements ipam.NodeAllocator.
func (n *Node) Lease(o ipam.Owner) (ipam.Lease, bool) {
	l, ok := n.leases[o]
	if !ok {
		return ipam.Lease{}, false
	}
	return l.public(), true
}

// Leases implements ipam.Allocator. It works on a copy: the caller may change the Node meanwhile.
func (n *Node) Leases() iter.Seq[ipam.Lease] {
	list := make([]ipam.Lease, 0, len(n.leases))
	for _, l := range n.leases {
		list = append(list, l.public())
	}
	slices.SortFunc(list, func(a, b ipam.Lease) int { return a.Addr.Compare(b.Addr) })
	return slices.Values(list)
}

// Capacity implements ipam.NodeAllocator; both figures stop at the largest int.
func (n *Node) Capacity(now time.Time) (total, free int) {
	n.saw(now)
	n.thaw()
	for _, b := range n.active {
		size := b.taken.Size()
		total = saturate(total, size-uint64(b.spare))
		free = saturate(free, size-b.taken.Count())
	}
	return total, free
}

func saturate(a int, b uint64) int {
	if b > uint64(math.MaxInt-a) {
		return math.MaxInt
	}
	return a + int(b)
}

// FreeAt implements ipam.NodeAllocator; only active blocks count. The time is a nanosecond behind the cooling period,
// whose end still cools.
func (n *Node) FreeAt(now time.Time) time.Time {
	n.saw(now)
	n.thaw()
	var first time.Time
	if len(n.queue) > 0 {
		if e := n.queue[0]; n.embers[e.addr] == e && n.reserved[e.addr] == 0 && n.blockOf(e.addr) != nil {
			return e.at.Add(n.cooling + 1)
		}
	}
	// in any order: it is a minimum
	for addr, e := range n.embers {
		if (first.IsZero() || e.at.Before(first)) && n.reserved[addr] == 0 && n.blockOf(addr) != nil {
			first = e.at
		}
	}
	if first.IsZero() {
		return first
	}
	return first.Add(n.cooling + 1)
}

func (n *Node) saw(now time.Time) {
	if now.After(n.clock) {
		n.clock = now
	}
}

// exact is t as a Record keeps it.
func exact(t time.Time) time.Time { return time.Unix(0, t.UnixNano()).UTC() }

// emberQueue is a binary heap with the oldest release first.
type emberQueue []ember

func (q *emberQueue) push(e ember) {
	*q = append(*q, e)
	h := *q
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.at.Before(h[parent].at) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (q *emberQueue) pop() ember {
	h := *q
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for kid := 1; kid < len(h); kid = 2*i + 1 {
		if right := kid + 1; right < len(h) && h[right].at.Before(h[kid].at) {
			kid = right
		}
		if !h[kid].at.Before(last.at) {
			break
		}
		h[i] = h[kid]
		i = kid
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}
