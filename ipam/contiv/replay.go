package contiv

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Apply implements ipam.NodeAllocator. A lease moves its block's cursor as the original did. A release without owner says
// that the address cools since then, in whatever block it is.
func (a *Allocator) Apply(r ipam.Record) error {
	return a.replay(&r, a.owners.sum(r.Owner.ContainerID))
}

// foreseenMost is how many records Replay looks ahead: more than a processor has loads under way.
const foreseenMost = 32

var _ ipam.Replayer = (*Allocator)(nil)

// Replay implements ipam.Replayer.
func (a *Allocator) Replay(records []ipam.Record) (applied int, err error) {
	var sums [foreseenMost]uint32
	for rest := records; len(rest) > 0; {
		next := rest[:min(len(rest), foreseenMost)]
		for i := range next {
			sums[i] = a.owners.sum(next[i].Owner.ContainerID)
		}
		a.owners.foresee(sums[:len(next)])
		for i := range next {
			if err := a.replay(&next[i], sums[i]); err != nil {
				return applied, err
			}
			applied++
		}
		rest = rest[len(next):]
	}
	return applied, nil
}

// replay is Apply of a record whose container has that sum.
func (a *Allocator) replay(record *ipam.Record, sum uint32) error {
	r := *record
	r.At = exact(r.At)
	if err := a.apply(&r, sum); err != nil {
		return fmt.Errorf("apply %q: %w", r, err)
	}
	a.saw(r.At)
	return nil
}

func (a *Allocator) apply(r *ipam.Record, sum uint32) error {
	if r.Op == ipam.OpBlock {
		return a.applyBlock(r)
	}
	if r.Op == ipam.OpRelease && r.Owner == (ipam.Owner{}) {
		return a.applyCooling(r)
	}
	b := a.block(r.Prefix)
	if b == nil {
		b = a.block(space.Normal(r.Prefix))
	}
	if b == nil {
		return fmt.Errorf("block %s is not held", r.Prefix)
	}
	switch r.Op {
	case ipam.OpLease:
		return a.applyLease(b, r, sum)
	case ipam.OpRelease:
		return a.applyRelease(b, r)
	case ipam.OpDrain:
		if b.draining {
			return errors.New("block drains already")
		}
		a.drain(r.At, b)
	case ipam.OpDrop:
		if b.leases > 0 {
			return fmt.Errorf("block has %d leases", b.leases)
		}
		a.saw(r.At)
		a.drop(b)
	case ipam.OpCursor:
		if !b.prefix.Contains(space.NormalAddr(r.Addr)) {
			return errors.New("cursor is outside the block")
		}
		b.pool.SetCursor(r.Addr)
	default:
		return errors.New("unknown operation")
	}
	return nil
}

func (a *Allocator) applyBlock(r *ipam.Record) error {
	fresh, err := newBlock(r.At, r.Prefix)
	if err != nil {
		return err
	}
	if r.Addr.IsValid() && space.NormalAddr(r.Addr) != fresh.gateway {
		return fmt.Errorf("gateway of %s is %s", fresh.prefix, fresh.gateway)
	}
	for _, other := range a.active {
		if other.prefix != fresh.prefix && other.prefix.Overlaps(fresh.prefix) {
			return fmt.Errorf("overlaps block %s", other.prefix)
		}
	}
	b := a.block(fresh.prefix)
	if b == nil {
		if err := a.checkNew(fresh); err != nil {
			return err
		}
		b = fresh
	}
	a.saw(r.At)
	a.activate(r.At, b)
	a.relink()
	return nil
}

func (a *Allocator) applyLease(b *block, r *ipam.Record, sum uint32) error {
	if !r.Owner.Valid() {
		return fmt.Errorf("owner %q is not valid", r.Owner)
	}
	k, h := a.owners.findSummed(r.Owner, sum)
	if h != nil {
		return fmt.Errorf("owner holds %s: %w", a.byID[h.block].addr(h.index), ipam.ErrTaken)
	}
	addr := space.NormalAddr(r.Addr)
	older := false
	if err := b.pool.Restore(addr); err != nil {
		if errors.Is(err, space.ErrHeld) {
			return ipam.ErrTaken
		}
		if older = errors.Is(err, space.ErrReserved) && a.mayBeOlder(b, addr); !older {
			return fmt.Errorf("%w: %w", ipam.ErrNotInPool, err)
		}
	}
	b.pool.SetCursor(addr)
	a.note(b, addr, k, r.At.UnixNano())
	if older {
		a.relink()
	}
	return nil
}

// mayBeOlder reports whether a lease of addr in b can have been there before the block that reserves addr: a compact
// history tells draining blocks first, whatever came first. Such an address is only another block's network or broadcast
// address, because SetBlocks refuses a block whose gateway or NAT loopback is held.
func (a *Allocator) mayBeOlder(b *block, addr netip.Addr) bool {
	if slices.Contains(b.reserved(), addr) {
		return false
	}
	for other := range a.others(b, addr) {
		if addr == other.gateway || addr == other.loopback {
			return false
		}
	}
	return true
}

func (a *Allocator) applyRelease(b *block, r *ipam.Record) error {
	k, h := a.owners.find(r.Owner)
	if h == nil || h.block != b.id || b.addr(h.index) != space.NormalAddr(r.Addr) {
		return errors.New("owner does not hold that address")
	}
	a.owners.remove(k)
	a.takeBack(r.At, b, space.NormalAddr(r.Addr))
	return nil
}

func (a *Allocator) applyCooling(r *ipam.Record) error {
	addr, prefix := space.NormalAddr(r.Addr), space.Normal(r.Prefix)
	if !prefix.Contains(addr) {
		return errors.New("address is outside the block")
	}
	if a.cfg.ReuseDelay == 0 {
		return nil
	}
	cools := false
	for b := range a.others(nil, addr) {
		if b.pool.Holds(addr) {
			return ipam.ErrTaken
		}
		cools = b.pool.Cool(r.At, addr) || b.pool.Cools(addr) || cools
	}
	if !cools {
		a.glow(ember{addr: addr, prefix: prefix, at: r.At})
	}
	return nil
}

// Records implements ipam.NodeAllocator. Draining blocks come first, so that no two active blocks ever overlap on the way.
// Addresses that still cool are releases without owner.
func (a *Allocator) Records() []ipam.Record {
	h := history{leases: make(map[netip.Prefix][]ipam.Lease), told: make(map[netip.Addr]bool), clock: a.clock}
	for _, l := range a.sortedLeases() {
		h.leases[l.Block] = append(h.leases[l.Block], l)
	}
	for b := range a.ascending() {
		if b.draining {
			h.tell(b)
		}
	}
	for _, b := range a.active {
		h.tell(b)
	}
	for _, e := range a.embers {
		if a.clock.Sub(e.at) < a.cfg.ReuseDelay {
			h.add(ipam.Record{Op: ipam.OpRelease, Addr: e.addr, Prefix: e.prefix, At: e.at})
		}
	}
	return h.records
}

// history is Records at work.
type history struct {
	leases  map[netip.Prefix][]ipam.Lease
	told    map[netip.Addr]bool // cooling addresses, which overlapping blocks both know
	clock   time.Time
	records []ipam.Record
}

func (h *history) add(r ipam.Record) { h.records = append(h.records, r) }

func (h *history) tell(b *block) {
	h.add(ipam.Record{Op: ipam.OpBlock, Addr: b.gateway, Prefix: b.prefix, At: b.since})
	behind := b.gateway // where the cursor is after these records
	for _, l := range h.leases[b.prefix] {
		h.add(ipam.Record{Op: ipam.OpLease, Owner: l.Owner, Addr: l.Addr, Prefix: b.prefix, At: l.Since})
		behind = l.Addr
	}
	addrs, times := b.pool.CoolingSince(h.clock)
	for i, addr := range addrs {
		if !h.told[addr] {
			h.told[addr] = true
			h.add(ipam.Record{Op: ipam.OpRelease, Addr: addr, Prefix: b.prefix, At: times[i]})
		}
	}
	if after, ok := b.pool.Cursor(); ok && after != behind {
		h.add(ipam.Record{Op: ipam.OpCursor, Addr: after, Prefix: b.prefix, At: b.since})
	}
	if b.draining {
		h.add(ipam.Record{Op: ipam.OpDrain, Prefix: b.prefix, At: b.drained})
	}
}
