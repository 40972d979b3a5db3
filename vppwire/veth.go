package vppwire

// Veth is a veth pair. Device is the end in the host's namespace that VPP sits on; Peer the other end, in PeerNetns
// (empty: the host's namespace too).
type Veth struct{ Device, Peer, PeerNetns string }

// VethAdd creates a veth pair, both ends down. Name lives in Netns, Peer in PeerNetns. A zero MAC lets the kernel
// choose. Exists already (either end): ErrLinuxExists. Deleting either end deletes both.
type VethAdd struct {
	Netns, Name     string
	PeerNetns, Peer string
	MAC, PeerMAC    MAC
}

// LinkDel deletes a link. A namespace that is gone is success: its links went with it.
type LinkDel struct{ Netns, Name string }

func (VethAdd) linuxOp() {}
func (LinkDel) linuxOp() {}

// ethernetMTU is that of a new pair, in bytes (Linux, ETH_DATA_LEN).
const ethernetMTU = 1500

// Key implements Object.
func (o Veth) Key() Key { return Key{Kind: KindVeth, Name: o.Device} }

// AppendNeeds implements Object.
func (o Veth) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "veth vd0a1b2c3d4e5f peer eth0 netns /var/run/netns/cni-1".
func (o Veth) AppendText(b []byte) []byte {
	b = appendWord(b, "veth", o.Device, "peer", o.Peer)
	if o.PeerNetns != "" {
		b = appendWord(b, " netns", o.PeerNetns)
	}
	return b
}

func (Veth) parse(p *words) Object {
	o := Veth{Device: p.word()}
	p.expect("peer")
	o.Peer = p.word()
	if p.has("netns") {
		o.PeerNetns = p.word()
	}
	return o
}

func (o Veth) owner() (Key, bool)   { return Key{}, false }
func (o Veth) ours() bool           { return ownDevice(o.Device) }
func (o Veth) replaces(Object) bool { return false }
func (o Veth) shown() dumpStep      { return dumpStep{dump: linuxDump} }
func (o Veth) farNetns() string     { return o.PeerNetns }

// outlivedBy: an AF_PACKET socket is bound to one device, and stays with it; VPP 25.10 shows the interface up as
// before.
func (o Veth) outlivedBy() Key { return AFPacket{Device: o.Device}.Key() }

func (o Veth) takes() [2]Key {
	return [2]Key{linkKey("", o.Device), linkKey(o.PeerNetns, o.Peer)}
}

// arrived: a new pair is down. Its host end comes up with the AF_PACKET interface on it, where
// that comes first.
func (o Veth) arrived(s *Session) {
	k := linkKey("", o.Device)
	if n := s.find(s.ident(&k)); n != 0 && s.at(n).have() == nil {
		s.down[s.ident(&k)] = LinkState{Name: o.Device, MTU: ethernetMTU}
	}
}

func (o Veth) create(_ *Session, r *request, _ Object) {
	r.apply("linux_veth_add", VethAdd{Name: o.Device, Peer: o.Peer, PeerNetns: o.PeerNetns})
}

func (o Veth) delete(_ *Session, r *request) bool {
	r.apply("linux_link_del", LinkDel{Name: o.Device})
	return true
}

// readLink takes the end that VPP sits on. Of the host interconnect and of the trunk, Linux uses the other one.
func (Veth) readLink(s *Session, netns string, l *LinuxLink) {
	if netns == "" && l.Type == "veth" && l.Name != HostLinuxDevice && l.Name != TrunkLinuxDevice {
		s.observe(Veth{Device: l.Name, Peer: l.Peer, PeerNetns: l.PeerNetns})
	}
}
