package controllers

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
)

var _ Preparer = (*crdSystem)(nil)

// Expirations are the timers of addresses that plugins have asked for: cilium.IPAM.
type Expirations interface {
	// Advance releases what nobody has taken in its time.
	Advance(now time.Time) []cilium.Expiry
}

// asked is an address that a plugin has asked for.
type asked struct {
	addr  netip.Addr
	uuid  string
	until time.Time
}

// Prepare implements Preparer: Cilium's plugin asks its agent for an address, which expires unless a pod has it in time.
func (s *crdSystem) Prepare(node string, o ipam.Owner, then func()) {
	if a := s.agents[node]; a != nil {
		_, _ = a.reserve(o) // without an address the agent says so
	}
	then()
}

// expiringNode is a node's allocator in the modes of single addresses: which one a pod gets, its Cilium agent has chosen.
type expiringNode struct {
	*cilium.AddressNode
	system *crdSystem
	node   string
}

// Allocate implements ipam.Allocator.
func (n expiringNode) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	a := n.system.agents[n.node]
	if _, held := n.Lease(o); held || w.Addr.IsValid() || a == nil {
		return n.AddressNode.Allocate(now, o, w)
	}
	addr, err := a.reserve(o)
	if err != nil {
		return ipam.Lease{}, nil, err
	}
	return n.AddressNode.Allocate(now, o, ipam.Want{Addr: addr, Pool: w.Pool})
}

// Capacity implements ipam.Allocator: what a plugin was given is not free.
func (n expiringNode) Capacity(now time.Time) (total, free int) {
	total, free = n.AddressNode.Capacity(now)
	if a := n.system.agents[n.node]; a != nil {
		free = min(free, len(a.free()))
	}
	return total, free
}

// free are the addresses that a pod which comes could get: those that the node's agent has taken over and nobody has asked for.
func (a *crdAgent) free() (list []netip.Addr) {
	if a.view == nil || !a.restored {
		return nil
	}
	states := a.view.Value.(*cilium.CiliumNode).Status.IPAM.ReleaseIPs
	have, _ := a.core.IPv4Allocator.Dump()
	for _, b := range a.alloc.Blocks() {
		addr := b.Prefix.Addr()
		if _, used := have[addr.String()]; !used && !b.Draining && !a.says.Blocked(states[addr]) && !a.used(addr) {
			list = append(list, addr)
		}
	}
	return list
}

// reserve chooses an address for a pod that comes.
func (a *crdAgent) reserve(o ipam.Owner) (netip.Addr, error) {
	if x, ok := a.asked[o]; ok {
		return x.addr, nil
	}
	for free := a.free(); len(free) > 0; {
		i := a.system.env.pick("cilium/address", len(free))
		addr := free[i]
		err := a.core.AllocateIP(addr, o.String())
		if err != nil && !errors.Is(err, cilium.ErrInHandshake) { // whether that bars it, the handshake has said
			free = slices.Delete(free, i, i+1)
			continue
		}
		a.ask(o, addr)
		return addr, nil
	}
	return netip.Addr{}, fmt.Errorf("pool of its CiliumNode: %w", ipam.ErrExhausted)
}

// account tells the store what pods have.
func (a *crdAgent) account() {
	have, _ := a.core.IPv4Allocator.Dump()
	for o, x := range a.asked { //vppdrill:unordered each by itself
		if l, held := a.alloc.Lease(o); held && l.Addr == x.addr {
			_ = a.core.StopExpirationTimer(x.addr, x.uuid) // it may have ended at this instant
			delete(a.asked, o)
		} else {
			delete(have, x.addr.String())
		}
	}
	for l := range a.alloc.Leases() {
		if _, known := have[l.Addr.String()]; known {
			delete(have, l.Addr.String())
			continue
		}
		if err := a.core.AllocateIP(l.Addr, l.Owner.String()); err != nil {
			a.system.env.Note(a.node, "cilium: "+err.Error())
		}
	}
	for _, text := range sortedNames(have) {
		_ = a.core.ReleaseIP(netip.MustParseAddr(text)) // it is allocated
	}
	if !a.restored {
		a.restored = true
		a.store.FinishRestore()
		if report, err := a.routes.ReserveLocalRoutes(); err != nil || len(report.Reserved) > 0 {
			a.system.env.Note(a.node, "cilium: "+report.String())
		}
	}
}

// expirationTime is how long an address waits that a plugin asked for (pkg/defaults, IPAMExpiration).
const expirationTime = 10 * time.Minute

// ask starts the timer of an address that was given to a plugin.
func (a *crdAgent) ask(o ipam.Owner, addr netip.Addr) {
	env := &a.system.env
	timeout := cmp.Or(env.Plan.Cilium.Expiration, expirationTime)
	uuid, err := a.core.StartExpirationTimer(addr, timeout)
	if err != nil {
		panic(&Refusal{Program: a.node + "'s Cilium agent", Err: fmt.Errorf("having just given it, a timer for %s: %w", addr, err)})
	}
	a.asked[o] = asked{addr: addr, uuid: uuid, until: env.now().Add(timeout)}
	env.Clock.After(timeout, &step{a.node, "cilium address expires", func() {
		if x, ok := a.asked[o]; ok && x.uuid == uuid && !a.dead {
			a.expire()
		}
	}})
	a.soon()
}

// expire gives back what no pod has taken in its time.
func (a *crdAgent) expire() {
	for _, e := range a.timers.Advance(a.system.env.now()) {
		if e.Err != nil {
			a.system.env.Note(a.node, "cilium: "+e.Err.Error())
			continue
		}
		for o, x := range a.asked { //vppdrill:unordered each by itself
			if x.addr == e.IP {
				delete(a.asked, o)
			}
		}
		a.soon()
	}
}

// Waiter is a System that keeps addresses for pods whose plugins have asked.
type Waiter interface {
	// Waiting are those of a node, ascending: nobody else gets them before their time is over.
	Waiting(node string) []netip.Addr
}

// Waiting implements Waiter.
func (s *crdSystem) Waiting(node string) []netip.Addr {
	if a := s.agents[node]; a != nil {
		return a.waiting()
	}
	return nil
}

// waiting are addresses that are kept for pods to come.
func (a *crdAgent) waiting() (list []netip.Addr) {
	for _, x := range a.asked { //vppdrill:unordered sorted below
		if a.system.env.now().Before(x.until) {
			list = append(list, x.addr)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}
