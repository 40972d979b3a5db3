package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"
)

// Guard puts the table of sources before an interface that pods share: IPv4 packets that come in by it pass only with a source
// that is one of the table's.
//
// VPP 25.10 keeps the table's number when the interface goes, and the next interface of that index then counts as guarded
// without being so (src/vnet/classify/in_out_acl.c): it always goes first, and has no owner that would take it along.
type Guard struct{ If string }

func guardKey(name string) Key { return Key{Kind: KindGuard, Name: name} }

// Key implements Object.
func (o Guard) Key() Key { return guardKey(o.If) }

// AppendNeeds implements Object.
func (o Guard) AppendNeeds(keys []Key) []Key {
	return append(needInterface(keys, o.If), sourceTableKey())
}

// AppendText implements Object: "guard host-vpptrunk".
func (o Guard) AppendText(b []byte) []byte { return appendWord(b, "guard", o.If) }

func (Guard) parse(p *words) Object { return Guard{If: p.word()} }

func (o Guard) owner() (Key, bool)   { return Key{}, false }
func (o Guard) ours() bool           { return ownInterface(o.If) }
func (o Guard) replaces(Object) bool { return false }
func (o Guard) shown() dumpStep      { return dumpStep{dump: guardDump, name: o.If} }

// lapses: with the interface, and with the table.
func (o Guard) lapses(s *Session, st dumpStep) bool {
	if st.dump == interfaceDump {
		return !s.known(o.If)
	}
	return s.noSources()
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
	m.set = classify.InputACLSetInterface{SwIfIndex: s.swIfIndex(o.If), IP4TableIndex: s.sources, IP6TableIndex: noTable,
		L2TableIndex: noTable, IsAdd: add}
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

func (o Guard) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Guard) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// guardDump tells which table is before one interface.
var guardDump = &dump{reader: guardReader{}}

type guardReader struct{ ofInterface }

func (r guardReader) void(s *Session, st dumpStep) bool {
	return r.ofInterface.void(s, st) || s.noSources()
}

func (guardReader) ask(s *Session, st dumpStep, r *request) {
	m := buffers[guardMessages](s, KindGuard)
	m.get, m.getReply = classify.ClassifyTableByInterface{SwIfIndex: s.swIfIndex(st.name)}, classify.ClassifyTableByInterfaceReply{}
	r.invoke(&m.get, &m.getReply, &m.getReply.Retval)
	r.number = &m.getReply.IP4TableID
}

func (guardReader) take(s *Session, st dumpStep, res Result) {
	if res.number != noTable && res.number == s.sources {
		s.observe(Guard{If: st.name})
	}
}
