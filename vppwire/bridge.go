package vppwire

import (
	"go.fd.io/govpp/binapi/l2"
)

// Bridge is a bridge domain that only forwards: no learning, no flooding, no ARP termination.
type Bridge struct {
	// ID is 1 to 16777215; VPP keeps 0 for itself.
	ID uint32
	// odd marks one that a dump found with other flags.
	odd bool
}

// Member puts an interface into a bridge domain.
type Member struct {
	Bridge uint32
	If     string
	// BVI makes it the bridge's own layer 3 interface; at most one.
	BVI bool
	// SHG is the split horizon group: frames are not sent back into the group they came from. 0 is none.
	SHG uint8
}

// FIB is a static layer 2 entry: frames to MAC leave by If.
type FIB struct {
	Bridge uint32
	MAC    MAC
	If     string
}

// Key implements Object.
func (o Bridge) Key() Key { return Key{Kind: KindBridge, Num: o.ID} }

// Key implements Object: an interface is in at most one bridge.
func (o Member) Key() Key { return Key{Kind: KindBridgeMember, Name: o.If} }

// Key implements Object.
func (o FIB) Key() Key { return Key{Kind: KindFIB, Num: o.Bridge, MAC: o.MAC} }

// AppendNeeds implements Object.
func (o Bridge) AppendNeeds(keys []Key) []Key { return keys }

// AppendNeeds implements Object.
func (o Member) AppendNeeds(keys []Key) []Key {
	return needInterface(append(keys, Key{Kind: KindBridge, Num: o.Bridge}), o.If)
}

// AppendNeeds implements Object: VPP refuses an entry to an interface outside the bridge.
func (o FIB) AppendNeeds(keys []Key) []Key {
	return append(keys, Key{Kind: KindBridge, Num: o.Bridge}, Key{Kind: KindBridgeMember, Name: o.If})
}

// AppendText implements Object: "bridge 1".
func (o Bridge) AppendText(b []byte) []byte { return appendUint(append(b, "bridge "...), o.ID) }

// AppendText implements Object: "member loop0 bd 1 bvi shg 1", "member vxlan_tunnel2 bd 1 shg 1".
func (o Member) AppendText(b []byte) []byte {
	b = appendNumber(appendWord(b, "member", o.If), "bd", uint64(o.Bridge))
	if o.BVI {
		b = append(b, " bvi"...)
	}
	return appendNumber(b, "shg", uint64(o.SHG))
}

// AppendText implements Object: "fib bd 1 12:2b:00:00:00:02 vxlan_tunnel2".
func (o FIB) AppendText(b []byte) []byte {
	b = appendNumber(append(b, "fib"...), "bd", uint64(o.Bridge))
	b = o.MAC.AppendText(append(b, ' '))
	return appendWord(append(b, ' '), o.If)
}

func (o Bridge) sweptBy() (Key, bool) { return Key{}, false }
func (o Member) sweptBy() (Key, bool) { return Key{}, false }
func (o FIB) sweptBy() (Key, bool)    { return Key{}, false }

func (o Bridge) replaces(Object) bool { return false } // adding does not change an existing one's flags
func (o Member) replaces(Object) bool { return false }
func (o FIB) replaces(Object) bool    { return true }

func (o Bridge) fill(s *Session, r *request, add bool) {
	m := &s.msg
	m.bridge = l2.BridgeDomainAddDelV2{BdID: o.ID, Forward: true, IsAdd: add}
	r.invoke("bridge_domain_add_del_v2", &m.bridge, &m.bridgeReply, &m.bridgeReply.Retval)
}

func (o Bridge) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Bridge) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }

func (o Member) fill(s *Session, r *request, enable bool) {
	m := &s.msg
	m.member.RxSwIfIndex, m.member.BdID, m.member.Shg, m.member.Enable = s.swIfIndex(o.If), o.Bridge, o.SHG, enable
	m.member.PortType = l2.L2_API_PORT_TYPE_NORMAL
	if o.BVI {
		m.member.PortType = l2.L2_API_PORT_TYPE_BVI
	}
	r.invoke("sw_interface_set_l2_bridge", &m.member, &m.memberReply, &m.memberReply.Retval)
}

func (o Member) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Member) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }

func (o FIB) fill(s *Session, r *request, add bool) {
	m := &s.msg
	m.fib.Mac, m.fib.BdID, m.fib.IsAdd, m.fib.StaticMac = toMAC(o.MAC), o.Bridge, add, add
	m.fib.SwIfIndex = 0 // on deletion: whichever interface the entry names, a dead one included
	if add {
		m.fib.SwIfIndex = s.swIfIndex(o.If)
	}
	r.invoke("l2fib_add_del", &m.fib, &m.fibReply, &m.fibReply.Retval)
}

func (o FIB) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o FIB) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }
