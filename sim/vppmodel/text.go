package vppmodel

import (
	"maps"
	"slices"
	"strconv"

	"go.fd.io/govpp/binapi/l2"
)

// Text is the whole state, one object a line, in a fixed order: interfaces, tables with their routes, neighbors,
// bridges, L2 FIB, proxy ARP, STN rules,
// memif sockets, DHCP. Equal states have equal texts. What every VPP has (local0, table 0, default entries
// of tables) is left out while it is as it started.
func (v *VPP) Text() string { return string(v.AppendText(nil)) }

// AppendText appends what Text returns.
func (v *VPP) AppendText(b []byte) []byte {
	for _, i := range v.ifaces {
		if i != nil && (i.kind != KindLocal || i.up) {
			b = append(v.appendInterface(b, i), '\n')
		}
	}
	for _, f := range families {
		for _, id := range slices.Sorted(maps.Keys(v.tables[f])) {
			b = v.appendTable(b, v.tables[f][id])
		}
	}
	b = v.appendNeighbors(b)
	b = v.appendBridges(b)
	b = v.appendProxies(b)
	b = v.appendStolen(b)
	b = v.appendMemifs(b)
	b = v.appendClassifiers(b)
	b = v.appendACLs(b)
	b = v.appendNAT(b)
	for _, at := range slices.Sorted(maps.Keys(v.dhcp)) {
		b = append(v.appendIndex(append(b, "dhcp "...), at), " lease "...)
		b = append(v.dhcp[at].lease.Addr.AppendTo(b), '\n')
	}
	return b
}

// appendIndex names a live interface, and a dead index by its number.
func (v *VPP) appendIndex(b []byte, at uint32) []byte {
	if at == none {
		return append(b, "any"...)
	}
	if i := v.at(at); i != nil {
		return append(b, i.name...)
	}
	return strconv.AppendUint(append(b, "dead#"...), uint64(at), 10)
}

// appendNumber appends a word that ends in its separator, the number, and what follows it; ^0 is "gone".
func appendNumber(b []byte, word string, n uint32, then ...byte) []byte {
	b = append(b, word...)
	if n == none {
		return append(append(b, "gone"...), then...)
	}
	return append(strconv.AppendUint(b, uint64(n), 10), then...)
}

func (v *VPP) appendInterface(b []byte, i *iface) []byte {
	b = append(appendNumber(b, "interface #", i.index), ' ')
	b = append(b, i.name...)
	if i.up {
		b = append(b, " up"...)
	}
	if i.tag != "" {
		b = strconv.AppendQuote(append(b, " tag "...), i.tag)
	}
	if i.ethernet {
		b = i.mac.appendText(append(b, " mac "...))
	}
	for n, name := range [...]string{" mtu ", " mtu4 ", " mtu6 ", " mtu-mpls "} {
		if i.mtu[n] != 0 {
			b = appendNumber(b, name, i.mtu[n])
		}
	}
	if i.tables[v4] != 0 {
		b = appendNumber(b, " table4 ", i.tables[v4])
	}
	if i.tables[v6] != 0 {
		b = appendNumber(b, " table6 ", i.tables[v6])
	}
	for _, p := range i.addrs {
		b = p.AppendTo(append(b, ' '))
	}
	if i.borrows {
		b = v.appendIndex(append(b, " unnumbered "...), i.donor)
	}
	return v.appendDevice(b, i)
}

func (v *VPP) appendDevice(b []byte, i *iface) []byte {
	switch d := i.device.(type) {
	case *tap:
		b = append(append(b, " host "...), d.linuxName()...)
		if d.netns != "" {
			b = append(append(b, " netns "...), d.path()...)
		}
	case *afPacket:
		if !d.sits(v) {
			b = append(b, " device gone"...)
		}
	case *vxlanTunnel:
		b = d.src.netip(d.family).AppendTo(append(b, " src "...))
		b = d.dst.netip(d.family).AppendTo(append(b, " dst "...))
		b = appendNumber(appendNumber(b, " vni ", d.vni), " encap ", d.encap)
	}
	return b
}

func (v *VPP) appendTable(b []byte, t *table) []byte {
	if t.id != 0 {
		b = append(append(b, "table "...), t.family.String()...)
		b = append(appendNumber(b, " ", t.id), '\n')
	}
	for _, p := range t.prefixes(nil) {
		e, _ := t.get(p)
		for n, e := range append([]entry{e}, t.others[p]...) {
			if e.source == sourceSpecial || e.source == sourceDefault {
				continue
			}
			b = p.netip(t.family).AppendTo(append(appendNumber(b, "route ", t.id), ' '))
			b = append(append(b, ' '), e.source.String()...)
			b = v.appendPaths(b, t.family, p, e)
			if n > 0 {
				b = append(b, " shadowed"...)
			}
			b = append(b, '\n')
		}
	}
	return b
}

func (s source) String() string {
	if name, known := sourceNames[s]; known {
		return name
	}
	return "source-" + strconv.Itoa(int(s))
}

func (v *VPP) appendPaths(b []byte, f family, p prefix, e entry) []byte {
	if e.source == sourceAdjacency {
		b = v.appendIndex(append(p.addr.netip(f).AppendTo(append(b, " via "...)), ' '), e.paths)
		if e.dead {
			b = append(b, " unresolved"...)
		}
		return b
	}
	for n := e.paths; n != 0; n = v.paths.nodes[n].next {
		b = v.appendPath(b, &v.paths.nodes[n])
	}
	return b
}

func (v *VPP) appendPath(b []byte, n *pathNode) []byte {
	switch n.kind {
	case pathAttached:
		b = v.appendIndex(append(b, " attached "...), n.iface)
	case pathNextHop:
		b = n.addr.netip(n.family).AppendTo(append(b, " via "...))
		b = v.appendIndex(append(b, ' '), n.iface)
	case pathRecursive:
		b = n.addr.netip(n.family).AppendTo(append(b, " via "...))
		b = appendNumber(b, " table ", n.table)
	case pathLookup:
		b = appendNumber(b, " lookup ", n.table)
	case pathLocal:
		b = v.appendIndex(append(b, " local "...), n.iface)
	case pathDrop:
		b = append(b, " drop"...)
	case pathUnreachable:
		b = append(b, " unreachable"...)
	case pathProhibited:
		b = append(b, " prohibited"...)
	}
	if n.weight > 1 {
		b = appendNumber(b, " weight ", uint32(n.weight))
	}
	if n.preference > 0 {
		b = appendNumber(b, " preference ", uint32(n.preference))
	}
	if n.dead {
		b = append(b, " unresolved"...)
	}
	return b
}

func (v *VPP) appendNeighbors(b []byte) []byte {
	for _, k := range v.neighborKeys(func(neighborKey, neighbor) bool { return true }) {
		n := v.neighbors[k]
		b = append(v.appendIndex(append(b, "neighbor "...), k.index), ' ')
		b = n.mac.appendText(append(k.addr.netip(k.family).AppendTo(b), ' '))
		if !n.static {
			b = append(b, " dynamic"...)
		}
		b = append(b, '\n')
	}
	for _, f := range families {
		if l := v.neighborLimits[f]; l.number != neighborLimitDefault || l.age != 0 || l.recycle {
			b = append(append(b, "neighbor-config "...), f.String()...)
			b = appendNumber(appendNumber(b, " max ", l.number), " age ", l.age)
			b = append(strconv.AppendBool(append(b, " recycle "...), l.recycle), '\n')
		}
	}
	return b
}

func (v *VPP) appendBridges(b []byte) []byte {
	for id := range v.Bridges() {
		d := v.bridgeOf(id)
		b = appendNumber(b, "bridge ", id)
		for _, x := range [...]struct {
			flag l2.BdFlags
			name string
		}{{l2.BRIDGE_API_FLAG_LEARN, " learn"}, {l2.BRIDGE_API_FLAG_FWD, " forward"}, {l2.BRIDGE_API_FLAG_FLOOD, " flood"},
			{l2.BRIDGE_API_FLAG_UU_FLOOD, " uu-flood"}, {l2.BRIDGE_API_FLAG_ARP_TERM, " arp-term"},
			{l2.BRIDGE_API_FLAG_ARP_UFWD, " arp-ufwd"}} {
			if d.has(x.flag) {
				b = append(b, x.name...)
			}
		}
		b = append(b, '\n')
		for _, at := range slices.Sorted(slices.Values(d.members)) {
			b = v.appendIndex(appendNumber(b, "member ", id, ' '), at)
			if at == d.bvi {
				b = append(b, " bvi"...)
			}
			b = append(appendNumber(b, " shg ", uint32(v.ifaces[at].shg)), '\n')
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(v.macs), macKey.compare) {
		e := v.macs[k]
		b = append(k.mac.appendText(appendNumber(b, "l2fib ", v.bridgeID(uint32(k.bridge)), ' ')), ' ')
		b = v.appendIndex(b, e.index)
		for _, x := range [...]struct {
			on   bool
			name string
		}{{e.bvi, " bvi"}, {e.filter, " filter"}, {!e.static, " not static"}} {
			if x.on {
				b = append(b, x.name...)
			}
		}
		b = append(b, '\n')
	}
	return b
}

func (v *VPP) appendProxies(b []byte) []byte {
	for _, r := range v.proxies {
		b = r.low.netip(v4).AppendTo(appendNumber(b, "proxy-arp ", v.placed[r.place], ' '))
		b = append(r.high.netip(v4).AppendTo(append(b, '-')), '\n')
	}
	for _, at := range slices.Sorted(maps.Keys(v.proxied)) {
		b = append(v.appendIndex(append(b, "proxy-arp on "...), at), '\n')
	}
	return b
}
