package vppwire

import "net/netip"

// LinuxRoute is a route of a namespace's main table; a zero Via is link scope.
type LinuxRoute struct {
	Netns, Link string
	Dst         netip.Prefix
	Via         netip.Addr
	// By is the link's address that the route stands on, zero where none has to come first. A dump does not tell.
	By netip.Prefix
	// NIC is the host's link that the route is of, which VPP has: it goes back there. Empty for a route of our own. A
	// dump does not tell.
	NIC string
	// Uplink is VPP's interface on the NIC, only with NIC: it has By before. Empty where VPP is not looked at. A dump does
	// not tell.
	Uplink string
	// Table is VPP's that leads on to the same destination, only with NIC: that route comes first. A dump does not tell.
	Table uint32
	// Metric is the route's priority, lower ones first.
	Metric uint32
}

// RouteSet adds or replaces the route to Dst; RouteDel removes it. Via must be reachable by a route that exists
// (else ErrLinuxMissing, as the kernel's ENETUNREACH).
type (
	RouteSet struct{ Route HostRoute }
	RouteDel struct{ Route HostRoute }
)

func (RouteSet) linuxOp() {}
func (RouteDel) linuxOp() {}

// Key implements Object: a namespace has one route to a destination.
func (o LinuxRoute) Key() Key { return Key{Kind: KindLinuxRoute, Netns: o.Netns, Prefix: o.Dst} }

// AppendNeeds implements Object: a gateway must be reachable first, by the link route to it where there is one. That
// route is listed before this one and created in that order.
func (o LinuxRoute) AppendNeeds(keys []Key) []Key {
	keys = append(keys, linkKey(o.Netns, o.Link))
	if o.By.IsValid() {
		keys = append(keys, LinuxAddress{Netns: o.Netns, Link: o.Link, Addr: o.By}.Key())
	}
	if o.NIC != "" {
		if o.Uplink != "" {
			keys = append(keys, Up{If: o.Uplink}.Key(), Address{If: o.Uplink, Addr: o.By}.Key())
		}
		keys = append(keys, Route{Table: o.Table, Prefix: o.Dst}.Key())
		if o.Dst.Bits() == 0 { // the gateway's MAC is VPP's from here on
			keys = append(keys, LinuxNeighborEntry{Netns: o.Netns, Link: o.Link, Addr: o.Via}.Key())
		}
	}
	return keys
}

// AppendText implements Object: "linux-route netns … eth0 0.0.0.0/0 via 10.1.1.1", "linux-route vpp1 0.0.0.0/0 via
// 192.168.16.100 metric 100 by 192.168.16.1/24 nic eth0 uplink uplink0".
func (o LinuxRoute) AppendText(b []byte) []byte {
	b = o.Dst.AppendTo(append(appendNetns(b, "linux-route", o.Netns, o.Link), ' '))
	if o.Via.IsValid() {
		b = o.Via.AppendTo(append(b, " via "...))
	}
	if o.Metric != 0 {
		b = appendNumber(b, "metric", uint64(o.Metric))
	}
	if o.By.IsValid() {
		b = o.By.AppendTo(append(b, " by "...))
	}
	if o.NIC != "" {
		b = appendWord(b, " nic", o.NIC)
	}
	if o.Uplink != "" {
		b = appendWord(b, " uplink", o.Uplink)
	}
	if o.Table != 0 {
		b = appendNumber(b, "table", uint64(o.Table))
	}
	return b
}

func (LinuxRoute) parse(p *words) Object {
	var o LinuxRoute
	o.Netns, o.Link = p.netnsName()
	o.Dst = p.masked()
	if p.has("via") {
		o.Via = p.addr()
	}
	if p.has("metric") {
		if o.Metric = uint32(p.number(32)); o.Metric == 0 {
			p.fail("a metric of 0 is none")
		}
	}
	if p.has("by") {
		o.By = p.prefix()
	}
	if p.has("nic") {
		o.NIC = p.word()
		if p.has("uplink") {
			o.Uplink = p.word()
		}
		o.Table = p.table()
	}
	return o
}

func (o LinuxRoute) owner() (Key, bool)   { return linkKey(o.Netns, o.Link), true }
func (o LinuxRoute) ours() bool           { return ownLink(o.Netns, o.Link) }
func (o LinuxRoute) replaces(Object) bool { return true }
func (o LinuxRoute) shown() dumpStep      { return dumpStep{dump: linuxDump, name: o.Netns} }

// like: a dump tells neither what the route stands on nor where it is from.
func (o LinuxRoute) like(found Object) bool {
	f, ok := found.(LinuxRoute)
	return ok && o.Link == f.Link && o.Via == f.Via && o.Metric == f.Metric
}

// exact: the address by which a route of the host's goes to VPP may be left from before.
func (o LinuxRoute) exact() bool { return o.NIC != "" }

func (o LinuxRoute) host() HostRoute {
	return HostRoute{Netns: o.Netns, Dst: o.Dst, Via: o.Via, Link: o.Link, Metric: o.Metric}
}

func (o LinuxRoute) create(_ *Session, r *request, _ Object) {
	r.apply("linux_route_set", RouteSet{Route: o.host()})
}

// delete gives a route of the host's back to its NIC, in one step where the kernel takes the two for one route.
func (o LinuxRoute) delete(_ *Session, r *request) bool {
	if back := o.host(); o.NIC != "" {
		back.Link = o.NIC
		r.apply("linux_route_set", RouteSet{Route: back})
		return true
	}
	r.apply("linux_route_del", RouteDel{Route: o.host()})
	return true
}

func (LinuxRoute) readNetns(s *Session, netns string, state *LinuxState) {
	for _, r := range state.Routes {
		if !connected(state.Links, r) && !eclipsed(state.Routes, netns, r) {
			s.observe(LinuxRoute{Netns: netns, Link: r.Link, Dst: r.Dst, Via: r.Via, Metric: r.Metric})
		}
	}
}

// eclipsed reports whether the host has the route over a link of its own beside one over a link of ours, which is the
// one that a Session has to do with.
func eclipsed(routes []HostRoute, netns string, r HostRoute) bool {
	if ownLink(netns, r.Link) {
		return false
	}
	for _, o := range routes {
		if o.Dst == r.Dst && ownLink(netns, o.Link) {
			return true
		}
	}
	return false
}

// connected reports whether the kernel made the route for an address of the link.
func connected(links []LinuxLink, r HostRoute) bool {
	if r.Via.IsValid() {
		return false
	}
	if r.Dst.Addr().Is6() && r.Dst.Addr().IsLinkLocalUnicast() {
		return true // of IPv4's the kernel makes none by itself, and AWS' gateway is one
	}
	for _, l := range links {
		if l.Name != r.Link {
			continue
		}
		for _, a := range l.Addrs {
			if a.Masked() == r.Dst {
				return true
			}
		}
	}
	return false
}
