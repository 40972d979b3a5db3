package cilium

import (
	"errors"
	"fmt"
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
	// Keep names addresses of a block that no pod gets, besides its first, its last and the router's; nil for none. It
	// must give the same answer for the same block each time.
	Keep func(block netip.Prefix) []netip.Addr
	// Avoid names addresses that no pod gets any more, for nodes whose history may hold pods that have them: such a lease
	// is restored, and lasts until it is released. nil for none; like Keep otherwise.
	Avoid func(block netip.Prefix) []netip.Addr
	// FirstRouter gives the router the first address of a block that is not kept, instead of any.
	FirstRouter bool
	// Outside is the gateway of pods in blocks of fewer than 16 addresses, which then have neither a router nor kept
	// addresses, as a pool of /32 needs it (Cilium's multi-pool takes one since 1.17). Invalid: such blocks are as others,
	// refused where they have no room for a router and a pod.
	Outside netip.Addr
	// PoolOf names the pool of a block, for a node with several: Want.Pool asks for one of them. nil: all are of
	// DefaultPool.
	PoolOf func(block netip.Prefix) string
	// Dual: pods get an address of each family, which are the pools ipam.PoolIPv4 and ipam.PoolIPv6. There is no PoolOf then.
	Dual bool
}

// Node gives out the pod addresses of one node the way Cilium's host-scope mode does: a search in a block starts
// anywhere and goes up, and a released address may come back at once. The router's address is picked like a pod's when
// the block is new, and stays. It is not safe for concurrent use.
//
// Blocks are tried in SetBlocks order. They may overlap only with draining ones: then an address held in one is taken
// in the other. SetBlocks refuses a prefix without room for a router and a pod, and a new block for whose router
// draining blocks leave no address.
type Node struct {
	*ipam.BlockLedger
	timers deadlines[ipam.Owner]
	cfg    NodeConfig
}

var _ ipam.DualStack = (*Node)(nil)

// NewNode returns a node without blocks.
func NewNode(c NodeConfig) (*Node, error) {
	if c.Pick == nil {
		return nil, errors.New("node: a Picker is needed")
	}
	if c.Expiration < 0 {
		return nil, fmt.Errorf("node: expiration %s is negative", c.Expiration)
	}
	if c.Dual {
		if c.PoolOf != nil {
			return nil, errors.New("node: named pools are of one family")
		}
		c.PoolOf = func(block netip.Prefix) string { return ipam.PoolOf(block.Addr()) }
	}
	s := system{pick: c.Pick, hold: c.Keep, avoid: c.Avoid, outside: space.NormalAddr(c.Outside), routerLabel: pickRouter}
	if c.FirstRouter {
		s.routerLabel = ""
	}
	return &Node{BlockLedger: ipam.NewBlockLedger(ipam.BlockLedgerConfig{System: s, PoolOf: c.PoolOf}), cfg: c}, nil
}

// Allocate implements ipam.Allocator, as ipam.Ledger does.
func (n *Node) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	if _, has := n.Lease(o); !has && n.cfg.Dual && !w.Addr.IsValid() && !n.active(w.Pool) {
		return ipam.Lease{}, nil, ipam.ErrNoBlock
	}
	l, records, err := n.BlockLedger.Allocate(now, o, w)
	if len(records) > 0 && n.cfg.Expiration > 0 {
		n.timers.start(o, now.Add(n.cfg.Expiration))
	}
	return l, records, err
}

// active reports whether a block of a pool is active.
func (n *Node) active(pool string) bool {
	return slices.ContainsFunc(n.Active(), func(b *ipam.AddressBlock) bool { return n.cfg.PoolOf(b.Prefix) == pool })
}

// Dual implements ipam.DualStack.
func (n *Node) Dual() bool { return n.cfg.Dual }

// FreeIn implements ipam.DualStack, on a node of two families.
func (n *Node) FreeIn(now time.Time, pool string) int {
	return int(min(n.FreeOf(now, pool), math.MaxInt))
}

// Families are those of a pod's addresses, IPv4 first; of a node of one family "", whichever it is.
func (n *Node) Families() []Family {
	if n.cfg.Dual {
		return []Family{IPv4, IPv6}
	}
	return []Family{""}
}

// Release implements ipam.Allocator, as ipam.Ledger does.
func (n *Node) Release(now time.Time, o ipam.Owner) []ipam.Record {
	n.timers.stop(o)
	return n.BlockLedger.Release(now, o)
}

// Apply implements ipam.NodeAllocator, as ipam.Ledger does. A block's record carries its router's address.
func (n *Node) Apply(r ipam.Record) error {
	err := n.BlockLedger.Apply(r)
	if err == nil && r.Op == ipam.OpRelease {
		n.timers.stop(r.Owner)
	}
	return err
}

// Replay implements ipam.Replayer.
func (n *Node) Replay(records []ipam.Record) (applied int, err error) {
	applied, err = n.BlockLedger.Replay(records)
	for _, r := range records[:applied] {
		if r.Op == ipam.OpRelease {
			n.timers.stop(r.Owner)
		}
	}
	return applied, err
}

// Confirm says that o uses its lease, which then does not expire. It reports whether o holds one.
func (n *Node) Confirm(o ipam.Owner) bool {
	n.timers.stop(o)
	_, ok := n.Lease(o)
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
