package vppwire

import "net/netip"

// LinuxAddress is an address of a Linux link with its subnet's length.
type LinuxAddress struct {
	Netns, Link string
	Addr        netip.Prefix
	// Stolen: it is the host's own, of a NIC that VPP has, and comes behind its STN rule. A dump does not tell.
	Stolen bool
}

// AddrAdd puts an address on a link; AddrDel takes it away.
type (
	AddrAdd struct {
		Netns, Link string
		Addr        netip.Prefix
		// Announce has others on the link hear, whether it had the IPv4 address or not: they may know another MAC for it.
		Announce bool
	}
	AddrDel struct {
		Netns, Link string
		Addr        netip.Prefix
		// Heir is who has the IPv4 address on the link's network from now on, which others there hear; zero: nobody.
		Heir MAC
	}
)

func (AddrAdd) linuxOp() {}
func (AddrDel) linuxOp() {}

// Key implements Object.
func (o LinuxAddress) Key() Key {
	return Key{Kind: KindLinuxAddress, Netns: o.Netns, Name: o.Link, Prefix: o.Addr}
}

// AppendNeeds implements Object.
func (o LinuxAddress) AppendNeeds(keys []Key) []Key {
	keys = append(keys, linkKey(o.Netns, o.Link))
	if o.Stolen {
		keys = append(keys, stnKey(o.Addr.Addr()))
	}
	return keys
}

// AppendText implements Object: "linux-address netns … eth0 10.1.1.2/32", "linux-address vpp1 192.168.16.1/24 stolen".
func (o LinuxAddress) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendNetns(b, "linux-address", o.Netns, o.Link), ' '))
	if o.Stolen {
		b = append(b, " stolen"...)
	}
	return b
}

func (LinuxAddress) parse(p *words) Object {
	var o LinuxAddress
	o.Netns, o.Link = p.netnsName()
	o.Addr, o.Stolen = p.prefix(), p.has("stolen")
	return o
}

func (o LinuxAddress) owner() (Key, bool)   { return linkKey(o.Netns, o.Link), true }
func (o LinuxAddress) ours() bool           { return ownLink(o.Netns, o.Link) }
func (o LinuxAddress) replaces(Object) bool { return true }
func (o LinuxAddress) shown() dumpStep      { return dumpStep{dump: linuxDump, name: o.Netns} }

// like: the key says all that a dump tells.
func (o LinuxAddress) like(found Object) bool { _, ok := found.(LinuxAddress); return ok }

func (o LinuxAddress) create(_ *Session, r *request, _ Object) {
	r.apply("linux_addr_add", AddrAdd{Netns: o.Netns, Link: o.Link, Addr: o.Addr})
}

func (o LinuxAddress) delete(_ *Session, r *request) bool {
	r.apply("linux_addr_del", AddrDel{Netns: o.Netns, Link: o.Link, Addr: o.Addr})
	return true
}

// left: with its last address a link loses its routes and everybody it knows (Linux, fib_disable_ip). What goes anyway
// need not be looked for: Linux says of it that it is gone.
func (o LinuxAddress) left(s *Session) {
	k := linkKey(o.Netns, o.Link)
	m := s.find(s.ident(&k))
	if m == 0 {
		return
	}
	for a := s.at(m).firstAttr; a != 0; a = s.at(a).nextAttr {
		if e := s.at(a); e.want() != nil && e.have() != nil {
			s.doubtObject(o)
			return
		}
	}
}

func (LinuxAddress) readLink(s *Session, netns string, l *LinuxLink) {
	for _, a := range l.Addrs {
		if !a.Addr().IsLinkLocalUnicast() {
			s.observe(LinuxAddress{Netns: netns, Link: l.Name, Addr: a})
		}
	}
}
