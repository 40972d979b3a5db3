package hostmodel

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// local is one address of a namespace, for finding the interface that answers to it.
type local struct {
	addr netip.Addr
	link *link
}

func (h *Host) addrAdd(op vppwire.AddrAdd) error {
	l, err := h.at(op.Netns, op.Link)
	if err != nil {
		return err
	}
	a := op.Addr
	if !validAddr(a) {
		return fmt.Errorf("address %s on %s: %w", a, l, ErrInvalid)
	}
	if l.holds(a) {
		return fmt.Errorf("address %s on %s: %w", a, l, vppwire.ErrLinuxExists)
	}
	i, _ := slices.BinarySearchFunc(l.addrs, a, compareAddrs)
	l.secondary = slices.Insert(l.secondary, i, a.Addr().Is4() && l.subnetHeld(a))
	l.addrs = slices.Insert(l.addrs, i, a)
	l.ns.addLocal(a.Addr(), l)
	if l.up {
		l.connect(i)
	}
	return nil
}

func (h *Host) addrDel(op vppwire.AddrDel) error {
	l, err := h.at(op.Netns, op.Link)
	if err != nil {
		return err
	}
	i, ok := slices.BinarySearchFunc(l.addrs, op.Addr, compareAddrs)
	if !ok {
		return fmt.Errorf("address %s on %s: %w", op.Addr, l, vppwire.ErrLinuxMissing)
	}
	primary := op.Addr.Addr().Is4() && !l.secondary[i]
	l.removeAddr(i)
	if primary {
		l.removeSecondaries(op.Addr)
	}
	l.disconnect(op.Addr)
	if op.Addr.Addr().Is4() && (len(l.addrs) == 0 || l.addrs[0].Addr().Is6()) {
		// With its last address a link loses IPv4 altogether: every route over it and every neighbor.
		l.ns.routes.dropLink(l, familyIPv4)
		l.neighbors = slices.DeleteFunc(l.neighbors, func(n neighbor) bool { return n.addr.Is4() })
	}
	return nil
}

// removeSecondaries drops the addresses that came after primary in its subnet (promote_secondaries is off by default).
func (l *link) removeSecondaries(primary netip.Prefix) {
	for i := len(l.addrs) - 1; i >= 0; i-- {
		if l.secondary[i] && l.addrs[i].Masked() == primary.Masked() {
			l.removeAddr(i)
		}
	}
}

func (l *link) removeAddr(i int) {
	l.ns.dropLocal(l.addrs[i].Addr(), l)
	l.addrs = slices.Delete(l.addrs, i, i+1)
	l.secondary = slices.Delete(l.secondary, i, i+1)
}

// holds reports whether the link has the address already. IPv4 takes the same address with another length, IPv6 does
// not.
func (l *link) holds(a netip.Prefix) bool {
	for _, x := range l.addrs {
		if x == a || a.Addr().Is6() && x.Addr() == a.Addr() {
			return true
		}
	}
	return false
}

// subnetHeld reports whether the link has an address in exactly a's subnet.
func (l *link) subnetHeld(a netip.Prefix) bool {
	for _, x := range l.addrs {
		if x.Bits() == a.Bits() && x.Masked() == a.Masked() {
			return true
		}
	}
	return false
}

// connect adds the route that an address of a link that is up brings: to its subnet, and with IPv6 also to a subnet of
// one. The loopback's are in the local table; an IPv4 address that came after another of its subnet brings none, also
// when the first one's route was deleted.
func (l *link) connect(i int) {
	a := l.addrs[i]
	if l.kind == kindLoopback || l.secondary[i] || a.Addr().Is4() && a.IsSingleIP() {
		return
	}
	l.ns.routes.addConnected(a.Masked(), l)
}

// disconnect takes the connected route of a removed address away unless another address needs it.
func (l *link) disconnect(a netip.Prefix) {
	if !l.subnetHeld(a) {
		l.ns.routes.dropConnected(a.Masked(), l)
	}
}

func (ns *namespace) addLocal(a netip.Addr, l *link) {
	i, _ := slices.BinarySearchFunc(ns.locals, a, compareLocal)
	for i < len(ns.locals) && ns.locals[i].addr == a {
		i++
	}
	ns.locals = slices.Insert(ns.locals, i, local{addr: a, link: l})
}

func (ns *namespace) dropLocal(a netip.Addr, l *link) {
	i, _ := slices.BinarySearchFunc(ns.locals, a, compareLocal)
	for ns.locals[i].link != l {
		i++
	}
	ns.locals = slices.Delete(ns.locals, i, i+1)
}

func compareLocal(l local, a netip.Addr) int { return l.addr.Compare(a) }

// compareAddrs orders by address, IPv4 first, then by length.
func compareAddrs(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}

func validAddr(p netip.Prefix) bool {
	a := p.Addr()
	return p.IsValid() && !a.Is4In6() && !a.IsUnspecified() && !a.IsMulticast()
}
