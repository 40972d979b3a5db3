package vppwire

import "net/netip"

// LinuxNeighborEntry is a permanent neighbor entry of a namespace.
type LinuxNeighborEntry struct {
	Netns, Link string
	Addr        netip.Addr
	MAC         MAC
}

// NeighSet adds or replaces a permanent neighbor entry; NeighDel removes it.
type (
	NeighSet struct {
		Netns, Link string
		Addr        netip.Addr
		MAC         MAC
	}
	NeighDel struct {
		Netns, Link string
		Addr        netip.Addr
	}
)

func (NeighSet) linuxOp() {}
func (NeighDel) linuxOp() {}

// Key implements Object.
func (o LinuxNeighborEntry) Key() Key {
	return Key{Kind: KindLinuxNeighbor, Netns: o.Netns, Name: o.Link, Prefix: full(o.Addr)}
}

// AppendNeeds implements Object.
func (o LinuxNeighborEntry) AppendNeeds(keys []Key) []Key {
	return append(keys, linkKey(o.Netns, o.Link))
}

// AppendText implements Object: "linux-neighbor netns … eth0 10.1.1.1 02:fe:00:00:00:01".
func (o LinuxNeighborEntry) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendNetns(b, "linux-neighbor", o.Netns, o.Link), ' '))
	return o.MAC.AppendText(append(b, ' '))
}

func (LinuxNeighborEntry) parse(p *words) Object {
	var o LinuxNeighborEntry
	o.Netns, o.Link = p.netnsName()
	o.Addr, o.MAC = p.addr(), p.mac()
	return o
}

func (o LinuxNeighborEntry) owner() (Key, bool)   { return linkKey(o.Netns, o.Link), true }
func (o LinuxNeighborEntry) ours() bool           { return ownLink(o.Netns, o.Link) }
func (o LinuxNeighborEntry) replaces(Object) bool { return true }
func (o LinuxNeighborEntry) shown() dumpStep      { return dumpStep{dump: linuxDump, name: o.Netns} }

func (o LinuxNeighborEntry) create(_ *Session, r *request, _ Object) {
	r.apply("linux_neigh_set", NeighSet(o))
}

func (o LinuxNeighborEntry) delete(_ *Session, r *request) bool {
	r.apply("linux_neigh_del", NeighDel{Netns: o.Netns, Link: o.Link, Addr: o.Addr})
	return true
}

func (LinuxNeighborEntry) readNetns(s *Session, netns string, state *LinuxState) {
	for _, n := range state.Neighbors {
		s.observe(LinuxNeighborEntry{Netns: netns, Link: n.Link, Addr: n.Addr, MAC: n.MAC})
	}
}
