package vppmodel

import "net/netip"

// Kind is what sort of interface one is. The zero Kind is invalid.
type Kind uint8

// Kinds of interfaces. KindNIC is any physical or hypervisor interface.
const (
	KindLocal Kind = iota + 1
	KindNIC
	KindLoopback
	KindTap
	KindAFPacket
	KindVXLAN
	KindMemif
)

// mtuDefault is the L3 MTU that VPP gives Ethernet interfaces, in bytes (src/vnet/ethernet/interface.c).
const mtuDefault = 9000

// linkMTU is max_frame_size without overhead; the same default.
const linkMTU = 9000

// iface is one interface. What only one kind has is behind device: a node in a mesh of a thousand holds a thousand
// tunnels, so this struct is kept within 128 bytes, one of the allocator's sizes.
type iface struct {
	name, tag string
	addrs     []netip.Prefix // both families, in order of arrival
	device    any            // *nic, *tap, *afPacket, *vxlanTunnel, *memifPort or nil
	index     uint32
	instance  uint32 // of its kind
	mtu       [4]uint32
	tables    [2]uint32
	donor     uint32 // the interface it borrows addresses from, only where borrows
	bridge    uint32 // bd_index, only where bridged
	mac       mac
	linkMTU   uint16
	kind      Kind
	shg       uint8
	ethernet  bool
	up, link  bool
	borrows   bool
	bridged   bool // of a bridge, not of L3
	member    bool // in the bridge's list of members
}

// nic is what a NIC has beside an interface.
type nic struct {
	driver string
	mtu    uint16 // the hardware's, 0 for the default
}

// driver is the interface_dev_type of dumps: VPP's device class.
func (i *iface) driver() string {
	switch i.kind {
	case KindNIC:
		return i.device.(*nic).driver
	case KindLoopback:
		return "Loopback"
	case KindTap:
		return "virtio"
	case KindAFPacket:
		return "af-packet"
	case KindVXLAN:
		return "VXLAN"
	case KindMemif:
		return "memif"
	}
	return "local"
}

// isBVI reports whether an interface is its bridge's virtual interface.
func (v *VPP) isBVI(i *iface) bool {
	if !i.bridged {
		return false
	}
	b := v.bridges[i.bridge]
	return b != nil && b.bvi == i.index
}

// at returns a live interface or nil.
func (v *VPP) at(index uint32) *iface {
	if index < uint32(len(v.ifaces)) {
		return v.ifaces[index]
	}
	return nil
}

// addInterface gives an interface its index, the one freed last, else the next, and keeps it at a place of its own.
// Neighbors that an earlier owner of the index left behind now apparently belong to this one.
func (v *VPP) addInterface(added iface) *iface {
	at := v.indices.get()
	i := v.ifacePages.at(at)
	*i = added
	i.index = at
	if i.ethernet {
		i.mtu[0], i.linkMTU = mtuDefault, linkMTU
	}
	if n, ok := i.device.(*nic); ok && n.mtu != 0 {
		i.linkMTU = n.mtu
	}
	for _, f := range families {
		v.tables[f][0].bound++
	}
	for i.index >= uint32(len(v.ifaces)) {
		v.ifaces = append(v.ifaces, nil)
	}
	v.ifaces[i.index] = i
	return i
}

// deleteInterface takes an interface away, with its tag, addresses, unnumbered state, table binding, bridge membership
// and dynamic neighbors. It leaves static neighbors, routes and L2 FIB entries through it, and proxy ARP and DHCP
// state.
func (v *VPP) deleteInterface(i *iface) {
	v.setUp(i, false)
	v.flushNeighbors(i.index)
	i.borrows = false
	for len(i.addrs) > 0 {
		v.dropAddress(i, 0)
	}
	for _, f := range families {
		if i.tables[f] != 0 {
			v.bindTable(i, f, 0)
		}
	}
	if i.bridged {
		v.leaveBridge(i)
	}
	delete(v.unflooded, i.index)
	v.forgetFilters(i.index)
	v.nat.forgetInterface(i.index)
	delete(v.acls.on, i.index)
	v.paths.kill(i.index)
	v.killAdjacencies(i.index)
	for _, f := range families {
		v.tables[f][0].bound--
	}
	v.ifaces[i.index] = nil
	v.indices.put(i.index)
	v.tellInterface(i, 0, true)
}

// setUp changes the admin state. Addresses have routes only while their interface is up; dynamic neighbors live only as
// long. It reports whether anything changed.
func (v *VPP) setUp(i *iface, up bool) bool {
	if i.up == up {
		return false
	}
	i.up, i.link = up, up && i.kind != KindLocal
	for _, p := range i.addrs {
		if up {
			v.addAddressRoutes(i, p)
		} else {
			v.deleteAddressRoutes(i, p, p.Bits(), false)
		}
	}
	if !up {
		v.flushNeighbors(i.index)
	}
	return true
}

// bindTable moves an interface to another table of a family, neighbors included. The table exists.
func (v *VPP) bindTable(i *iface, f family, id uint32) {
	from, to := v.tables[f][i.tables[f]], v.tables[f][id]
	// Binding to the present table again is a move too: it gives neighbors fresh adjacencies.
	v.moveNeighbors(i.index, from, to)
	if from == to {
		return
	}
	i.tables[f] = id
	to.bound++
	from.bound--
	v.reap(from)
}

func (v *VPP) table(i *iface, f family) *table { return v.tables[f][i.tables[f]] }
