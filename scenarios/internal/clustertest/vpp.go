package clustertest

import (
	"bytes"
	"cmp"
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// VPP is one VPP's tables. Change the exported fields, then call Freeze.
type VPP struct {
	// Ifaces holds each interface at its index; an index without interface has Type 0.
	Ifaces []fact.Interface
	// API holds routes in any order. Connected and local ones follow from the interfaces' addresses.
	API []fact.Route
	// Tabs are the tables that exist.
	Tabs []uint32
	// Neighs, Domains and L2 are in any order. A domain's members follow from the interfaces.
	Neighs  []fact.Neighbor
	Domains []fact.Bridge
	L2      []fact.FIBEntry
	// Senders are what guarded interfaces admit, in address order.
	Senders []fact.Source
	// Filters are the rules for what leaves by an interface, by its index, Takes those for what comes in.
	Filters, Takes map[uint32][]fact.ACLRule
	// Stolen are the STN rules: interfaces by address. Proxies are what interfaces answer ARP for, by their index.
	Stolen  map[netip.Addr]uint32
	Proxies map[uint32]netip.Prefix
	// Translates is its NAT, none without mappings.
	Translates fact.NAT

	tables  []table
	tunnels []tunnel
}

// tunnel is a VXLAN tunnel as decapsulation looks for it.
type tunnel struct {
	src, dst   netip.Addr
	vni, index uint32
}

// table is one frozen table: entries in (address, length) order, each with the entry around it.
type table struct {
	id      uint32
	entries []fact.Route
	parent  []int32
}

var _ fact.VPP = (*VPP)(nil)

// Freeze sorts the tables and derives what follows from them.
func (v *VPP) Freeze() {
	slices.Sort(v.Tabs)
	slices.SortFunc(v.Neighs, compareNeighbor)
	slices.SortFunc(v.L2, compareFIB)
	slices.SortFunc(v.Domains, func(a, b fact.Bridge) int { return cmp.Compare(a.ID, b.ID) })
	v.tables = v.tables[:0]
	for _, id := range v.Tabs {
		v.tables = append(v.tables, v.freezeTable(id))
	}
	v.tunnels = v.tunnels[:0]
	for i := range v.Domains {
		v.Domains[i].Members = nil
	}
	for i := range v.Ifaces {
		ifc := &v.Ifaces[i]
		ifc.Index = uint32(i)
		if ifc.Type == fact.TypeVXLAN {
			v.tunnels = append(v.tunnels, tunnel{ifc.Src, ifc.Dst, ifc.VNI, ifc.Index})
		}
		for d := range v.Domains {
			if ifc.Type != 0 && v.Domains[d].ID == ifc.Bridge {
				v.Domains[d].Members = append(v.Domains[d].Members, fact.BridgeMember{Index: ifc.Index, BVI: ifc.BVI, SHG: ifc.SHG})
			}
		}
	}
	slices.SortFunc(v.tunnels, compareTunnel)
}

func (v *VPP) freezeTable(id uint32) table {
	t := table{id: id}
	for i := range v.Ifaces {
		ifc := &v.Ifaces[i]
		if ifc.Type == 0 || ifc.Table4 != id || !ifc.Up {
			continue
		}
		for _, a := range ifc.Addrs {
			own := netip.PrefixFrom(a.Addr(), a.Addr().BitLen())
			t.entries = append(t.entries, fact.Route{Table: id, Prefix: own, Action: fact.ActionLocal, Index: uint32(i)})
			if !a.IsSingleIP() {
				t.entries = append(t.entries, fact.Route{Table: id, Prefix: a.Masked(), Action: fact.ActionForward, Index: uint32(i)})
			}
		}
	}
	for _, r := range v.API {
		if r.Table == id {
			r.API = true
			t.entries = append(t.entries, r)
		}
	}
	// Stable: an interface's own entries come first and win against the API's, as in VPP.
	slices.SortStableFunc(t.entries, compareRoute)
	t.entries = slices.CompactFunc(t.entries, func(a, b fact.Route) bool { return a.Prefix == b.Prefix })
	t.parent = make([]int32, len(t.entries))
	for i := range t.entries {
		p := int32(i) - 1
		for p >= 0 && !t.entries[p].Prefix.Contains(t.entries[i].Prefix.Addr()) {
			p = t.parent[p]
		}
		t.parent[i] = p
	}
	return t
}

func compareRoute(a, b fact.Route) int {
	return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()), a.Prefix.Bits()-b.Prefix.Bits())
}

func compareNeighbor(a, b fact.Neighbor) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), a.Addr.Compare(b.Addr))
}

func compareFIB(a, b fact.FIBEntry) int {
	return cmp.Or(cmp.Compare(a.Bridge, b.Bridge), bytes.Compare(a.MAC[:], b.MAC[:]))
}

func compareTunnel(a, b tunnel) int {
	return cmp.Or(a.dst.Compare(b.dst), a.src.Compare(b.src), cmp.Compare(a.vni, b.vni))
}

// Interfaces implements fact.VPP.
func (v *VPP) Interfaces() iter.Seq[fact.Interface] {
	return func(yield func(fact.Interface) bool) {
		for i := range v.Ifaces {
			if v.Ifaces[i].Type != 0 && !yield(v.Ifaces[i]) {
				return
			}
		}
	}
}

// Interface implements fact.VPP.
func (v *VPP) Interface(index uint32) (fact.Interface, bool) {
	if int(index) >= len(v.Ifaces) || v.Ifaces[index].Type == 0 {
		return fact.Interface{}, false
	}
	return v.Ifaces[index], true
}

func (v *VPP) table(id uint32) *table {
	for i := range v.tables {
		if v.tables[i].id == id {
			return &v.tables[i]
		}
	}
	return nil
}

// Route implements fact.VPP.
func (v *VPP) Route(id uint32, dst netip.Addr) (fact.Route, bool) {
	t := v.table(id)
	if t == nil {
		return fact.Route{}, false
	}
	lo, hi := 0, len(t.entries)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if t.entries[mid].Prefix.Addr().Compare(dst) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for i := int32(lo) - 1; i >= 0; i = t.parent[i] {
		if t.entries[i].Prefix.Contains(dst) {
			return t.entries[i], true
		}
	}
	return fact.Route{Table: id, Prefix: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Action: fact.ActionDrop}, true
}

// Routes implements fact.VPP.
func (v *VPP) Routes(id uint32) iter.Seq[fact.Route] {
	return func(yield func(fact.Route) bool) {
		t := v.table(id)
		if t == nil {
			return
		}
		for i := range t.entries {
			if t.entries[i].API && !yield(t.entries[i]) {
				return
			}
		}
	}
}

// Tables implements fact.VPP.
func (v *VPP) Tables() iter.Seq[uint32] { return slices.Values(v.Tabs) }

// Neighbor implements fact.VPP.
func (v *VPP) Neighbor(index uint32, addr netip.Addr) (vppwire.MAC, bool) {
	i, ok := slices.BinarySearchFunc(v.Neighs, fact.Neighbor{Index: index, Addr: addr}, compareNeighbor)
	if !ok {
		return vppwire.MAC{}, false
	}
	return v.Neighs[i].MAC, true
}

// Neighbors implements fact.VPP.
func (v *VPP) Neighbors() iter.Seq[fact.Neighbor] { return slices.Values(v.Neighs) }

// Bridge implements fact.VPP.
func (v *VPP) Bridge(id uint32) (fact.Bridge, bool) {
	for i := range v.Domains {
		if v.Domains[i].ID == id {
			return v.Domains[i], true
		}
	}
	return fact.Bridge{}, false
}

// Bridges implements fact.VPP.
func (v *VPP) Bridges() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range v.Domains {
			if !yield(v.Domains[i].ID) {
				return
			}
		}
	}
}

// FIB implements fact.VPP.
func (v *VPP) FIB(id uint32, mac vppwire.MAC) (fact.FIBEntry, bool) {
	i, ok := slices.BinarySearchFunc(v.L2, fact.FIBEntry{Bridge: id, MAC: mac}, compareFIB)
	if !ok {
		return fact.FIBEntry{}, false
	}
	return v.L2[i], true
}

// Admits implements fact.VPP.
func (v *VPP) Admits(index uint32, mac vppwire.MAC, addr netip.Addr) bool {
	return !v.Ifaces[index].Guarded || slices.Contains(v.Senders, fact.Source{Addr: addr, MAC: mac})
}

// STN implements fact.VPP.
func (v *VPP) STN(addr netip.Addr) (uint32, bool) {
	index, ok := v.Stolen[addr]
	return index, ok
}

// ProxiesARP implements fact.VPP.
func (v *VPP) ProxiesARP(index uint32, addr netip.Addr) bool {
	r, on := v.Proxies[index]
	return on && r.Contains(addr)
}

// ACLs implements fact.VPP.
func (v *VPP) ACLs(index uint32, leaving bool) ([]fact.ACLRule, bool) {
	of := v.Takes
	if leaving {
		of = v.Filters
	}
	rules, filtered := of[index]
	return rules, filtered
}

// NAT implements fact.VPP.
func (v *VPP) NAT() (fact.NAT, bool) { return v.Translates, len(v.Translates.Mappings) > 0 }

// Sources implements fact.VPP.
func (v *VPP) Sources(uint32) iter.Seq[fact.Source] { return slices.Values(v.Senders) }

// FIBs implements fact.VPP.
func (v *VPP) FIBs() iter.Seq[fact.FIBEntry] { return slices.Values(v.L2) }

// Tunnel implements fact.VPP.
func (v *VPP) Tunnel(local, remote netip.Addr, vni uint32) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(v.tunnels, tunnel{src: local, dst: remote, vni: vni}, compareTunnel)
	if !ok {
		return 0, false
	}
	return v.tunnels[i].index, true
}
