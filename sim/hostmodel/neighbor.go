package hostmodel

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// neighbor is one permanent neighbor entry; a link's are in address order.
type neighbor struct {
	addr netip.Addr
	mac  vppwire.MAC
}

func compareNeighbor(n neighbor, a netip.Addr) int { return n.addr.Compare(a) }

// neighSet works on a link that is down too, as the kernel does.
func (h *Host) neighSet(op vppwire.NeighSet) error {
	l, err := h.at(op.Netns, op.Link)
	if err != nil {
		return err
	}
	if !op.Addr.IsValid() || op.Addr.Is4In6() || op.Addr.Zone() != "" {
		return fmt.Errorf("neighbor %s on %s: %w", op.Addr, l, ErrInvalid)
	}
	i, found := slices.BinarySearchFunc(l.neighbors, op.Addr, compareNeighbor)
	if !found {
		l.neighbors = slices.Insert(l.neighbors, i, neighbor{addr: op.Addr})
	}
	l.neighbors[i].mac = op.MAC
	return nil
}

func (h *Host) neighDel(op vppwire.NeighDel) error {
	l, err := h.at(op.Netns, op.Link)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearchFunc(l.neighbors, op.Addr, compareNeighbor)
	if !found {
		return fmt.Errorf("neighbor %s on %s: %w", op.Addr, l, vppwire.ErrLinuxMissing)
	}
	l.neighbors = slices.Delete(l.neighbors, i, i+1)
	return nil
}
