package vppwire

import (
	"net/netip"
	"strconv"

	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip_types"
)

const allInterfacesIndex = interface_types.InterfaceIndex(allInterfaces)

func appendUint(b []byte, n uint32) []byte { return strconv.AppendUint(b, uint64(n), 10) }

// Up says that an interface is administratively up. Without it the interface is left as it is, which is down when new.
type Up struct{ If string }

// Tag is an interface's tag: who owns it, for people. At most 63 bytes, no white space.
type Tag struct{ If, Text string }

// InTable binds an interface to a VRF. VPP refuses to move one that has addresses.
type InTable struct {
	If    string
	Table uint32
	IP6   bool
}

// HardwareAddress sets a MAC on an interface that was not created with one by us.
type HardwareAddress struct {
	If  string
	MAC MAC
}

// MTU is an interface's layer 3 MTU in bytes, all protocols.
type MTU struct {
	If    string
	Bytes uint32
}

// Address is an interface's address with its subnet's length; the host bits count.
type Address struct {
	If   string
	Addr netip.Prefix
	// Table is the VRF that the interface is in: the binding must stand before the address.
	Table uint32
}

// Unnumbered lets If use the addresses of Donor. Both are in the same tables.
type Unnumbered struct {
	If, Donor string
	Table     uint32
}

// Key implements Object.
func (o Up) Key() Key { return Key{Kind: KindUp, Name: o.If} }

// Key implements Object.
func (o Tag) Key() Key { return Key{Kind: KindTag, Name: o.If} }

// Key implements Object.
func (o InTable) Key() Key { return inTableKey(o.If, o.IP6) }

// Key implements Object.
func (o HardwareAddress) Key() Key { return Key{Kind: KindMAC, Name: o.If} }

// Key implements Object.
func (o MTU) Key() Key { return Key{Kind: KindMTU, Name: o.If} }

// Key implements Object.
func (o Address) Key() Key { return Key{Kind: KindAddress, Name: o.If, Prefix: o.Addr} }

// Key implements Object.
func (o Unnumbered) Key() Key { return Key{Kind: KindUnnumbered, Name: o.If} }

func inTableKey(name string, ip6 bool) Key {
	k := Key{Kind: KindInTable, Name: name}
	if ip6 {
		k.Num = 6
	}
	return k
}

// AppendNeeds implements Object.
func (o Up) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendNeeds implements Object.
func (o Tag) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendNeeds implements Object.
func (o InTable) AppendNeeds(keys []Key) []Key {
	return needTable(needInterface(keys, o.If), o.Table, o.IP6)
}

// AppendNeeds implements Object.
func (o HardwareAddress) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendNeeds implements Object.
func (o MTU) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendNeeds implements Object.
func (o Address) AppendNeeds(keys []Key) []Key {
	keys = needInterface(keys, o.If)
	if o.Table != 0 {
		keys = append(keys, inTableKey(o.If, o.Addr.Addr().Is6()))
	}
	return keys
}

// AppendNeeds implements Object.
func (o Unnumbered) AppendNeeds(keys []Key) []Key {
	keys = needInterface(needInterface(keys, o.If), o.Donor)
	if o.Table != 0 {
		keys = append(keys, inTableKey(o.If, false), inTableKey(o.Donor, false))
	}
	return keys
}

// AppendText implements Object: "up loop0".
func (o Up) AppendText(b []byte) []byte { return appendWord(b, "up", o.If) }

// AppendText implements Object: "tag loop0 vxlanBVI".
func (o Tag) AppendText(b []byte) []byte { return appendWord(b, "tag", o.If, o.Text) }

// AppendText implements Object: "in-table loop0 1", "in-table loop0 1 ip6".
func (o InTable) AppendText(b []byte) []byte {
	b = appendInterfaceNumber(b, "in-table", o.If, uint64(o.Table))
	if o.IP6 {
		b = append(b, " ip6"...)
	}
	return b
}

// AppendText implements Object: "mac GigabitEthernet0/8/0 02:00:00:00:00:01".
func (o HardwareAddress) AppendText(b []byte) []byte {
	return o.MAC.AppendText(append(appendWord(b, "mac", o.If), ' '))
}

// AppendText implements Object: "mtu tap0 1450".
func (o MTU) AppendText(b []byte) []byte {
	return appendInterfaceNumber(b, "mtu", o.If, uint64(o.Bytes))
}

// AppendText implements Object: "address loop0 192.168.30.1/24 table 1".
func (o Address) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendWord(b, "address", o.If), ' '))
	return appendNumber(b, "table", uint64(o.Table))
}

// AppendText implements Object: "unnumbered tap3 loop1 table 1".
func (o Unnumbered) AppendText(b []byte) []byte {
	return appendNumber(appendWord(b, "unnumbered", o.If, o.Donor), "table", uint64(o.Table))
}

func (o Up) sweptBy() (Key, bool)              { return interfaceKey(o.If) }
func (o Tag) sweptBy() (Key, bool)             { return interfaceKey(o.If) }
func (o InTable) sweptBy() (Key, bool)         { return interfaceKey(o.If) }
func (o HardwareAddress) sweptBy() (Key, bool) { return interfaceKey(o.If) }
func (o MTU) sweptBy() (Key, bool)             { return interfaceKey(o.If) }
func (o Address) sweptBy() (Key, bool)         { return interfaceKey(o.If) }
func (o Unnumbered) sweptBy() (Key, bool)      { return interfaceKey(o.If) }

func (o Up) replaces(Object) bool              { return true }
func (o Tag) replaces(Object) bool             { return true }
func (o InTable) replaces(Object) bool         { return false } // addresses must go first
func (o HardwareAddress) replaces(Object) bool { return true }
func (o MTU) replaces(Object) bool             { return true }
func (o Unnumbered) replaces(Object) bool      { return false }

// replaces: the same key is the same interface and prefix, so only the table behind it differs, and the address has to be
// taken off for the move.
func (o Address) replaces(Object) bool { return false }

// like: which table an address is in follows from its interface, which has a dump of its own.
func (o Address) like(found Object) bool { _, ok := found.(Address); return ok }

func (o Unnumbered) like(found Object) bool {
	f, ok := found.(Unnumbered)
	return ok && f.Donor == o.Donor
}

func (o Up) fill(s *Session, r *request, flags interface_types.IfStatusFlags) {
	m := &s.msg
	m.setFlags.SwIfIndex, m.setFlags.Flags = s.swIfIndex(o.If), flags
	r.invoke("sw_interface_set_flags", &m.setFlags, &m.setFlagsReply, &m.setFlagsReply.Retval)
}

func (o Up) write(s *Session, r *request, _ Object) {
	o.fill(s, r, interface_types.IF_STATUS_API_FLAG_ADMIN_UP)
}
func (o Up) erase(s *Session, r *request) bool { o.fill(s, r, 0); return true }

func (o Tag) fill(s *Session, r *request, add bool) {
	m := &s.msg
	m.tag.IsAdd, m.tag.SwIfIndex, m.tag.Tag = add, s.swIfIndex(o.If), o.Text
	r.invoke("sw_interface_tag_add_del", &m.tag, &m.tagReply, &m.tagReply.Retval)
}

func (o Tag) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Tag) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }

func (o InTable) fill(s *Session, r *request, table uint32) {
	m := &s.msg
	m.setTable.SwIfIndex, m.setTable.IsIPv6, m.setTable.VrfID = s.swIfIndex(o.If), o.IP6, table
	r.invoke("sw_interface_set_table", &m.setTable, &m.setTableReply, &m.setTableReply.Retval)
}

func (o InTable) write(s *Session, r *request, _ Object) { o.fill(s, r, o.Table) }
func (o InTable) erase(s *Session, r *request) bool      { o.fill(s, r, 0); return true }

func (o HardwareAddress) write(s *Session, r *request, _ Object) {
	m := &s.msg
	m.mac.SwIfIndex, m.mac.MacAddress = s.swIfIndex(o.If), toMAC(o.MAC)
	r.invoke("sw_interface_set_mac_address", &m.mac, &m.macReply, &m.macReply.Retval)
}

// erase: an interface always has some MAC; the one it has may stay.
func (o HardwareAddress) erase(*Session, *request) bool { return false }

func (o MTU) write(s *Session, r *request, _ Object) {
	m := &s.msg
	if m.mtu.Mtu == nil {
		m.mtu.Mtu = make([]uint32, 4) // L3, IPv4, IPv6, MPLS; 0 for a protocol means "as L3"
	}
	m.mtu.SwIfIndex, m.mtu.Mtu[0] = s.swIfIndex(o.If), o.Bytes
	r.invoke("sw_interface_set_mtu", &m.mtu, &m.mtuReply, &m.mtuReply.Retval)
}

// erase: an interface always has some MTU; the one it has may stay.
func (o MTU) erase(*Session, *request) bool { return false }

func (o Address) fill(s *Session, r *request, add bool) {
	m := &s.msg
	m.address.SwIfIndex, m.address.IsAdd, m.address.DelAll = s.swIfIndex(o.If), add, false
	m.address.Prefix = ip_types.AddressWithPrefix(toPrefix(o.Addr))
	r.invoke("sw_interface_add_del_address", &m.address, &m.addressReply, &m.addressReply.Retval)
}

func (o Address) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Address) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }

func (o Unnumbered) fill(s *Session, r *request, add bool) {
	m := &s.msg
	// The message calls the donor sw_if_index and the borrower unnumbered_sw_if_index.
	m.unnumbered.SwIfIndex, m.unnumbered.UnnumberedSwIfIndex, m.unnumbered.IsAdd = s.swIfIndex(o.Donor), s.swIfIndex(o.If), add
	r.invoke("sw_interface_set_unnumbered", &m.unnumbered, &m.unnumberedReply, &m.unnumberedReply.Retval)
}

func (o Unnumbered) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Unnumbered) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }
