package vppwire

// LinkState is the state of one Linux link: up, with this MTU (bytes, 0: any) and MAC (zero: any).
type LinkState struct {
	Netns, Name string
	MTU         uint32
	MAC         MAC
	// Of names what makes the link: a veth's device, a tap's VPP name, or OfMacvlan. A dump leaves it empty.
	Of string
}

// OfMacvlan is the LinkState.Of of a link that is a macvlan.
const OfMacvlan = "macvlan"

// LinkSet changes a link: Up always, MTU where not 0 (bytes), MAC where not zero.
type LinkSet struct {
	Netns, Name string
	Up          bool
	MTU         uint32
	MAC         MAC
}

func (LinkSet) linuxOp() {}

func linkKey(netns, name string) Key { return Key{Kind: KindLinuxLink, Netns: netns, Name: name} }

// Key implements Object.
func (o LinkState) Key() Key { return linkKey(o.Netns, o.Name) }

// AppendNeeds implements Object: the veth or the tap behind the link, or the macvlan that it is, whose MTU Linux lets
// be no greater than its parent's.
func (o LinkState) AppendNeeds(keys []Key) []Key {
	if k, ok := o.owner(); ok {
		keys = append(keys, k)
	}
	if o.Of == OfMacvlan && o.MTU != 0 {
		keys = append(keys, linkKey("", TrunkLinuxDevice))
	}
	return keys
}

// AppendText implements Object: "link netns /var/run/netns/cni-1 eth0 mtu 1450 mac 02:fe:00:00:00:01 of
// vd0a1b2c3d4e5f".
func (o LinkState) AppendText(b []byte) []byte {
	b = appendNumber(appendNetns(b, "link", o.Netns, o.Name), "mtu", uint64(o.MTU))
	b = o.MAC.AppendText(append(b, " mac "...))
	if o.Of != "" {
		b = appendWord(b, " of", o.Of)
	}
	return b
}

func (LinkState) parse(p *words) Object {
	var o LinkState
	o.Netns, o.Name = p.netnsName()
	o.MTU = uint32(p.named("mtu", 32))
	p.expect("mac")
	o.MAC = p.mac()
	if p.has("of") {
		o.Of = p.word()
	}
	return o
}

func (o LinkState) owner() (Key, bool) {
	switch o.Of {
	case "":
		return Key{}, false
	case OfMacvlan:
		return macvlanKey(o.Netns, o.Name), true
	}
	if k, ok := interfaceKey(o.Of); ok {
		return k, true
	}
	return Key{Kind: KindVeth, Name: o.Of}, true
}

func (o LinkState) ours() bool           { return ownLink(o.Netns, o.Name) }
func (o LinkState) replaces(Object) bool { return true }
func (o LinkState) shown() dumpStep      { return dumpStep{dump: linuxDump, name: o.Netns} }

// like reports whether what a dump found is what o wants: a dump does not know Of, and a wanted zero accepts anything.
func (o LinkState) like(found Object) bool {
	f, ok := found.(LinkState)
	return ok && (o.MTU == 0 || o.MTU == f.MTU) && (o.MAC == MAC{} || o.MAC == f.MAC)
}

// create leaves a MAC that is right alone: setting one, the same included, makes the kernel flush permanent neighbors.
func (o LinkState) create(_ *Session, r *request, over Object) {
	op := LinkSet{Netns: o.Netns, Name: o.Name, Up: true, MTU: o.MTU, MAC: o.MAC}
	if is, ok := over.(LinkState); ok && is.MAC == o.MAC {
		op.MAC = MAC{}
	}
	r.apply("linux_link_set", op)
}

// delete: a link's state goes with the link.
func (o LinkState) delete(*Session, *request) bool { return false }

func (LinkState) readLink(s *Session, netns string, l *LinuxLink) {
	o := LinkState{Netns: netns, Name: l.Name, MTU: l.MTU, MAC: l.MAC}
	k := o.Key()
	switch {
	case l.Up:
		s.observe(o)
	case netns == "" && o.ours():
		id := s.ident(&k)
		if n := s.find(id); n != 0 {
			s.forget(n) // that it is up, as perhaps was believed; what is set on it, the dump shows after it
		}
		s.down[id] = o
	}
}
