package vppwire

import "net/netip"

// Veth is a veth pair. Device is the end in the host's namespace that VPP sits on; Peer the other end, in PeerNetns
// (empty: the host's namespace too).
type Veth struct{ Device, Peer, PeerNetns string }

// LinkState is the state of one Linux link: up, with this MTU (bytes, 0: any) and MAC (zero: any).
type LinkState struct {
	Netns, Name string
	MTU         uint32
	MAC         MAC
	// Of names what makes the link: a veth's device or a tap's VPP name. A dump leaves it empty.
	Of string
}

// Offload says that TX checksum and segmentation offload of a link are off, as AF_PACKET needs.
type Offload struct{ Netns, Name string }

// LinuxAddress is an address of a Linux link with its subnet's length.
type LinuxAddress struct {
	Netns, Link string
	Addr        netip.Prefix
}

// LinuxRoute is a route of a namespace's main table; a zero Via is link scope.
type LinuxRoute struct {
	Netns, Link string
	Dst         netip.Prefix
	Via         netip.Addr
}

// LinuxNeighborEntry is a permanent neighbor entry of a namespace.
type LinuxNeighborEntry struct {
	Netns, Link string
	Addr        netip.Addr
	MAC         MAC
}

func linkKey(netns, name string) Key { return Key{Kind: KindLinuxLink, Netns: netns, Name: name} }

// Key implements Object.
func (o Veth) Key() Key { return Key{Kind: KindVeth, Name: o.Device} }

// Key implements Object.
func (o LinkState) Key() Key { return linkKey(o.Netns, o.Name) }

// Key implements Object.
func (o Offload) Key() Key { return Key{Kind: KindOffload, Netns: o.Netns, Name: o.Name} }

// Key implements Object.
func (o LinuxAddress) Key() Key {
	return Key{Kind: KindLinuxAddress, Netns: o.Netns, Name: o.Link, Prefix: o.Addr}
}

// Key implements Object: a namespace has one route to a destination.
func (o LinuxRoute) Key() Key { return Key{Kind: KindLinuxRoute, Netns: o.Netns, Prefix: o.Dst} }

// Key implements Object.
func (o LinuxNeighborEntry) Key() Key {
	return Key{Kind: KindLinuxNeighbor, Netns: o.Netns, Name: o.Link, Prefix: full(o.Addr)}
}

// AppendNeeds implements Object.
func (o Veth) AppendNeeds(keys []Key) []Key { return keys }

// AppendNeeds implements Object: the veth or the tap behind the link.
func (o LinkState) AppendNeeds(keys []Key) []Key {
	if o.Of == "" {
		return keys
	}
	if k, ok := interfaceKey(o.Of); ok {
		return append(keys, k)
	}
	return append(keys, Key{Kind: KindVeth, Name: o.Of})
}

// AppendNeeds implements Object.
func (o Offload) AppendNeeds(keys []Key) []Key { return append(keys, linkKey(o.Netns, o.Name)) }

// AppendNeeds implements Object.
func (o LinuxAddress) AppendNeeds(keys []Key) []Key { return append(keys, linkKey(o.Netns, o.Link)) }

// AppendNeeds implements Object: a gateway must be reachable first, by the link route to it where there is one. That route
// is listed before this one and created in that order.
func (o LinuxRoute) AppendNeeds(keys []Key) []Key { return append(keys, linkKey(o.Netns, o.Link)) }

// AppendNeeds implements Object.
func (o LinuxNeighborEntry) AppendNeeds(keys []Key) []Key {
	return append(keys, linkKey(o.Netns, o.Link))
}

func appendNetns(b []byte, kind, netns, name string) []byte {
	b = append(b, kind...)
	if netns != "" {
		b = appendWord(b, " netns", netns)
	}
	return appendWord(append(b, ' '), name)
}

// AppendText implements Object: "veth vd0a1b2c3d4e5f peer eth0 netns /var/run/netns/cni-1".
func (o Veth) AppendText(b []byte) []byte {
	b = appendWord(b, "veth", o.Device, "peer", o.Peer)
	if o.PeerNetns != "" {
		b = appendWord(b, " netns", o.PeerNetns)
	}
	return b
}

// AppendText implements Object: "link netns /var/run/netns/cni-1 eth0 mtu 1450 mac 02:fe:00:00:00:01 of vd0a1b2c3d4e5f".
func (o LinkState) AppendText(b []byte) []byte {
	b = appendNumber(appendNetns(b, "link", o.Netns, o.Name), "mtu", uint64(o.MTU))
	b = o.MAC.AppendText(append(b, " mac "...))
	if o.Of != "" {
		b = appendWord(b, " of", o.Of)
	}
	return b
}

// AppendText implements Object: "offload netns /var/run/netns/cni-1 eth0".
func (o Offload) AppendText(b []byte) []byte { return appendNetns(b, "offload", o.Netns, o.Name) }

// AppendText implements Object: "linux-address netns … eth0 10.1.1.2/32".
func (o LinuxAddress) AppendText(b []byte) []byte {
	return o.Addr.AppendTo(append(appendNetns(b, "linux-address", o.Netns, o.Link), ' '))
}

// AppendText implements Object: "linux-route netns … eth0 0.0.0.0/0 via 10.1.1.1".
func (o LinuxRoute) AppendText(b []byte) []byte {
	b = o.Dst.AppendTo(append(appendNetns(b, "linux-route", o.Netns, o.Link), ' '))
	if o.Via.IsValid() {
		b = o.Via.AppendTo(append(b, " via "...))
	}
	return b
}

// AppendText implements Object: "linux-neighbor netns … eth0 10.1.1.1 02:fe:00:00:00:01".
func (o LinuxNeighborEntry) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendNetns(b, "linux-neighbor", o.Netns, o.Link), ' '))
	return o.MAC.AppendText(append(b, ' '))
}

func (o Veth) sweptBy() (Key, bool) { return Key{}, false }

func (o LinkState) sweptBy() (Key, bool) {
	if o.Of == "" {
		return Key{}, false
	}
	if k, ok := interfaceKey(o.Of); ok {
		return k, true
	}
	return Key{Kind: KindVeth, Name: o.Of}, true
}

func (o Offload) sweptBy() (Key, bool)            { return linkKey(o.Netns, o.Name), true }
func (o LinuxAddress) sweptBy() (Key, bool)       { return linkKey(o.Netns, o.Link), true }
func (o LinuxRoute) sweptBy() (Key, bool)         { return linkKey(o.Netns, o.Link), true }
func (o LinuxNeighborEntry) sweptBy() (Key, bool) { return linkKey(o.Netns, o.Link), true }

func (o Veth) replaces(Object) bool               { return false }
func (o LinkState) replaces(Object) bool          { return true }
func (o Offload) replaces(Object) bool            { return true }
func (o LinuxAddress) replaces(Object) bool       { return true }
func (o LinuxRoute) replaces(Object) bool         { return true }
func (o LinuxNeighborEntry) replaces(Object) bool { return true }

// like reports whether what a dump found is what o wants: a dump does not know Of, and a wanted zero accepts anything.
func (o LinkState) like(found Object) bool {
	f, ok := found.(LinkState)
	return ok && (o.MTU == 0 || o.MTU == f.MTU) && (o.MAC == MAC{} || o.MAC == f.MAC)
}

func (o Veth) write(_ *Session, r *request, _ Object) {
	r.apply("linux_veth_add", VethAdd{Name: o.Device, Peer: o.Peer, PeerNetns: o.PeerNetns})
}

func (o Veth) erase(_ *Session, r *request) bool {
	r.apply("linux_link_del", LinkDel{Name: o.Device})
	return true
}

// write leaves a MAC that is right alone: setting one, the same included, makes the kernel flush permanent neighbors.
func (o LinkState) write(_ *Session, r *request, over Object) {
	op := LinkSet{Netns: o.Netns, Name: o.Name, Up: true, MTU: o.MTU, MAC: o.MAC}
	if is, ok := over.(LinkState); ok && is.MAC == o.MAC {
		op.MAC = MAC{}
	}
	r.apply("linux_link_set", op)
}

// erase: a link's state goes with the link.
func (o LinkState) erase(*Session, *request) bool { return false }

func (o Offload) write(_ *Session, r *request, _ Object) {
	r.apply("linux_offload_set", OffloadSet{Netns: o.Netns, Name: o.Name, Off: true})
}

// erase: whoever wants offload back says so; it goes with the link.
func (o Offload) erase(*Session, *request) bool { return false }

func (o LinuxAddress) write(_ *Session, r *request, _ Object) {
	r.apply("linux_addr_add", AddrAdd{Netns: o.Netns, Link: o.Link, Addr: o.Addr})
}

func (o LinuxAddress) erase(_ *Session, r *request) bool {
	r.apply("linux_addr_del", AddrDel{Netns: o.Netns, Link: o.Link, Addr: o.Addr})
	return true
}

func (o LinuxRoute) host() HostRoute {
	return HostRoute{Netns: o.Netns, Dst: o.Dst, Via: o.Via, Link: o.Link}
}

func (o LinuxRoute) write(_ *Session, r *request, _ Object) {
	r.apply("linux_route_set", RouteSet{Route: o.host()})
}

func (o LinuxRoute) erase(_ *Session, r *request) bool {
	r.apply("linux_route_del", RouteDel{Route: o.host()})
	return true
}

func (o LinuxNeighborEntry) write(_ *Session, r *request, _ Object) {
	r.apply("linux_neigh_set", NeighSet{Netns: o.Netns, Link: o.Link, Addr: o.Addr, MAC: o.MAC})
}

func (o LinuxNeighborEntry) erase(_ *Session, r *request) bool {
	r.apply("linux_neigh_del", NeighDel{Netns: o.Netns, Link: o.Link, Addr: o.Addr})
	return true
}
