package normalized

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// linux draws the machine's own namespace and those of its pods: links, and where packets to the cluster's ranges and pods go.
func (d *drawing) linux(s fact.Snapshot) {
	if d.Linux == nil {
		return
	}
	for l := range d.Linux.Links("") {
		if l.Type == "device" && len(l.Addrs) == 0 {
			continue // what VPP's NIC is made of
		}
		d.line("Linux: %s: %s", d.roles.link(l), d.device(l))
	}
	for i := range s.Nodes {
		other := &s.Nodes[i]
		for _, b := range other.Blocks {
			d.way("", "Linux: to "+other.Name+"'s pods", b.Prefix.Addr())
		}
	}
	for _, p := range d.Pods {
		for l := range d.Linux.Links(p.Netns) {
			d.line("pod %s: %s: %s", p.Pod, l.Name, d.device(l))
		}
		if p.Gateway.IsValid() {
			d.way(p.Netns, "pod "+p.Pod+": to its gateway", p.Gateway)
		}
		d.way(p.Netns, "pod "+p.Pod+": to elsewhere", elsewhere)
	}
	known := map[string]bool{}
	for _, p := range d.Pods {
		known[p.Netns] = true
	}
	for netns := range d.Linux.Namespaces() {
		if !known[netns] {
			d.line("Linux: a namespace of no pod")
		}
	}
}

// elsewhere is an address of nobody: TEST-NET-3 of RFC 5737.
var elsewhere = netip.MustParseAddr("203.0.113.1")

// way draws the route to an address and the permanent neighbour it leads to.
func (d *drawing) way(netns, what string, to netip.Addr) {
	r, ok := d.Linux.Route(netns, to)
	if !ok {
		d.line("%s: no route", what)
		return
	}
	link := r.Link
	if l, ok := d.Linux.Link(netns, r.Link); ok && netns == "" {
		link = d.roles.link(l)
	}
	next := to
	if r.Via.IsValid() {
		next = r.Via
	}
	neighbour := "found by ARP"
	if mac, ok := d.Linux.Neighbor(netns, r.Link, next); ok {
		neighbour = "at " + d.hw(mac, next)
	}
	d.line("%s: by %s via %s on %s, %s", what, d.prefix(r.Dst), d.addr(r.Via), link, neighbour)
}

// device is everything of a link but its name.
func (d *drawing) device(l vppwire.LinuxLink) string {
	words := []string{l.Type, onOff(l.Up)}
	var addrs []string
	for _, a := range l.Addrs {
		addrs = append(addrs, d.prefix(a))
	}
	slices.Sort(addrs)
	return strings.Join(append(words, addrs...), ", ")
}
