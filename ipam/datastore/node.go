package datastore

import (
	"errors"
	"fmt"
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
	// Gateway is one address outside all blocks that every pod uses as its gateway, as AWS does with 169.254.1.1; then
	// every address of a block is for pods. The zero Addr gives each block a gateway of its own at index 1, as the wiring
	// of this module expects, and reserves it, the first and the last two addresses: at least 3 host bits are needed then.
	Gateway netip.Addr
}

// Node is the allocator for one node whose blocks are what EC2 delegated to its ENIs. Within the first block in
// SetBlocks order that has one, the lowest free address is given, so that later blocks empty and can go back. It is not
// safe for concurrent use.
//
// SetBlocks refuses a prefix that is too small or too large, and a new block whose gateway or last address but one is
// held by a pod of a draining block.
type Node struct {
	ledger
	addrs addresses
}

// ledger is who holds which address; addresses decide which one that is.
type ledger = ipam.Ledger[units]

var _ ipam.NodeAllocator = (*Node)(nil)

// NewNode returns an allocator without blocks.
func NewNode(cfg NodeConfig) (*Node, error) {
	if cfg.Cooling == 0 {
		cfg.Cooling = CoolingPeriod
	}
	n := &Node{addrs: addresses{
		period: cfg.Cooling, gateway: space.NormalAddr(cfg.Gateway), open: space.NewBitmap(0), begun: space.NewBitmap(0),
		facts: make(map[netip.Addr]fact), blocked: make(map[netip.Addr]int),
	}}
	n.addrs.ledger = &n.ledger
	n.ledger = ipam.NewLedger[units](&n.addrs)
	return n, nil
}

// Allocate implements ipam.Allocator. The error of a node whose addresses are all in use tells how many of them cool.
func (n *Node) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	l, records, err := n.ledger.Allocate(now, o, w)
	if err != nil && !w.Addr.IsValid() && errors.Is(err, ipam.ErrExhausted) {
		return l, records, n.exhausted(now)
	}
	return l, records, err
}

func (n *Node) exhausted(now time.Time) error {
	total, _ := n.Capacity(now)
	blocks := n.Active()
	where := fmt.Sprintf("%d blocks", len(blocks))
	if len(blocks) == 1 {
		where = "block " + blocks[0].Prefix.String()
	}
	cooling := 0
	for _, c := range n.addrs.Cooling(now) { // also in blocks on their way out, which have no address for anybody
		if slices.ContainsFunc(blocks, func(b *ipam.HeldBlock[units]) bool { return b.Prefix == c.Block }) {
			cooling++
		}
	}
	return fmt.Errorf("%s with %d addresses, %d cooling: %w", where, total, cooling, ipam.ErrExhausted)
}
