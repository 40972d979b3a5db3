package normalized

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// vpp draws what VPP holds.
func (d *drawing) vpp() {
	if d.VPP == nil {
		return
	}
	for i := range d.VPP.Interfaces() {
		if i.Type != fact.TypeLocal {
			d.line("VPP: %s: %s", d.roles.of(i.Index), d.iface(i))
		}
	}
	for table := range d.VPP.Tables() {
		d.line("VPP: table %d", table)
		for r := range d.VPP.Routes(table) {
			d.line("VPP: table %d: route %s %s", table, d.prefix(r.Prefix), d.path(r))
		}
	}
	for nb := range d.VPP.Neighbors() {
		d.line("VPP: neighbour %s on %s is %s", d.addr(nb.Addr), d.roles.of(nb.Index), d.hw(nb.MAC, nb.Addr))
	}
	for id := range d.VPP.Bridges() {
		if b, ok := d.VPP.Bridge(id); ok {
			d.line("VPP: bridge domain %d: learn %t flood %t uu-flood %t forward %t arp-term %t", id, b.Learn, b.Flood, b.UUFlood, b.Forward, b.ARPTerm)
			for _, m := range b.Members {
				d.line("VPP: bridge domain %d: member %s, BVI %t, split horizon group %d", id, d.roles.of(m.Index), m.BVI, m.SHG)
			}
		}
	}
	for e := range d.VPP.FIBs() {
		d.line("VPP: bridge domain %d: %s is behind %s, BVI %t", e.Bridge, d.hw(e.MAC, netip.Addr{}), d.roles.of(e.Index), e.BVI)
	}
}

// iface is everything of an interface but its name and number.
func (d *drawing) iface(i fact.Interface) string {
	kind := map[fact.InterfaceType]string{fact.TypeNIC: "NIC", fact.TypeLoopback: "loopback",
		fact.TypeTap: "tap", fact.TypeAFPacket: "af_packet", fact.TypeMemif: "memif", fact.TypeVXLAN: "vxlan"}[i.Type]
	words := []string{kind, onOff(i.Up), fmt.Sprintf("table %d", i.Table4)}
	if i.Type != fact.TypeVXLAN { // VPP gives tunnels the MTU of what they leave by
		words = append(words, fmt.Sprintf("MTU %d", i.MTU))
	}
	var addrs []string
	for _, a := range i.Addrs {
		addrs = append(addrs, d.prefix(a))
	}
	slices.Sort(addrs)
	if len(addrs) > 0 {
		words = append(words, strings.Join(addrs, " "))
	}
	if i.HasUnnumbered {
		words = append(words, "unnumbered by "+d.roles.of(i.Unnumbered))
	}
	if i.Bridge != 0 {
		words = append(words, fmt.Sprintf("in bridge domain %d", i.Bridge))
	}
	if i.Type == fact.TypeVXLAN {
		words = append(words, fmt.Sprintf("from %s to %s VNI %d over table %d", d.addr(i.Src), d.addr(i.Dst), i.VNI, i.EncapTable))
	}
	return strings.Join(words, ", ")
}

func (d *drawing) path(r fact.Route) string {
	switch r.Action {
	case fact.ActionForward:
		return fmt.Sprintf("via %s %s", d.addr(r.Via), d.roles.of(r.Index))
	case fact.ActionLocal:
		return "is its own"
	case fact.ActionLookup:
		return fmt.Sprintf("is looked up in table %d", r.Lookup)
	case fact.ActionDrop:
		return "is dropped"
	}
	return fmt.Sprintf("does action %d", r.Action)
}
