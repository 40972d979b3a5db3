package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// ExpiringNode is an AddressNode whose addresses an AddressAgent chooses, as Cilium's plugin asks its agent for one: it
// expires unless a pod has it in time.
type ExpiringNode struct {
	*AddressNode
	agent *AddressAgent
}

// NewExpiringNode is NewAddressNode.
func NewExpiringNode(pick Picker, gateway netip.Addr) (*ExpiringNode, error) {
	n, err := NewAddressNode(pick, gateway)
	return &ExpiringNode{AddressNode: n}, err
}

// Allocate implements ipam.Allocator.
func (n *ExpiringNode) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	if _, held := n.Lease(o); held || w.Addr.IsValid() || n.agent == nil {
		return n.AddressNode.Allocate(now, o, w)
	}
	addr, err := n.agent.Reserve(o)
	if err != nil {
		return ipam.Lease{}, nil, err
	}
	return n.AddressNode.Allocate(now, o, ipam.Want{Addr: addr, Pool: w.Pool})
}

// Capacity implements ipam.Allocator: what a plugin was given is not free.
func (n *ExpiringNode) Capacity(now time.Time) (total, free int) {
	total, free = n.AddressNode.Capacity(now)
	if n.agent != nil {
		free = min(free, len(n.agent.free()))
	}
	return total, free
}

// free are the addresses that a pod which comes could get: those that the agent has taken over and no plugin has asked
// for.
func (a *AddressAgent) free() (list []netip.Addr) {
	if !a.view.exists() || !a.restored {
		return nil
	}
	have, _ := a.core.IPv4Allocator.Dump()
	for _, b := range a.cfg.Alloc.Blocks() {
		addr := b.Prefix.Addr()
		_, used := have[addr.String()]
		if !used && !b.Draining && !a.says.Blocked(a.view.Status.IPAM.ReleaseIPs[addr]) && !a.used(addr) {
			list = append(list, addr)
		}
	}
	return list
}

// Reserve chooses an address for a pod that comes. A step has to follow, with which its time begins.
func (a *AddressAgent) Reserve(o ipam.Owner) (netip.Addr, error) {
	if x, ok := a.asked[o]; ok {
		return x.addr, nil
	}
	for free := a.free(); len(free) > 0; {
		i := a.cfg.Pick.Pick("cilium/address", len(free))
		addr := free[i]
		err := a.core.AllocateIP(addr, o.String())
		if err != nil && !errors.Is(err, ErrInHandshake) { // whether that bars it, the handshake has said
			free = slices.Delete(free, i, i+1)
			continue
		}
		a.asked[o] = waiting{addr: addr}
		return addr, nil
	}
	return netip.Addr{}, fmt.Errorf("pool of its CiliumNode: %w", ipam.ErrExhausted)
}

// startTimers begins the time of addresses that plugins have asked for since the last step.
func (a *AddressAgent) startTimers() {
	for _, o := range a.owners() {
		x := a.asked[o]
		if x.uuid != "" {
			continue
		}
		uuid, err := a.core.StartExpirationTimer(x.addr, a.cfg.Expiration)
		if err != nil {
			panic(fmt.Sprintf("cilium: timer of %s, just allocated: %v", x.addr, err))
		}
		a.asked[o] = waiting{addr: x.addr, uuid: uuid, until: a.now.Add(a.cfg.Expiration)}
	}
}

// owners are the pods whose plugins have asked, in order of their addresses.
func (a *AddressAgent) owners() (list []ipam.Owner) {
	for o := range a.asked { //vppdrill:unordered sorted below
		list = append(list, o)
	}
	slices.SortFunc(list, func(p, q ipam.Owner) int { return a.asked[p].addr.Compare(a.asked[q].addr) })
	return list
}

// expire gives back what no pod has taken in its time.
func (a *AddressAgent) expire() {
	for _, e := range a.timers.Advance(a.now) {
		if e.Err != nil {
			a.say(Note{"cilium: " + e.Err.Error()})
			continue
		}
		for _, o := range a.owners() {
			if a.asked[o].addr == e.IP {
				delete(a.asked, o)
			}
		}
	}
}

// account gives core what pods have.
func (a *AddressAgent) account() {
	have, _ := a.core.IPv4Allocator.Dump()
	for _, o := range a.owners() {
		x := a.asked[o]
		if l, held := a.cfg.Alloc.Lease(o); held && l.Addr == x.addr {
			_ = a.core.StopExpirationTimer(x.addr, x.uuid) // it may not have begun, or have ended at this instant
			delete(a.asked, o)
		} else {
			delete(have, x.addr.String())
		}
	}
	for l := range a.cfg.Alloc.Leases() {
		if _, known := have[l.Addr.String()]; known {
			delete(have, l.Addr.String())
			continue
		}
		if err := a.core.AllocateIP(l.Addr, l.Owner.String()); err != nil {
			a.say(Note{"cilium: " + err.Error()})
		}
	}
	for _, text := range sortedKeys(have) {
		_ = a.core.ReleaseIP(netip.MustParseAddr(text)) // it is allocated
	}
	if !a.restored {
		a.restored = true
		a.store.FinishRestore()
		if report, err := a.routes.ReserveLocalRoutes(); err != nil || len(report.Reserved) > 0 {
			a.say(Note{"cilium: " + report.String()})
		}
	}
}

// Waiting are the addresses that are kept for pods to come, ascending: no other pod gets them before their time is
// over.
func (a *AddressAgent) Waiting() (list []netip.Addr) {
	for _, o := range a.owners() {
		if x := a.asked[o]; x.uuid == "" || a.now.Before(x.until) {
			list = append(list, x.addr)
		}
	}
	return list
}
