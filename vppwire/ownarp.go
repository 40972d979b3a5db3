package vppwire

// OwnARP says that a link of the host's answers ARP requests for its own addresses only (arp_ignore of 1). Linux has a
// link answer for all of the host's addresses: on a NIC that VPP has, it would do so for an address that VPP answers for.
type OwnARP struct{ Link string }

// ARPSet has a link answer ARP requests for its own addresses only, or for all of the host's.
type ARPSet struct {
	Link string
	Own  bool
}

func (ARPSet) linuxOp() {}

// Key implements Object.
func (o OwnARP) Key() Key { return Key{Kind: KindOwnARP, Name: o.Link} }

// AppendNeeds implements Object: the link is the host's, whoever made it.
func (o OwnARP) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "own-arp eth0".
func (o OwnARP) AppendText(b []byte) []byte { return appendWord(b, "own-arp", o.Link) }

func (OwnARP) parse(p *words) Object { return OwnARP{Link: p.word()} }

func (o OwnARP) owner() (Key, bool)   { return Key{}, false }
func (o OwnARP) ours() bool           { return false }
func (o OwnARP) replaces(Object) bool { return true }
func (o OwnARP) shown() dumpStep      { return dumpStep{dump: linuxDump} }

func (o OwnARP) create(_ *Session, r *request, _ Object) {
	r.apply("linux_arp_set", ARPSet{Link: o.Link, Own: true})
}

func (o OwnARP) delete(_ *Session, r *request) bool {
	r.apply("linux_arp_set", ARPSet{Link: o.Link})
	return true
}

func (OwnARP) readLink(s *Session, netns string, l *LinuxLink) {
	if netns == "" && l.OwnARP {
		s.observe(OwnARP{Link: l.Name})
	}
}
