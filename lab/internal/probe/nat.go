package probe

import (
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// nat is what VPP told of NAT44-ED.
type nat struct {
	fact.NAT
	on bool
}

// natDumps asks for everything of a NAT that is on: one without room for sessions is off, whatever else it says.
func natDumps(m *nat44_ed.Nat44ShowRunningConfigReply) []api.Message {
	if m.Retval != 0 || m.Sessions == 0 {
		return nil
	}
	return []api.Message{&nat44_ed.Nat44AddressDump{}, &nat44_ed.Nat44InterfaceDump{}, &nat44_ed.Nat44EdOutputInterfaceGet{},
		&nat44_ed.Nat44IdentityMappingDump{}, &nat44_ed.Nat44StaticMappingDump{}, &nat44_ed.Nat44LbStaticMappingDump{}}
}

// addNAT takes what is about NAT.
func (t *tables) addNAT(m api.Message) bool {
	n := &t.nat
	switch m := m.(type) {
	case *nat44_ed.Nat44ShowRunningConfigReply:
		n.on, n.Forwarding = m.Sessions != 0, m.ForwardingEnabled
	case *nat44_ed.Nat44AddressDetails:
		a := netip.AddrFrom4(m.IPAddress)
		switch {
		case m.Flags&nat_types.NAT_IS_TWICE_NAT != 0:
			n.Twice = append(n.Twice, a)
		case m.VrfID != ^uint32(0):
			n.Bound = append(n.Bound, a)
		default:
			n.Addrs = append(n.Addrs, a)
		}
	case *nat44_ed.Nat44InterfaceDetails:
		if i := t.ifaces[uint32(m.SwIfIndex)]; i != nil {
			if m.Flags&nat_types.NAT_IS_INSIDE != 0 {
				i.NAT |= fact.NATInside
			}
			if m.Flags&nat_types.NAT_IS_OUTSIDE != 0 {
				i.NAT |= fact.NATOutside
			}
		}
	case *nat44_ed.Nat44EdOutputInterfaceDetails:
		if i := t.ifaces[uint32(m.SwIfIndex)]; i != nil {
			i.NAT |= fact.NATOutput
		}
	case *nat44_ed.Nat44IdentityMappingDetails:
		n.identity(m)
	case *nat44_ed.Nat44StaticMappingDetails:
		n.Mappings = append(n.Mappings, mapping(m.ExternalIPAddress, m.ExternalPort, m.Protocol, m.Flags,
			fact.NATLocal{Addr: netip.AddrPortFrom(netip.AddrFrom4(m.LocalIPAddress), m.LocalPort), Table: m.VrfID, Weight: 1}))
	case *nat44_ed.Nat44LbStaticMappingDetails:
		o := mapping(m.ExternalAddr, m.ExternalPort, m.Protocol, m.Flags)
		for _, l := range m.Locals {
			o.Locals = append(o.Locals, fact.NATLocal{Addr: netip.AddrPortFrom(netip.AddrFrom4(l.Addr), l.Port), Table: l.VrfID, Weight: l.Probability})
		}
		n.Mappings = append(n.Mappings, o)
	default:
		return false
	}
	return true
}

func mapping(addr [4]byte, port uint16, proto uint8, flags nat_types.NatConfigFlags, locals ...fact.NATLocal) fact.NATMapping {
	return fact.NATMapping{Addr: netip.AddrFrom4(addr), Port: port, Proto: proto, Affinity: fact.AffinityUnknown, Twice: flags&nat_types.NAT_IS_TWICE_NAT != 0,
		Self: flags&nat_types.NAT_IS_SELF_TWICE_NAT != 0, Locals: locals}
}

// identity takes one of the tables of an identity mapping; VPP shows each by itself.
func (n *nat) identity(m *nat44_ed.Nat44IdentityMappingDetails) {
	o := fact.NATMapping{Addr: netip.AddrFrom4(m.IPAddress), Port: m.Port, Proto: m.Protocol, Identity: true}
	i := slices.IndexFunc(n.Mappings, func(x fact.NATMapping) bool { return x.Identity && fact.CompareNATMappings(x, o) == 0 })
	if i < 0 {
		i = len(n.Mappings)
		n.Mappings = append(n.Mappings, o)
	}
	n.Mappings[i].Tables = append(n.Mappings[i].Tables, m.VrfID)
}

func (n *nat) finish() { slices.SortFunc(n.Mappings, fact.CompareNATMappings) }

// NAT implements fact.VPP.
func (t *tables) NAT() (fact.NAT, bool) { return t.nat.NAT, t.nat.on }
