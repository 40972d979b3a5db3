package vppwire

import (
	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
)

// Unnumbered lets If use the addresses of Donor. Both are in the same tables.
type Unnumbered struct {
	If, Donor string
	Table     uint32
	// IP6: the addresses are of IPv6, so that it is that family's tables which have to agree first.
	IP6 bool
	// Both: they are of both families, one of which IP6 tells.
	Both bool
}

// Key implements Object.
func (o Unnumbered) Key() Key { return Key{Kind: KindUnnumbered, Name: o.If} }

// AppendNeeds implements Object.
func (o Unnumbered) AppendNeeds(keys []Key) []Key {
	keys = needInterface(needInterface(keys, o.If), o.Donor)
	if o.Table != 0 {
		keys = append(keys, inTableKey(o.If, o.IP6), inTableKey(o.Donor, o.IP6))
		if o.Both {
			keys = append(keys, inTableKey(o.If, !o.IP6), inTableKey(o.Donor, !o.IP6))
		}
	}
	return keys
}

// AppendText implements Object: "unnumbered tap3 loop1 table 1", with " ip6" or " both" behind, or both words.
func (o Unnumbered) AppendText(b []byte) []byte {
	b = appendNumber(appendWord(b, "unnumbered", o.If, o.Donor), "table", uint64(o.Table))
	if o.IP6 {
		b = append(b, " ip6"...)
	}
	if o.Both {
		b = append(b, " both"...)
	}
	return b
}

func (Unnumbered) parse(p *words) Object {
	return Unnumbered{If: p.word(), Donor: p.word(), Table: uint32(p.named("table", 32)), IP6: p.has("ip6"), Both: p.has("both")}
}

func (o Unnumbered) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o Unnumbered) ours() bool           { return ownInterface(o.If) }
func (o Unnumbered) replaces(Object) bool { return false }
func (o Unnumbered) shown() dumpStep      { return dumpStep{dump: unnumberedDump} }

// like: the table follows from the interface, which has a dump of its own.
func (o Unnumbered) like(found Object) bool {
	f, ok := found.(Unnumbered)
	return ok && f.Donor == o.Donor
}

type unnumberedMessages struct {
	set      interfaces.SwInterfaceSetUnnumbered
	setReply interfaces.SwInterfaceSetUnnumberedReply
}

func (Unnumbered) messages() []api.Message {
	m := new(unnumberedMessages)
	return []api.Message{&m.set, &m.setReply}
}

func (o Unnumbered) fill(s *Session, r *request, add bool) {
	m := buffers[unnumberedMessages](s, KindUnnumbered)
	// The message calls the donor sw_if_index and the borrower unnumbered_sw_if_index.
	m.set.SwIfIndex, m.set.UnnumberedSwIfIndex, m.set.IsAdd = s.swIfIndex(o.Donor), s.swIfIndex(o.If), add
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

func (o Unnumbered) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Unnumbered) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// unnumberedDump is queued by the interface dump, behind the tables that it depends on.
var unnumberedDump = &dump{reader: unnumberedReader{}}

type unnumberedReader struct{}

func (unnumberedReader) messages() []api.Message {
	return []api.Message{&ip.IPUnnumberedDump{}, &ip.IPUnnumberedDetails{}}
}

func (unnumberedReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&ip.IPUnnumberedDump{SwIfIndex: allInterfacesIndex})
}

func (unnumberedReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*ip.IPUnnumberedDetails); ok {
			name := s.interfaceName(uint32(d.SwIfIndex))
			o := Unnumbered{If: name, Donor: s.interfaceName(uint32(d.IPSwIfIndex)), Table: s.tableOf(name, false)}
			// The interface leaves the tables of both families only after this: VPP lets none go that has addresses.
			switch t6 := s.tableOf(name, true); {
			case o.Table == 0:
				o.Table, o.IP6 = t6, t6 != 0
			case t6 != 0:
				o.Both = true
			}
			s.observe(o)
		}
	}
}
