package vppwire

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
)

// Stolen says that a link of the host's lacks an address that is the host's: VPP has the NIC behind the link, and the
// host the address at its end of the interconnect. Its creation takes the address off the link, last of all; its
// deletion, before anything else, puts it back.
type Stolen struct {
	Link string
	Addr netip.Prefix
	// Uplink is VPP's interface on the NIC, which has the address before; empty where VPP is not looked at. A dump does not
	// tell.
	Uplink string
	// Routes are the destinations of the link's routes, which have gone to the interconnect before. A dump does not tell.
	// See Destinations.
	Routes string
}

// Key implements Object.
func (o Stolen) Key() Key { return Key{Kind: KindStolen, Name: o.Link, Prefix: o.Addr} }

// AppendNeeds implements Object: the address at the other places, and the routes there.
func (o Stolen) AppendNeeds(keys []Key) []Key {
	keys = append(keys, OwnARP{Link: o.Link}.Key(), LinuxAddress{Link: HostLinuxDevice, Addr: o.Addr}.Key())
	if o.Uplink != "" {
		keys = append(keys, Up{If: o.Uplink}.Key(), Address{If: o.Uplink, Addr: o.Addr}.Key())
	}
	for dst := range destinations(o.Routes) {
		keys = append(keys, LinuxRoute{Dst: dst}.Key())
	}
	return keys
}

// AppendText implements Object: "stolen eth0 192.168.16.1/24 uplink uplink0 routes 0.0.0.0/0,10.0.0.0/8".
func (o Stolen) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendWord(b, "stolen", o.Link), ' '))
	if o.Uplink != "" {
		b = appendWord(b, " uplink", o.Uplink)
	}
	return appendDestinations(b, o.Routes)
}

func (Stolen) parse(p *words) Object {
	o := Stolen{Link: p.word(), Addr: p.prefix()}
	if p.has("uplink") {
		o.Uplink = p.word()
	}
	o.Routes = p.destinations()
	return o
}

// Destinations are those of a host's routes in the one word that objects keep: prefixes with commas between.
func Destinations(routes []HostRoute) string {
	var list []string
	for _, r := range routes {
		list = append(list, r.Dst.String())
	}
	return strings.Join(list, ",")
}

// destinations are those of a word.
func destinations(routes string) iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for rest := routes; rest != ""; {
			var dst string
			dst, rest, _ = strings.Cut(rest, ",")
			if p, err := netip.ParsePrefix(dst); err == nil && !yield(p) {
				return
			}
		}
	}
}

func appendDestinations(b []byte, routes string) []byte {
	if routes != "" {
		b = appendWord(b, " routes", routes)
	}
	return b
}

// destinations reads what appendDestinations wrote.
func (p *words) destinations() (routes string) {
	if !p.has("routes") {
		return ""
	}
	routes = p.word()
	for dst := range strings.SplitSeq(routes, ",") {
		if x, err := netip.ParsePrefix(dst); err != nil || x != x.Masked() || x.String() != dst {
			p.fail("%q is not a route's destination", dst)
		}
	}
	return routes
}

// exact: the host's address and routes at the interconnect outlive a VPP, and its routes are there all along, first on the NIC.
func (Stolen) exact() bool { return true }

func (o Stolen) owner() (Key, bool)   { return Key{}, false }
func (o Stolen) ours() bool           { return false }
func (o Stolen) replaces(Object) bool { return true }
func (o Stolen) shown() dumpStep      { return dumpStep{dump: linuxDump} }

// like: the key says all that a dump tells.
func (o Stolen) like(found Object) bool { _, ok := found.(Stolen); return ok }

// create: others may know the link's MAC for the address, and what VPP takes itself, as packets of tunnels, reaches it by its own only.
func (o Stolen) create(s *Session, r *request, _ Object) {
	r.apply("linux_addr_del", AddrDel{Link: o.Link, Addr: o.Addr, Heir: s.nicMACs[o.Uplink]})
}

func (o Stolen) delete(_ *Session, r *request) bool {
	r.apply("linux_addr_add", AddrAdd{Link: o.Link, Addr: o.Addr, Announce: true}) // others know VPP's MAC for it
	return true
}

// readNetns looks at what is wanted or was done: a dump shows no lack by itself.
func (Stolen) readNetns(s *Session, netns string, state *LinuxState) {
	if netns != "" || !s.steals {
		return
	}
	for n := uint32(1); n <= s.used; n++ {
		e := s.at(n)
		if e.kind != KindStolen || e.flags&flagLive == 0 {
			continue
		}
		for _, o := range [...]Object{e.want(), e.have()} {
			x, ok := o.(Stolen)
			if i := slices.IndexFunc(state.Links, func(l LinuxLink) bool { return l.Name == x.Link }); ok && i >= 0 && !slices.Contains(state.Links[i].Addrs, x.Addr) {
				s.observe(x)
				break
			}
		}
	}
}
