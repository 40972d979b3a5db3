package nodeipam

import (
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// NodeConfig sets a Node up. The zero NodeConfig is valid.
type NodeConfig struct {
	// ReuseDelay is how long a released address is not given out again, >= 0: released at t, it is free at t+ReuseDelay.
	ReuseDelay time.Duration
	// External: another IPAM plugin picks; Allocate takes only Want.Addr.
	External bool
}

// Pools of a Node for Want.Pool. The default, "" or "default", is the family of the first active block.
const (
	PoolIPv4 = ipam.PoolIPv4
	PoolIPv6 = ipam.PoolIPv6
)

// Node gives out the pod addresses of one node, whose pod CIDRs are its blocks: as the CNI plugin host-local, it goes
// on behind the address given last and wraps. An owner holds one address. A family that is full is not replaced by the
// other one.
//
// Within a family it is contiv.Allocator, because the same VPP wires these pods: network, gateway (index 1), NAT
// loopback (last but one) and broadcast address of a block are reserved, so a block needs at least 3 host bits.
// (host-local reserves the first, the gateway and, of IPv4, the last.)
//
// It is not safe for concurrent use.
type Node struct {
	cfg      NodeConfig
	families [2]*contiv.Allocator // IPv4, IPv6
	leases   [2]int
	active   []netip.Prefix // in SetBlocks order
}

var _ ipam.DualStack = (*Node)(nil)

// Dual implements ipam.DualStack.
func (n *Node) Dual() bool { return true }

// FreeIn implements ipam.DualStack.
func (n *Node) FreeIn(now time.Time, pool string) int {
	f := 0
	if pool == PoolIPv6 {
		f = 1
	}
	_, free := n.families[f].Capacity(now)
	return free
}

// NewNode returns a Node without blocks. Its blocks are the prefixes that a CIDRAllocator gave the node.
func NewNode(cfg NodeConfig) (*Node, error) {
	n := &Node{cfg: cfg}
	for i := range n.families {
		var err error
		if n.families[i], err = contiv.New(contiv.Config{ReuseDelay: cfg.ReuseDelay, External: cfg.External}); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func family(a netip.Addr) int {
	if a.Unmap().Is4() {
		return 0
	}
	return 1
}

// Allocate implements ipam.Allocator. Want.Pool may name a family. An owner that holds an address of the other family
// gets ErrTaken.
func (n *Node) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	if f := n.primary(w); n.leases[1-f] == 0 && w.Pool == "" && n.has(f) {
		return n.take(now, f, o, w) // nobody holds anything of the other family, so it needs no look
	}
	held, holds := n.Lease(o)
	f := 0
	switch w.Pool {
	case PoolIPv4:
	case PoolIPv6:
		f = 1
	case "", "default":
		if f = n.primary(w); holds {
			f = family(held.Addr)
		}
	default:
		return ipam.Lease{}, nil, fmt.Errorf("pool %q: %w", w.Pool, ipam.ErrNotInPool)
	}
	switch {
	case holds && (f != family(held.Addr) || w.Addr.IsValid() && family(w.Addr) != f):
		return ipam.Lease{}, nil, fmt.Errorf("%s holds %s: %w", o, held.Addr, ipam.ErrTaken)
	case holds:
	case len(n.active) == 0, !n.has(f) && !w.Addr.IsValid():
		return ipam.Lease{}, nil, ipam.ErrNoBlock
	case !n.has(f), w.Addr.IsValid() && family(w.Addr) != f:
		return ipam.Lease{}, nil, fmt.Errorf("address %s, pool %q: %w", w.Addr, w.Pool, ipam.ErrNotInPool)
	}
	return n.take(now, f, o, w)
}

// primary is the family that an owner without a lease and without a wish for a pool gets.
func (n *Node) primary(w ipam.Want) int {
	switch {
	case w.Addr.IsValid():
		return family(w.Addr)
	case len(n.active) > 0:
		return family(n.active[0].Addr())
	}
	return 0
}

func (n *Node) take(now time.Time, f int, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	lease, records, err := n.families[f].Allocate(now, o, ipam.Want{Addr: w.Addr})
	if len(records) > 0 {
		n.leases[f]++
	}
	return lease, records, err
}

// has reports whether a block of the family is active.
func (n *Node) has(f int) bool {
	return slices.ContainsFunc(n.active, func(p netip.Prefix) bool { return family(p.Addr()) == f })
}

// Release implements ipam.Allocator.
func (n *Node) Release(now time.Time, o ipam.Owner) []ipam.Record {
	for f, a := range n.families {
		if n.leases[f] == 0 {
			continue
		}
		if records := a.Release(now, o); len(records) > 0 {
			n.leases[f]--
			return records
		}
	}
	return nil
}

// Leases implements ipam.Allocator; IPv4 addresses are lower than IPv6 ones.
func (n *Node) Leases() iter.Seq[ipam.Lease] {
	return slices.Values(slices.AppendSeq(slices.Collect(n.families[0].Leases()), n.families[1].Leases()))
}

// Lease implements ipam.NodeAllocator.
func (n *Node) Lease(o ipam.Owner) (ipam.Lease, bool) {
	if l, ok := n.families[0].Lease(o); ok {
		return l, true
	}
	return n.families[1].Lease(o)
}

// SetBlocks implements ipam.NodeAllocator. It refuses what contiv.Allocator refuses, and changes nothing then.
func (n *Node) SetBlocks(now time.Time, prefixes []netip.Prefix) ([]ipam.Record, error) {
	var split [2][]netip.Prefix
	wanted := make([]netip.Prefix, len(prefixes))
	for i, p := range prefixes {
		wanted[i] = space.Normal(p)
		f := family(wanted[i].Addr())
		split[f] = append(split[f], wanted[i])
	}
	// One family must not change when the other one refuses, so the second is rehearsed.
	trial, err := n.twin(1)
	if err == nil {
		_, err = trial.SetBlocks(now, split[1])
	}
	if err != nil {
		return nil, err
	}
	records, err := n.families[0].SetBlocks(now, split[0])
	if err != nil {
		return nil, err
	}
	more, err := n.families[1].SetBlocks(now, split[1])
	if err != nil {
		panic("nodeipam: a rehearsed change of blocks was refused: " + err.Error())
	}
	// The order is over both families, so blocks are told here: each one from the first difference on.
	records = slices.DeleteFunc(append(records, more...), func(r ipam.Record) bool { return r.Op == ipam.OpBlock })
	same := 0
	for same < len(n.active) && same < len(wanted) && n.active[same] == wanted[same] {
		same++
	}
	n.active = wanted
	for _, p := range wanted[same:] {
		records = append(records, ipam.Record{Op: ipam.OpBlock, Addr: gateway(p), Prefix: p, At: time.Unix(0, now.UnixNano()).UTC()})
	}
	return records, nil
}

// twin is a copy of one family.
func (n *Node) twin(f int) (*contiv.Allocator, error) {
	a, err := contiv.New(contiv.Config{ReuseDelay: n.cfg.ReuseDelay, External: n.cfg.External})
	if err != nil {
		return nil, err
	}
	for _, r := range n.families[f].Records() {
		if err := a.Apply(r); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// gateway is index 1 of a block, as of all blocks that contiv.Allocator holds.
func gateway(p netip.Prefix) netip.Addr { return p.Addr().Next() }

// Blocks implements ipam.NodeAllocator.
func (n *Node) Blocks() []ipam.Block {
	var blocks []ipam.Block
	for _, p := range n.active {
		blocks = append(blocks, ipam.Block{Prefix: p, Gateway: gateway(p)})
	}
	for _, a := range n.families {
		for _, b := range a.Blocks() {
			if b.Draining {
				blocks = append(blocks, b)
			}
		}
	}
	return blocks
}

// Capacity implements ipam.NodeAllocator, over both families.
func (n *Node) Capacity(now time.Time) (total, free int) {
	for _, a := range n.families {
		t, f := a.Capacity(now)
		total, free = total+min(t, math.MaxInt-total), free+min(f, math.MaxInt-free)
	}
	return total, free
}

// FreeAt implements ipam.NodeAllocator.
func (n *Node) FreeAt(now time.Time) time.Time {
	var first time.Time
	for _, a := range n.families {
		if at := a.FreeAt(now); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Apply implements ipam.NodeAllocator.
func (n *Node) Apply(r ipam.Record) error {
	if !r.Prefix.IsValid() {
		return fmt.Errorf("apply %q: no block", r)
	}
	prefix := space.Normal(r.Prefix)
	f := family(prefix.Addr())
	if r.Op == ipam.OpLease {
		if l, ok := n.families[1-f].Lease(r.Owner); ok {
			return fmt.Errorf("apply %q: owner holds %s: %w", r, l.Addr, ipam.ErrTaken)
		}
	}
	if err := n.families[f].Apply(r); err != nil {
		return err
	}
	switch r.Op {
	case ipam.OpLease:
		n.leases[f]++
	case ipam.OpRelease:
		if r.Owner != (ipam.Owner{}) { // without owner it tells of an address that cools
			n.leases[f]--
		}
	case ipam.OpBlock, ipam.OpDrain, ipam.OpDrop:
		n.active = slices.DeleteFunc(slices.Clone(n.active), func(p netip.Prefix) bool { return p == prefix })
	}
	if r.Op == ipam.OpBlock {
		n.active = append(n.active, prefix)
	}
	return nil
}

// Records implements ipam.NodeAllocator. Blocks are told a second time where their order mixes the families.
func (n *Node) Records() []ipam.Record {
	records := append(n.families[0].Records(), n.families[1].Records()...)
	since := make(map[netip.Prefix]ipam.Record)
	for _, r := range records {
		if r.Op == ipam.OpBlock {
			since[r.Prefix] = r
		}
	}
	if slices.IsSortedFunc(n.active, func(p, q netip.Prefix) int { return family(p.Addr()) - family(q.Addr()) }) {
		return records
	}
	for _, p := range n.active {
		records = append(records, since[p])
	}
	return records
}
