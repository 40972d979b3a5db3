package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/nat44_ed"
)

// NATTimeouts is after how many seconds without a packet VPP gives a session up.
type NATTimeouts struct{ UDP, TCPEstablished, TCPTransitory, ICMP uint32 }

// natTimeoutsDefault are VPP's own (src/plugins/nat/lib/nat_inlines.h).
var natTimeoutsDefault = NATTimeouts{UDP: 300, TCPEstablished: 7440, TCPTransitory: 240, ICMP: 60}

// Key implements Object.
func (NATTimeouts) Key() Key { return Key{Kind: KindNATTimeouts} }

// AppendNeeds implements Object.
func (NATTimeouts) AppendNeeds(keys []Key) []Key { return append(keys, natKey()) }

// AppendText implements Object: "nat-timeouts udp 300 tcp 7440 240 icmp 60".
func (o NATTimeouts) AppendText(b []byte) []byte {
	b = appendNumber(append(b, "nat-timeouts"...), "udp", uint64(o.UDP))
	b = appendNumber(b, "tcp", uint64(o.TCPEstablished))
	b = appendUint(append(b, ' '), o.TCPTransitory)
	return appendNumber(b, "icmp", uint64(o.ICMP))
}

func (NATTimeouts) parse(p *words) Object {
	o := NATTimeouts{UDP: uint32(p.named("udp", 32)), TCPEstablished: uint32(p.named("tcp", 32))}
	o.TCPTransitory, o.ICMP = uint32(p.number(32)), uint32(p.named("icmp", 32))
	return o
}

func (o NATTimeouts) owner() (Key, bool)   { return natKey(), true }
func (o NATTimeouts) ours() bool           { return false }
func (o NATTimeouts) replaces(Object) bool { return true }
func (o NATTimeouts) shown() dumpStep      { return dumpStep{dump: natDump} }

type natTimeoutsMessages struct {
	set      nat44_ed.NatSetTimeouts
	setReply nat44_ed.NatSetTimeoutsReply
}

func (NATTimeouts) messages() []api.Message {
	m := new(natTimeoutsMessages)
	return []api.Message{&m.set, &m.setReply}
}

func (o NATTimeouts) create(s *Session, r *request, _ Object) {
	m := buffers[natTimeoutsMessages](s, KindNATTimeouts)
	m.set = nat44_ed.NatSetTimeouts{UDP: o.UDP, TCPEstablished: o.TCPEstablished, TCPTransitory: o.TCPTransitory, ICMP: o.ICMP}
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

// delete: there are always some; those that stand may stay.
func (o NATTimeouts) delete(*Session, *request) bool { return false }
