package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
)

// NATInterface puts an interface on one side of NAT. Clients of services come from outside, answers of their endpoints
// from inside; an interface may be on both.
type NATInterface struct {
	If      string
	Outside bool
	natDependent
}

// Key implements Object.
func (o NATInterface) Key() Key {
	k := Key{Kind: KindNATInterface, Name: o.If}
	if o.Outside {
		k.Num = 1
	}
	return k
}

// AppendNeeds implements Object. An interface has its table before it has NAT: VPP keeps outer addresses in the table
// that it finds.
func (o NATInterface) AppendNeeds(keys []Key) []Key {
	return needInterface(append(keys, natKey()), o.If)
}

// AppendText implements Object: "nat-interface loop0 inside", "nat-interface loop0 outside".
func (o NATInterface) AppendText(b []byte) []byte {
	b = appendWord(b, "nat-interface", o.If)
	if o.Outside {
		return append(b, " outside"...)
	}
	return append(b, " inside"...)
}

func (NATInterface) parse(p *words) Object {
	o := NATInterface{If: p.word(), Outside: p.has("outside")}
	if !o.Outside {
		p.expect("inside")
	}
	return o
}

func (o NATInterface) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o NATInterface) ours() bool           { return true }
func (o NATInterface) replaces(Object) bool { return false }
func (o NATInterface) shown() dumpStep      { return dumpStep{dump: natInterfaceDump} }

type natInterfaceMessages struct {
	change      nat44_ed.Nat44InterfaceAddDelFeature
	changeReply nat44_ed.Nat44InterfaceAddDelFeatureReply
}

func (NATInterface) messages() []api.Message {
	m := new(natInterfaceMessages)
	return []api.Message{&m.change, &m.changeReply}
}

func (o NATInterface) fill(s *Session, r *request, add bool) {
	m := buffers[natInterfaceMessages](s, KindNATInterface)
	m.change = nat44_ed.Nat44InterfaceAddDelFeature{IsAdd: add, Flags: nat_types.NAT_IS_INSIDE, SwIfIndex: s.swIfIndex(o.If)}
	if o.Outside {
		m.change.Flags = nat_types.NAT_IS_OUTSIDE
	}
	r.invoke(&m.change, &m.changeReply, &m.changeReply.Retval)
}

func (o NATInterface) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o NATInterface) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

var natInterfaceDump = &dump{reader: natInterfaceReader{}}

type natInterfaceReader struct{}

func (natInterfaceReader) messages() []api.Message {
	return []api.Message{&nat44_ed.Nat44InterfaceDump{}, &nat44_ed.Nat44InterfaceDetails{}}
}

func (natInterfaceReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&nat44_ed.Nat44InterfaceDump{})
}

func (natInterfaceReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*nat44_ed.Nat44InterfaceDetails)
		if !ok {
			continue
		}
		name := s.interfaceName(uint32(d.SwIfIndex))
		if d.Flags&nat_types.NAT_IS_INSIDE != 0 {
			s.observe(NATInterface{If: name})
		}
		if d.Flags&nat_types.NAT_IS_OUTSIDE != 0 {
			s.observe(NATInterface{If: name, Outside: true})
		}
	}
}

// NATOutput has an interface translate the sources of what it sends to an address of NAT's, and take back what comes in
// for it. Such an interface is on neither side.
type NATOutput struct {
	If string
	natDependent
}

// Key implements Object.
func (o NATOutput) Key() Key { return Key{Kind: KindNATOutput, Name: o.If} }

// AppendNeeds implements Object.
func (o NATOutput) AppendNeeds(keys []Key) []Key { return needInterface(append(keys, natKey()), o.If) }

// AppendText implements Object: "nat-output GigabitEthernet0/8/0".
func (o NATOutput) AppendText(b []byte) []byte { return appendWord(b, "nat-output", o.If) }

func (NATOutput) parse(p *words) Object { return NATOutput{If: p.word()} }

func (o NATOutput) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o NATOutput) ours() bool           { return true }
func (o NATOutput) replaces(Object) bool { return false }
func (o NATOutput) shown() dumpStep      { return dumpStep{dump: natOutputDump} }

type natOutputMessages struct {
	change      nat44_ed.Nat44EdAddDelOutputInterface
	changeReply nat44_ed.Nat44EdAddDelOutputInterfaceReply
}

func (NATOutput) messages() []api.Message {
	m := new(natOutputMessages)
	return []api.Message{&m.change, &m.changeReply}
}

func (o NATOutput) fill(s *Session, r *request, add bool) {
	m := buffers[natOutputMessages](s, KindNATOutput)
	m.change = nat44_ed.Nat44EdAddDelOutputInterface{IsAdd: add, SwIfIndex: s.swIfIndex(o.If)}
	r.invoke(&m.change, &m.changeReply, &m.changeReply.Retval)
}

func (o NATOutput) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o NATOutput) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// natOutputDump is of the newer kind: its last message is a reply.
var natOutputDump = &dump{reader: natOutputReader{}}

type natOutputReader struct{}

func (natOutputReader) messages() []api.Message {
	return []api.Message{&nat44_ed.Nat44EdOutputInterfaceGet{}, &nat44_ed.Nat44EdOutputInterfaceGetReply{}, &nat44_ed.Nat44EdOutputInterfaceDetails{}}
}

func (natOutputReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&nat44_ed.Nat44EdOutputInterfaceGet{})
}

func (natOutputReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*nat44_ed.Nat44EdOutputInterfaceDetails); ok {
			s.observe(NATOutput{If: s.interfaceName(uint32(d.SwIfIndex))})
		}
	}
}
