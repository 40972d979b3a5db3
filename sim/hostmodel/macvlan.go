package hostmodel

import (
	"fmt"

	"github.com/vppdrill/vppdrill/vppwire"
)

// macvlanAdd follows the kernel's drivers/net/macvlan.c: the child has its parent's MTU, and may not grow beyond it.
// The link is made in its namespace at once.
func (h *Host) macvlanAdd(op vppwire.MacvlanAdd) error {
	ns := h.namespace(op.Netns)
	if ns == nil {
		return fmt.Errorf("namespace %s: %w", op.Netns, vppwire.ErrNoNamespace)
	}
	parent, err := h.at("", op.Parent)
	if err != nil {
		return err
	}
	if parent.kind == kindLoopback || parent.kind == kindMacvlan {
		return fmt.Errorf("macvlan on %s: %w", parent, ErrInvalid)
	}
	if err := ns.free(op.Name); err != nil {
		return fmt.Errorf("link %s in %s: %w", op.Name, ns, err)
	}
	if op.MAC[0]&1 != 0 {
		return fmt.Errorf("macvlan %s in %s: MAC %s: %w", op.Name, ns, op.MAC, ErrInvalid)
	}
	l := &link{name: op.Name, kind: kindMacvlan, mtu: parent.mtu, mac: op.MAC, parent: parent}
	if l.mac == (vppwire.MAC{}) {
		l.mac = h.drawMAC()
	}
	h.insert(ns, l)
	parent.children = append(parent.children, l)
	return nil
}

// vacant reports why a child of l cannot be up with a MAC: another one is, or it is l's own (macvlan_addr_busy;
// EADDRINUSE).
func (l *link) vacant(mac vppwire.MAC, child *link) error {
	busy := l.mac == mac
	for _, c := range l.children {
		busy = busy || c != child && c.up && c.mac == mac
	}
	if busy {
		return fmt.Errorf("%s: MAC %s on %s: %w", child, mac, l, vppwire.ErrLinuxExists)
	}
	return nil
}
