package hostmodel

import (
	"fmt"

	"github.com/vppdrill/vppdrill/vppwire"
)

// The methods of this file are for a modelled VPP. They speak in plain types so that it need not know the wiring.

// TapCreate makes the Linux end of a tap, up as VPP leaves it (src/vnet/devices/tap/tap.c, tap_create_if), in the
// namespace with that path. A zero MAC is drawn; an MTU of 0 is 1500 bytes. vppwire.ErrNoNamespace where there is no
// such namespace, vppwire.ErrLinuxExists where it has a link of that name, ErrInvalid for an impossible name or MTU.
func (h *Host) TapCreate(netns, name string, mac [6]byte, mtu uint32) error {
	ns := h.namespace(netns)
	if ns == nil {
		return fmt.Errorf("namespace %s: %w", netns, vppwire.ErrNoNamespace)
	}
	if err := ns.free(name); err != nil {
		return fmt.Errorf("tap %s in %s: %w", name, ns, err)
	}
	if mtu != 0 && (mtu < mtuMin || mtu > mtuMax) {
		return fmt.Errorf("tap %s in %s: MTU %d: %w", name, ns, mtu, ErrInvalid)
	}
	l := &link{name: name, kind: kindTun, up: true, mac: mac, mtu: mtu, tap: len(h.taps)}
	if mtu == 0 {
		l.mtu = mtuDefault
	}
	if l.mac == (vppwire.MAC{}) {
		l.mac = h.drawMAC()
	}
	h.insert(ns, l)
	h.taps = append(h.taps, l)
	return nil
}

// TapDelete removes the Linux end of a tap; one that is gone, with its namespace or without, is nothing to do.
func (h *Host) TapDelete(netns, name string) {
	if ns := h.namespace(netns); ns != nil {
		if i, ok := ns.find(name); ok && ns.links[i].kind == kindTun {
			h.unlink(ns.links[i])
		}
	}
}

// DropTaps removes every tap: what the kernel does when VPP dies. Links that AF_PACKET interfaces sit on stay.
func (h *Host) DropTaps() {
	for len(h.taps) > 0 {
		h.unlink(h.taps[len(h.taps)-1])
	}
}

// forgetTap takes a link out of taps; the last one moves into its place.
func (h *Host) forgetTap(l *link) {
	last := len(h.taps) - 1
	h.taps[l.tap] = h.taps[last]
	h.taps[l.tap].tap = l.tap
	h.taps[last] = nil
	h.taps = h.taps[:last]
}

// HasLink reports whether the host's own namespace, VPP's, has a link of that name.
func (h *Host) HasLink(name string) bool {
	_, ok := h.root.find(name)
	return ok
}

// LinkID identifies a link of the host's own namespace, also against a later one of that name; 0 where there is none.
func (h *Host) LinkID(name string) uint64 {
	if i, ok := h.root.find(name); ok {
		return h.root.links[i].id
	}
	return 0
}

// LinkUp and LinkDown set a link of the host's own namespace up or down, as an AF_PACKET interface does when VPP sets
// it up or down; a link that is gone is left alone.
func (h *Host) LinkUp(name string)   { h.linkState(name, true) }
func (h *Host) LinkDown(name string) { h.linkState(name, false) }

func (h *Host) linkState(name string, up bool) {
	if i, ok := h.root.find(name); ok {
		l := h.root.links[i]
		l.lowered = l.lowered || !up
		l.setUp(up)
	}
}

// LinkMAC is the MAC of a link of the host's own namespace, zero where there is no such link.
func (h *Host) LinkMAC(name string) [6]byte {
	if i, ok := h.root.find(name); ok {
		return h.root.links[i].mac
	}
	return [6]byte{}
}
