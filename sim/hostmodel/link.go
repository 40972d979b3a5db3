package hostmodel

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// link is one network device.
type link struct {
	ns *namespace
	// id is never 0 and never another link's.
	id         uint64
	name       string
	kind       linkKind
	up         bool
	offloadOff bool
	// ownARP: the link answers ARP requests for its own addresses only (arp_ignore).
	ownARP bool
	// lowered: VPP has taken the link down since its offload was set; the agent that had it set need not know.
	lowered bool
	mac     vppwire.MAC
	mtu     uint32
	peer    *link
	// parent is what a macvlan sits on, children are the macvlans on this one, in the order in which they came.
	parent   *link
	children []*link
	// addrs is in address order; secondary says of each whether it came after another of its subnet.
	addrs     []netip.Prefix
	secondary []bool
	neighbors []neighbor
	// routes counts the namespace's routes over this link, so that a link without any costs no search when it goes.
	routes int
	// tap is the place in Host.taps.
	tap int
}

type linkKind uint8

const (
	kindLoopback linkKind = iota + 1
	kindDevice
	kindVeth
	kindTun
	kindMacvlan
	// kindProgram is no link of Linux': a program's own stack stands there.
	kindProgram
)

func (k linkKind) String() string {
	switch k {
	case kindLoopback, kindDevice:
		return "device"
	case kindVeth:
		return "veth"
	case kindTun:
		return "tun"
	case kindMacvlan:
		return "macvlan"
	case kindProgram:
		return "memif"
	}
	panic(fmt.Sprintf("hostmodel: link kind %d", uint8(k)))
}

// MTUs in bytes: Ethernet's default, the loopback's, and the bounds of veth and tap (ETH_MIN_MTU and ETH_MAX_MTU).
const (
	mtuDefault  = 1500
	mtuLoopback = 65536
	mtuMin      = 68
	mtuMax      = 65535
)

func (l *link) String() string { return "link " + l.name + " in " + l.ns.String() }

func (h *Host) vethAdd(op vppwire.VethAdd) error {
	here, there := h.namespace(op.Netns), h.namespace(op.PeerNetns)
	if here == nil {
		return fmt.Errorf("namespace %s: %w", op.Netns, vppwire.ErrNoNamespace)
	}
	if there == nil {
		return fmt.Errorf("namespace %s: %w", op.PeerNetns, vppwire.ErrNoNamespace)
	}
	if err := here.free(op.Name); err != nil {
		return fmt.Errorf("link %s in %s: %w", op.Name, here, err)
	}
	if err := there.free(op.Peer); err != nil {
		return fmt.Errorf("link %s in %s: %w", op.Peer, there, err)
	}
	if here == there && op.Name == op.Peer {
		return fmt.Errorf("link %s in %s as both ends: %w", op.Name, here, vppwire.ErrLinuxExists)
	}
	pair := &[2]link{
		{name: op.Name, kind: kindVeth, mtu: mtuDefault, mac: op.MAC},
		{name: op.Peer, kind: kindVeth, mtu: mtuDefault, mac: op.PeerMAC},
	}
	a, b := &pair[0], &pair[1]
	a.peer, b.peer = b, a
	for _, l := range [2]*link{a, b} {
		if l.mac == (vppwire.MAC{}) {
			l.mac = h.drawMAC()
		}
	}
	h.insert(here, a)
	h.insert(there, b)
	return nil
}

func (h *Host) linkDel(op vppwire.LinkDel) error {
	if h.namespace(op.Netns) == nil {
		return nil
	}
	l, err := h.at(op.Netns, op.Name)
	if err != nil {
		return err
	}
	if l.kind == kindLoopback || l.kind == kindDevice {
		return fmt.Errorf("delete %s: %w", l, ErrUnsupported)
	}
	h.unlink(l)
	return nil
}

// unlink takes a link away with all that hangs on it, a veth's other end included.
func (h *Host) unlink(l *link) {
	peer := l.peer
	for len(l.children) > 0 { // the other end's go as well, below
		h.unlink(l.children[len(l.children)-1])
	}
	h.detach(l)
	if peer != nil {
		peer.peer = nil
		h.unlink(peer)
	}
}

func (h *Host) detach(l *link) {
	ns := l.ns
	ns.routes.dropLink(l, everyFamily)
	for _, a := range l.addrs {
		ns.dropLocal(a.Addr(), l)
	}
	i, _ := ns.find(l.name)
	ns.links = slices.Delete(ns.links, i, i+1)
	if l.kind == kindTun {
		h.forgetTap(l)
	}
	l.peer = nil
	if l.parent != nil {
		l.parent.children = slices.DeleteFunc(l.parent.children, func(c *link) bool { return c == l })
	}
}

func (h *Host) linkSet(op vppwire.LinkSet) error {
	l, err := h.at(op.Netns, op.Name)
	if err != nil {
		return err
	}
	if op.MTU != 0 && l.kind != kindLoopback && (op.MTU < mtuMin || op.MTU > mtuMax) {
		return fmt.Errorf("%s: MTU %d: %w", l, op.MTU, ErrInvalid)
	}
	if op.MAC[0]&1 != 0 {
		return fmt.Errorf("%s: MAC %s: %w", l, op.MAC, ErrInvalid)
	}
	if l.parent != nil && op.MTU > l.parent.mtu {
		return fmt.Errorf("%s: MTU %d above its parent's, %d: %w", l, op.MTU, l.parent.mtu, ErrInvalid)
	}
	if l.parent != nil && op.Up {
		want := l.mac
		if op.MAC != (vppwire.MAC{}) {
			want = op.MAC
		}
		if err := l.parent.vacant(want, l); err != nil {
			return err
		}
	}
	if op.MTU != 0 {
		l.mtu = op.MTU
		for _, c := range l.children {
			c.mtu = min(c.mtu, l.mtu)
		}
	}
	if op.MAC != (vppwire.MAC{}) {
		l.mac = op.MAC
		// When its address is set, even to the same one, the kernel forgets a link's neighbors, permanent entries included.
		l.neighbors = nil
	}
	l.setUp(op.Up)
	return nil
}

// setUp changes the administrative state. Going down, a link loses its routes, its neighbors and its IPv6 addresses
// (keep_addr_on_down is off by default); coming up, its IPv4 addresses give it their connected routes again.
func (l *link) setUp(up bool) {
	if l.up == up {
		return
	}
	l.up = up
	if up {
		for i := range l.addrs {
			l.connect(i)
		}
		return
	}
	l.ns.routes.dropLink(l, everyFamily)
	l.neighbors = nil
	for i := len(l.addrs) - 1; i >= 0 && l.addrs[i].Addr().Is6(); i-- {
		l.removeAddr(i)
	}
}

func (h *Host) offloadSet(op vppwire.OffloadSet) error {
	l, err := h.at(op.Netns, op.Name)
	if err != nil {
		return err
	}
	l.offloadOff, l.lowered = op.Off, false
	return nil
}

func (h *Host) arpSet(op vppwire.ARPSet) error {
	l, err := h.at("", op.Link)
	if err != nil {
		return err
	}
	l.ownARP = op.Own
	return nil
}
