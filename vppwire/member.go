package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/l2"
)

// Member puts an interface into a bridge domain.
type Member struct {
	Bridge uint32
	If     string
	// BVI makes it the bridge's own layer 3 interface; at most one.
	BVI bool
	// SHG is the split horizon group: frames are not sent back into the group they came from. 0 is none.
	SHG uint8
}

// Key implements Object: an interface is in at most one bridge.
func (o Member) Key() Key { return Key{Kind: KindBridgeMember, Name: o.If} }

// AppendNeeds implements Object.
func (o Member) AppendNeeds(keys []Key) []Key {
	return needInterface(append(keys, Key{Kind: KindBridge, Num: o.Bridge}), o.If)
}

// AppendText implements Object: "member loop0 bd 1 bvi shg 1", "member vxlan_tunnel2 bd 1 shg 1".
func (o Member) AppendText(b []byte) []byte {
	b = appendNumber(appendWord(b, "member", o.If), "bd", uint64(o.Bridge))
	if o.BVI {
		b = append(b, " bvi"...)
	}
	return appendNumber(b, "shg", uint64(o.SHG))
}

func (Member) parse(p *words) Object {
	o := Member{If: p.word(), Bridge: uint32(p.named("bd", 32)), BVI: p.has("bvi")}
	o.SHG = uint8(p.named("shg", 8))
	return o
}

func (o Member) owner() (Key, bool)   { return Key{}, false }
func (o Member) ours() bool           { return true }
func (o Member) replaces(Object) bool { return false }
func (o Member) shown() dumpStep      { return dumpStep{dump: bridgeDump} }

type memberMessages struct {
	member      l2.SwInterfaceSetL2Bridge
	memberReply l2.SwInterfaceSetL2BridgeReply
}

func (Member) messages() []api.Message {
	m := new(memberMessages)
	return []api.Message{&m.member, &m.memberReply}
}

func (o Member) fill(s *Session, r *request, enable bool) {
	m := buffers[memberMessages](s, KindBridgeMember)
	m.member.RxSwIfIndex, m.member.BdID, m.member.Shg, m.member.Enable = s.swIfIndex(o.If), o.Bridge, o.SHG, enable
	m.member.PortType = l2.L2_API_PORT_TYPE_NORMAL
	if o.BVI {
		m.member.PortType = l2.L2_API_PORT_TYPE_BVI
	}
	r.invoke(&m.member, &m.memberReply, &m.memberReply.Retval)
}

func (o Member) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Member) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// observeMembers notes the members that a bridge's dump shows.
func (s *Session) observeMembers(d *l2.BridgeDomainDetails) {
	for _, m := range d.SwIfDetails {
		s.observe(Member{Bridge: d.BdID, If: s.interfaceName(uint32(m.SwIfIndex)), BVI: m.SwIfIndex == d.BviSwIfIndex, SHG: m.Shg})
	}
}
