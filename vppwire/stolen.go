package vppwire

import (
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
	// Routes are the destinations of the link's routes, which have gone to the interconnect before: prefixes with commas
	// between. A dump does not tell.
	Routes string
}

// Key implements Object.
func (o Stolen) Key() Key { return Key{Kind: KindStolen, Name: o.Link, Prefix: o.Addr} }

// AppendNeeds implements Object: the address at the other place, and the routes there.
func (o Stolen) AppendNeeds(keys []Key) []Key {
	keys = append(keys, OwnARP{Link: o.Link}.Key(), LinuxAddress{Link: HostLinuxDevice, Addr: o.Addr}.Key())
	for rest := o.Routes; rest != ""; {
		var dst string
		dst, rest, _ = strings.Cut(rest, ",")
		if p, err := netip.ParsePrefix(dst); err == nil {
			keys = append(keys, LinuxRoute{Dst: p}.Key())
		}
	}
	return keys
}

// AppendText implements Object: "stolen eth0 192.168.16.1/24 routes 0.0.0.0/0,10.0.0.0/8".
func (o Stolen) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendWord(b, "stolen", o.Link), ' '))
	if o.Routes != "" {
		b = appendWord(b, " routes", o.Routes)
	}
	return b
}

func (Stolen) parse(p *words) Object {
	o := Stolen{Link: p.word(), Addr: p.prefix()}
	if p.has("routes") {
		o.Routes = p.word()
		for dst := range strings.SplitSeq(o.Routes, ",") {
			if x, err := netip.ParsePrefix(dst); err != nil || x != x.Masked() || x.String() != dst {
				p.fail("%q is not a route's destination", dst)
			}
		}
	}
	return o
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
	op := AddrDel{Link: o.Link, Addr: o.Addr}
	k := stnKey(o.Addr.Addr())
	if n := s.find(s.ident(&k)); n != 0 {
		if rule, ok := s.at(n).want().(STN); ok {
			op.Heir = s.nicMACs[rule.NIC]
		}
	}
	r.apply("linux_addr_del", op)
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
