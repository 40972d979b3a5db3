package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// isGroup reports whether a MAC is multicast or broadcast.
func isGroup(m vppwire.MAC) bool { return m[0]&1 != 0 }

// bridged is a frame in a bridge domain. It came through interface in, whose split horizon group is shg
// (src/vnet/l2/l2_input.c and l2_fwd.c). In a cluster only forwarding is walked: a domain that floods unknown MACs
// delivers more than it should, and which of the copies arrives is no property of the tables.
func (t *trip) bridged(n *node, id, in uint32, shg uint8) Kind {
	b := n.bridge(id)
	switch {
	case b == nil:
		return t.drop(n, "the bridge domain does not exist")
	case isGroup(t.to):
		return t.toGroup(n, b, in, shg)
	}
	if b.Forward {
		e, known := n.VPP.FIB(id, t.to)
		if t.dut != nil && !(known && e.Static) {
			// VPP moves what is not static to wherever it hears the MAC, and forgets it when interfaces or domains change.
			if learned := t.dut.policy.Learned; learned != nil {
				known = learned(id, t.to)
			}
			if known {
				return t.unsure(n, "the bridge domain has learned the MAC")
			}
		}
		switch {
		case known && e.Filter:
			return t.drop(n, "the bridge domain filters the MAC")
		case known && e.Index == in:
			return t.drop(n, "the bridge domain sends the MAC back to where it came from")
		case known:
			return t.switched(n, e, shg)
		}
	}
	switch {
	case t.dut != nil && b.HasUnknown:
		return t.switched(n, fact.FIBEntry{Index: b.Unknown}, shg)
	case t.dut != nil && (b.UUFlood || b.Flood && !b.Forward): // without forwarding, flooding comes next, whatever the MAC
		return t.flooded(n, id, in, shg)
	case !b.Forward:
		return t.drop(n, "the bridge domain does not forward")
	}
	return t.drop(n, "the bridge domain does not know the MAC")
}

// toGroup is a frame for everybody.
func (t *trip) toGroup(n *node, b *fact.Bridge, in uint32, shg uint8) Kind {
	switch {
	case t.dut == nil:
		return t.drop(n, "the frame is for everybody; flooding is not walked")
	case t.kind == ARPRequest && b.ARPUnknown:
		return t.switched(n, fact.FIBEntry{Index: b.Unknown}, shg)
	case b.Flood:
		return t.flooded(n, b.ID, in, shg)
	}
	return t.drop(n, "the bridge domain does not flood")
}

// switched is a frame for the interface of one L2 FIB entry. That need not be a member of the bridge domain, only of any.
func (t *trip) switched(n *node, e fact.FIBEntry, shg uint8) Kind {
	out, ok := n.VPP.Interface(e.Index)
	switch {
	case e.BVI && (!ok || !out.BVI): // VPP 25.10 dies of it, where the interface is gone
		return t.unsure(n, "the bridge domain takes the MAC for that of a BVI, and the interface is none")
	case !ok:
		return t.drop(n, "the bridge domain sends the MAC to an interface that does not exist")
	}
	t.w.trail.add(note{node: n, kind: ActSwitched, table: e.Bridge, mac: t.to, name: out.Name})
	switch {
	case e.BVI:
		return t.toBVI(n, &out)
	case out.Unlisted: // one that was refused as a second BVI keeps the group of the domain that it was in before
		return t.unsure(n, "the bridge domain sends the MAC to an interface that is no member of its own domain")
	case out.Bridge == 0:
		return t.drop(n, "the bridge domain sends the MAC to an interface that is no member")
	case shg != 0 && shg == out.SHG:
		return t.drop(n, "split horizon: the frame would leave through the group that it came from")
	}
	return t.transmit(n, &out, netip.Addr{})
}

// toBVI hands a frame to L3 (src/vnet/l2/l2_bvi.h). VPP does not ask whether the BVI is up.
func (t *trip) toBVI(n *node, ifc *fact.Interface) Kind {
	switch {
	case !isGroup(t.to) && t.to != ifc.MAC:
		return t.drop(n, "the VPP interface does not accept the frame's MAC")
	case t.spent():
		return t.loop(n, "interfaces hand the frame to each other")
	case t.kind == ARPRequest:
		return t.drop(n, "an ARP request goes no further")
	}
	return t.l3(n, ifc)
}

// flooded is a frame for all members but the one that it came from. Each copy goes its own way.
func (t *trip) flooded(n *node, id, in uint32, shg uint8) Kind {
	b, _ := n.VPP.Bridge(id)
	for _, m := range b.Members {
		o, ok := n.VPP.Interface(m.Index)
		switch {
		case !ok || m.Index == in, !m.BVI && t.unflooded(&o), shg != 0 && shg == o.SHG:
		case m.BVI:
			t.copied(n, &o, true)
		default:
			t.copied(n, &o, false)
		}
	}
	return t.left(n)
}

// unflooded reports whether a member gets no flooded frames.
func (t *trip) unflooded(ifc *fact.Interface) bool {
	return ifc.Type == fact.TypeLoopback || t.dut.policy.Unflooded != nil && t.dut.policy.Unflooded(ifc.Index)
}
