package vppwire

import (
	"errors"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
)

// InTable binds an interface to a VRF. VPP refuses to move one that has addresses.
type InTable struct {
	If    string
	Table uint32
	IP6   bool
}

func inTableKey(name string, ip6 bool) Key {
	return Key{Kind: KindInTable, Name: name, Num: family(ip6)}
}

// Key implements Object.
func (o InTable) Key() Key { return inTableKey(o.If, o.IP6) }

// AppendNeeds implements Object.
func (o InTable) AppendNeeds(keys []Key) []Key {
	return needTable(needInterface(keys, o.If), o.Table, o.IP6)
}

// AppendText implements Object: "in-table loop0 1", "in-table loop0 1 ip6".
func (o InTable) AppendText(b []byte) []byte {
	b = appendUint(append(appendWord(b, "in-table", o.If), ' '), o.Table)
	if o.IP6 {
		b = append(b, " ip6"...)
	}
	return b
}

func (InTable) parse(p *words) Object {
	return InTable{If: p.word(), Table: uint32(p.number(32)), IP6: p.has("ip6")}
}

func (o InTable) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o InTable) ours() bool           { return ownInterface(o.If) }
func (o InTable) replaces(Object) bool { return false } // addresses must go first
func (o InTable) shown() dumpStep {
	return dumpStep{dump: inTableDump, name: o.If, ip6: o.IP6}
}

// lapses: with the interface.
func (o InTable) lapses(s *Session, st dumpStep) bool {
	return st.dump == interfaceDump && !s.known(o.If)
}

type inTableMessages struct {
	set      interfaces.SwInterfaceSetTable
	setReply interfaces.SwInterfaceSetTableReply
	get      interfaces.SwInterfaceGetTable
	getReply interfaces.SwInterfaceGetTableReply
}

func (InTable) messages() []api.Message {
	m := new(inTableMessages)
	return []api.Message{&m.set, &m.setReply, &m.get, &m.getReply}
}

func (o InTable) fill(s *Session, r *request, table uint32) {
	m := buffers[inTableMessages](s, KindInTable)
	m.set.SwIfIndex, m.set.IsIPv6, m.set.VrfID = s.swIfIndex(o.If), o.IP6, table
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

func (o InTable) create(s *Session, r *request, _ Object) { o.fill(s, r, o.Table) }
func (o InTable) delete(s *Session, r *request) bool      { o.fill(s, r, 0); return true }

// inTableDump asks for one interface's table of one family; VPP tells no more at a time.
var inTableDump = &dump{reader: inTableReader{}}

type inTableReader struct{ ofInterface }

func (inTableReader) ask(s *Session, st dumpStep, r *request) {
	m := buffers[inTableMessages](s, KindInTable)
	m.get = interfaces.SwInterfaceGetTable{SwIfIndex: s.swIfIndex(st.name), IsIPv6: st.ip6}
	r.invoke(&m.get, &m.getReply, &m.getReply.Retval)
	r.number = &m.getReply.VrfID
}

func (inTableReader) take(s *Session, st dumpStep, res Result) {
	if res.number != 0 {
		s.observe(InTable{If: st.name, Table: res.number, IP6: st.ip6})
	}
}

// ofInterface is a dump that asks about one interface, which may be gone.
type ofInterface struct{}

func (ofInterface) void(s *Session, st dumpStep) bool { return !s.known(st.name) }

func (ofInterface) gone(err error) bool { return errors.Is(err, api.INVALID_SW_IF_INDEX) }

// tableOf is the table that an interface is known to be in.
func (s *Session) tableOf(name string, ip6 bool) uint32 {
	k := inTableKey(name, ip6)
	if n := s.find(s.ident(&k)); n != 0 {
		if t, ok := s.at(n).have().(InTable); ok {
			return t.Table
		}
	}
	return 0
}
