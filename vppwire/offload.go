package vppwire

// Offload says that TX checksum and segmentation offload of a link are off, as AF_PACKET needs.
type Offload struct{ Netns, Name string }

// OffloadSet switches TX checksum and segmentation offload of a link.
type OffloadSet struct {
	Netns, Name string
	Off         bool
}

func (OffloadSet) linuxOp() {}

// Key implements Object.
func (o Offload) Key() Key { return Key{Kind: KindOffload, Netns: o.Netns, Name: o.Name} }

// AppendNeeds implements Object.
func (o Offload) AppendNeeds(keys []Key) []Key { return append(keys, linkKey(o.Netns, o.Name)) }

// AppendText implements Object: "offload netns /var/run/netns/cni-1 eth0".
func (o Offload) AppendText(b []byte) []byte { return appendNetns(b, "offload", o.Netns, o.Name) }

func (Offload) parse(p *words) Object {
	var o Offload
	o.Netns, o.Name = p.netnsName()
	return o
}

func (o Offload) owner() (Key, bool)   { return linkKey(o.Netns, o.Name), true }
func (o Offload) ours() bool           { return ownLink(o.Netns, o.Name) }
func (o Offload) replaces(Object) bool { return true }
func (o Offload) shown() dumpStep      { return dumpStep{dump: linuxDump, name: o.Netns} }

func (o Offload) create(_ *Session, r *request, _ Object) {
	r.apply("linux_offload_set", OffloadSet{Netns: o.Netns, Name: o.Name, Off: true})
}

// delete: whoever wants offload back says so; it goes with the link.
func (o Offload) delete(*Session, *request) bool { return false }

func (Offload) readLink(s *Session, netns string, l *LinuxLink) {
	if l.OffloadOff {
		s.observe(Offload{Netns: netns, Name: l.Name})
	}
}
