package vppwire

// Macvlan is a link with a MAC of its own on another one, its parent, in the host's own namespace. Its mode is private:
// the kernel hands nothing from one child to another, so that all they send to each other goes out of the parent, to
// VPP.
type Macvlan struct {
	Netns, Name string
	// Parent is a link of the host's own namespace.
	Parent string
	MAC    MAC
}

// MacvlanAdd creates a macvlan of private mode, down, in Netns at once. Parent is in the host's own namespace. The name
// or, of the parent's other children, the MAC exists already: ErrLinuxExists. It goes with its parent.
type MacvlanAdd struct {
	Netns, Name string
	Parent      string
	MAC         MAC
}

func (MacvlanAdd) linuxOp() {}

func macvlanKey(netns, name string) Key { return Key{Kind: KindMacvlan, Netns: netns, Name: name} }

// Key implements Object.
func (o Macvlan) Key() Key { return macvlanKey(o.Netns, o.Name) }

// AppendNeeds implements Object: the trunk's pair.
func (o Macvlan) AppendNeeds(keys []Key) []Key {
	if k, ok := o.owner(); ok {
		keys = append(keys, k)
	}
	return keys
}

// AppendText implements Object: "macvlan netns /var/run/netns/cni-1 eth0 on vpppods mac 02:38:00:00:00:01".
func (o Macvlan) AppendText(b []byte) []byte {
	b = appendWord(appendNetns(b, "macvlan", o.Netns, o.Name), " on", o.Parent, "mac ")
	return o.MAC.AppendText(b)
}

func (Macvlan) parse(p *words) Object {
	var o Macvlan
	o.Netns, o.Name = p.netnsName()
	p.expect("on")
	o.Parent = p.word()
	p.expect("mac")
	o.MAC = p.mac()
	return o
}

// owner: children go with their parent, which is an end of the trunk's pair. Ours have no other parent.
func (o Macvlan) owner() (Key, bool) {
	if o.Parent != TrunkLinuxDevice {
		return Key{}, false
	}
	return Key{Kind: KindVeth, Name: TrunkVPPDevice}, true
}

func (o Macvlan) ours() bool           { return ownLink(o.Netns, o.Name) }
func (o Macvlan) replaces(Object) bool { return false }
func (o Macvlan) shown() dumpStep      { return dumpStep{dump: linuxDump, name: o.Netns} }
func (o Macvlan) takes() [2]Key        { return [2]Key{linkKey(o.Netns, o.Name)} }

func (o Macvlan) create(_ *Session, r *request, _ Object) {
	r.apply("linux_macvlan_add", MacvlanAdd(o))
}

func (o Macvlan) delete(_ *Session, r *request) bool {
	r.apply("linux_link_del", LinkDel{Netns: o.Netns, Name: o.Name})
	return true
}

func (Macvlan) readLink(s *Session, netns string, l *LinuxLink) {
	if l.Type == "macvlan" {
		s.observe(Macvlan{Netns: netns, Name: l.Name, Parent: l.Parent, MAC: l.MAC})
	}
}
