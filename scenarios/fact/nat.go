package fact

import (
	"cmp"
	"net/netip"
	"slices"
)

// NAT is the IPv4 NAT configuration of one VPP. Sessions are not included: no dump of a large VPP could show them.
type NAT struct {
	// Forwarding: packets without a translation pass.
	Forwarding bool
	// Addrs are given to packets that leave by an output interface, Twice to those that are translated twice.
	Addrs, Twice []netip.Addr
	// Bound are as Addrs, but for packets of one table alone, which nothing comes from.
	Bound []netip.Addr
	// Mappings are in ascending order of address, port and protocol.
	Mappings []NATMapping
}

// NATMapping is the target of packets from outside for an address.
type NATMapping struct {
	Addr netip.Addr
	// Port and Proto (of IP) are 0 for a whole address.
	Port  uint16
	Proto uint8
	// Identity: packets of Tables for the address are left alone; there are no locals.
	Identity bool
	Tables   []uint32
	// Twice: the client's address is translated too; Self: where the client is the local.
	Twice, Self bool
	// Affinity is how many seconds a client keeps its local, 0 for not at all, AffinityUnknown where the world cannot
	// tell.
	Affinity int64
	Locals   []NATLocal
	// Kept are locals that are gone and that clients with affinity may be sent to still, where the world can tell.
	Kept []NATLocal
}

// AffinityUnknown is NATMapping.Affinity of a VPP that is asked by its API alone, which does not tell.
const AffinityUnknown = -1

// NATLocal is one of those that sessions are spread over. Weight 0 is never drawn.
type NATLocal struct {
	Addr   netip.AddrPort
	Table  uint32
	Weight uint8
}

// Draws is the number of locals for new sessions.
func (m *NATMapping) Draws() (n int) {
	for i := range m.Locals {
		if m.Locals[i].Weight > 0 {
			n++
		}
	}
	return n
}

// Drawn is the i-th of them, from 0.
func (m *NATMapping) Drawn(i int) NATLocal {
	for _, l := range m.Locals {
		if l.Weight == 0 {
			continue
		}
		if i == 0 {
			return l
		}
		i--
	}
	panic("scenarios: a mapping has fewer locals")
}

// Find is the mapping of a packet's destination: that of the port, or else of the whole address; nil for none.
func (n *NAT) Find(addr netip.Addr, port uint16, proto uint8) *NATMapping {
	find := func(port uint16, proto uint8) *NATMapping {
		i, ok := slices.BinarySearchFunc(n.Mappings, NATMapping{Addr: addr, Port: port, Proto: proto}, CompareNATMappings)
		if !ok {
			return nil
		}
		return &n.Mappings[i]
	}
	if m := find(port, proto); m != nil {
		return m
	}
	return find(0, 0)
}

// Keeps reports whether packets of a table from an address and port stay as they are.
func (n *NAT) Keeps(addr netip.Addr, port uint16, proto uint8, table uint32) bool {
	for _, k := range [...]NATMapping{{Addr: addr, Port: port, Proto: proto}, {Addr: addr}} {
		i, ok := slices.BinarySearchFunc(n.Mappings, k, CompareNATMappings)
		if ok && n.Mappings[i].Identity && slices.Contains(n.Mappings[i].Tables, table) {
			return true
		}
	}
	return false
}

// Leaves reports whether what comes to an address by an interface that is on both sides counts as from inside, where no
// mapping serves it: so it is with a whole address that an identity has, unless it is one of NAT's.
func (n *NAT) Leaves(addr netip.Addr) bool {
	i, ok := slices.BinarySearchFunc(n.Mappings, NATMapping{Addr: addr}, CompareNATMappings)
	return ok && n.Mappings[i].Identity && !slices.Contains(n.Addrs, addr) && !slices.Contains(n.Bound, addr)
}

// CompareNATMappings orders mappings by address, port and protocol.
func CompareNATMappings(a, b NATMapping) int {
	return cmp.Or(a.Addr.Compare(b.Addr), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Proto, b.Proto))
}

// NATSides says what NAT does with an interface's packets.
type NATSides uint8

// Sides: what comes in is looked at as from inside, or as from outside; what goes out gets an address of NAT's.
const (
	NATInside NATSides = 1 << iota
	NATOutside
	NATOutput
)
