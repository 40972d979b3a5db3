package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"
)

// Guard puts the table of sources of a family before an interface that pods share: packets of the family that come in
// by it pass only with a source that is one of the table's. A Bridged one, of IPv4, is of an interface in a bridge
// domain, where it is asked before anything else; frames that hold no IPv4 packet of a source do not pass it either.
//
// What is sent to groups is not asked in IPv6 (src/vnet/ip/ip6_forward.c, the arc of ip6-multicast). VPP forwards none
// of it, and what a solicitation says of its sender changes no static neighbor, which every pod is.
//
// An IPv4 input ACL of 25.10 runs behind NAT, where answers of services have the service's address for their source: an
// interface with both is bridged to one that has NAT. Whatever leaves a bridge domain loses a Bridged one, though VPP
// goes on to show its number (src/vnet/l2/l2_input.c): it goes before the interface does so.
//
// VPP 25.10 keeps the table's number when the interface goes, and the next interface of that index then counts as
// guarded without being so (src/vnet/classify/in_out_acl.c): it always goes first, and has no owner that would take it
// along.
type Guard struct {
	If      string
	Bridged bool
	IP6     bool
}

func guardKey(name string, ip6 bool) Key { return Key{Kind: KindGuard, Num: family(ip6), Name: name} }

// Key implements Object.
func (o Guard) Key() Key { return guardKey(o.If, o.IP6) }

// AppendNeeds implements Object.
func (o Guard) AppendNeeds(keys []Key) []Key {
	keys = append(needInterface(keys, o.If), sourceTableKey(o.IP6))
	if o.Bridged {
		keys = append(keys, Key{Kind: KindBridgeMember, Name: o.If})
	}
	return keys
}

// AppendText implements Object: "guard host-vpptrunk", with " bridged" or " ip6" behind.
func (o Guard) AppendText(b []byte) []byte {
	b = appendWord(b, "guard", o.If)
	if o.Bridged {
		b = append(b, " bridged"...)
	}
	if o.IP6 {
		b = append(b, " ip6"...)
	}
	return b
}

func (Guard) parse(p *words) Object {
	return Guard{If: p.word(), Bridged: p.has("bridged"), IP6: p.has("ip6")}
}

func (o Guard) owner() (Key, bool)   { return Key{}, false }
func (o Guard) ours() bool           { return ownInterface(o.If) }
func (o Guard) replaces(Object) bool { return false }
func (o Guard) shown() dumpStep      { return dumpStep{dump: guardDump, name: o.If, ip6: o.IP6} }

// lapses: with the interface, and with the table.
func (o Guard) lapses(s *Session, st dumpStep) bool {
	if st.dump == interfaceDump {
		return !s.known(o.If)
	}
	return s.sources.none(o.IP6)
}

type guardMessages struct {
	set      classify.InputACLSetInterface
	setReply classify.InputACLSetInterfaceReply
	get      classify.ClassifyTableByInterface
	getReply classify.ClassifyTableByInterfaceReply
}

func (Guard) messages() []api.Message {
	m := new(guardMessages)
	return []api.Message{&m.set, &m.setReply, &m.get, &m.getReply}
}

func (o Guard) fill(s *Session, r *request, add bool) {
	m := buffers[guardMessages](s, KindGuard)
	m.set = classify.InputACLSetInterface{SwIfIndex: s.swIfIndex(o.If), IP4TableIndex: noTable, IP6TableIndex: noTable, L2TableIndex: noTable, IsAdd: add}
	switch table := s.sources.of(o.IP6); {
	case o.Bridged:
		m.set.L2TableIndex = table
	case o.IP6:
		m.set.IP6TableIndex = table
	default:
		m.set.IP4TableIndex = table
	}
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

func (o Guard) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Guard) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// guardDump tells which table of a family is before one interface.
var guardDump = &dump{reader: guardReader{}}

type guardReader struct{ ofInterface }

func (r guardReader) void(s *Session, st dumpStep) bool {
	return r.ofInterface.void(s, st) || s.sources.none(st.ip6)
}

func (guardReader) ask(s *Session, st dumpStep, r *request) {
	m := buffers[guardMessages](s, KindGuard)
	m.get, m.getReply = classify.ClassifyTableByInterface{SwIfIndex: s.swIfIndex(st.name)}, classify.ClassifyTableByInterfaceReply{}
	r.invoke(&m.get, &m.getReply, &m.getReply.Retval)
}

func (guardReader) take(s *Session, st dumpStep, _ Result) {
	table := s.sources.of(st.ip6)
	switch r := &buffers[guardMessages](s, KindGuard).getReply; {
	case table == noTable:
	case st.ip6 && r.IP6TableID == table:
		s.observe(Guard{If: st.name, IP6: true})
	case st.ip6:
	case r.IP4TableID == table:
		s.observe(Guard{If: st.name})
	case r.L2TableID == table:
		s.observe(Guard{If: st.name, Bridged: true})
	}
}
