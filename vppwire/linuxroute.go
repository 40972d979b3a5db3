package vppwire

import "net/netip"

// LinuxRoute is a route of a namespace's main table; a zero Via is link scope.
type LinuxRoute struct {
	Netns, Link string
	Dst         netip.Prefix
	Via         netip.Addr
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
func (o LinuxRoute) AppendNeeds(keys []Key) []Key { return append(keys, linkKey(o.Netns, o.Link)) }

// AppendText implements Object: "linux-route netns … eth0 0.0.0.0/0 via 10.1.1.1".
func (o LinuxRoute) AppendText(b []byte) []byte {
	b = o.Dst.AppendTo(append(appendNetns(b, "linux-route", o.Netns, o.Link), ' '))
	if o.Via.IsValid() {
		b = o.Via.AppendTo(append(b, " via "...))
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
	return o
}

func (o LinuxRoute) owner() (Key, bool)   { return linkKey(o.Netns, o.Link), true }
func (o LinuxRoute) ours() bool           { return ownLink(o.Netns, o.Link) }
func (o LinuxRoute) replaces(Object) bool { return true }
func (o LinuxRoute) shown() dumpStep      { return dumpStep{dump: linuxDump, name: o.Netns} }

func (o LinuxRoute) host() HostRoute {
	return HostRoute{Netns: o.Netns, Dst: o.Dst, Via: o.Via, Link: o.Link}
}

func (o LinuxRoute) create(_ *Session, r *request, _ Object) {
	r.apply("linux_route_set", RouteSet{Route: o.host()})
}

func (o LinuxRoute) delete(_ *Session, r *request) bool {
	r.apply("linux_route_del", RouteDel{Route: o.host()})
	return true
}

func (LinuxRoute) readNetns(s *Session, netns string, state *LinuxState) {
	for _, r := range state.Routes {
		if !connected(state.Links, r) {
			s.observe(LinuxRoute{Netns: netns, Link: r.Link, Dst: r.Dst, Via: r.Via})
		}
	}
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
