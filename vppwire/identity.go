package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
)

// Identity keeps NAT from translating an address in packets of a table: all of it, or, where Proto is set, one port.
type Identity struct {
	Addr  netip.Addr
	Table uint32
	Proto Proto
	Port  uint16
	natDependent
}

// Proto is an IP protocol with ports. The zero Proto is any.
type Proto uint8

// The protocols that NAT finds ports in, by their number.
const (
	TCP Proto = 6
	UDP Proto = 17
)

// String is "tcp", "udp" or the empty string.
func (p Proto) String() string {
	switch p {
	case TCP:
		return "tcp"
	case UDP:
		return "udp"
	}
	return ""
}

// protoOf is the protocol of a word, zero for any other word.
func protoOf(word string) Proto {
	for _, p := range [...]Proto{TCP, UDP} {
		if p.String() == word {
			return p
		}
	}
	return 0
}

// proto takes the next word if it is a protocol's.
func (p *words) proto() Proto {
	switch {
	case p.has("tcp"):
		return TCP
	case p.has("udp"):
		return UDP
	}
	return 0
}

// Key implements Object.
func (o Identity) Key() Key {
	k := Key{Kind: KindIdentity, Num: o.Table, Prefix: full(o.Addr)}
	if o.Proto != 0 {
		k.Name = string(appendNumber(nil, o.Proto.String(), uint64(o.Port))[1:])
	}
	return k
}

// AppendNeeds implements Object.
func (o Identity) AppendNeeds(keys []Key) []Key {
	return needTable(append(keys, natKey()), o.Table, false)
}

// AppendText implements Object: "nat-identity table 1 192.168.16.1", "nat-identity table 0 192.168.16.1 udp 4789".
func (o Identity) AppendText(b []byte) []byte {
	b = appendNumber(append(b, "nat-identity"...), "table", uint64(o.Table))
	b = o.Addr.AppendTo(append(b, ' '))
	if o.Proto != 0 {
		b = appendNumber(b, o.Proto.String(), uint64(o.Port))
	}
	return b
}

func (Identity) parse(p *words) Object {
	o := Identity{Table: uint32(p.named("table", 32)), Addr: p.addr4()}
	if o.Proto = p.proto(); o.Proto != 0 {
		o.Port = uint16(p.number(16))
	}
	return o
}

func (o Identity) owner() (Key, bool)   { return Key{}, false }
func (o Identity) ours() bool           { return true }
func (o Identity) replaces(Object) bool { return false }
func (o Identity) shown() dumpStep      { return dumpStep{dump: identityDump} }

type identityMessages struct {
	change      nat44_ed.Nat44AddDelIdentityMapping
	changeReply nat44_ed.Nat44AddDelIdentityMappingReply
}

func (Identity) messages() []api.Message {
	m := new(identityMessages)
	return []api.Message{&m.change, &m.changeReply}
}

func (o Identity) fill(s *Session, r *request, add bool) {
	m := buffers[identityMessages](s, KindIdentity)
	m.change = nat44_ed.Nat44AddDelIdentityMapping{IsAdd: add, IPAddress: ip_types.IP4Address(o.Addr.As4()), Protocol: uint8(o.Proto),
		Port: o.Port, SwIfIndex: allInterfacesIndex, VrfID: o.Table}
	if o.Proto == 0 {
		m.change.Flags = nat_types.NAT_IS_ADDR_ONLY
	}
	r.invoke(&m.change, &m.changeReply, &m.changeReply.Retval)
}

func (o Identity) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Identity) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

var identityDump = &dump{reader: identityReader{}}

type identityReader struct{}

func (identityReader) messages() []api.Message {
	return []api.Message{&nat44_ed.Nat44IdentityMappingDump{}, &nat44_ed.Nat44IdentityMappingDetails{}}
}

func (identityReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&nat44_ed.Nat44IdentityMappingDump{})
}

func (identityReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*nat44_ed.Nat44IdentityMappingDetails); ok {
			s.observe(Identity{Addr: netip.AddrFrom4(d.IPAddress), Table: d.VrfID, Proto: Proto(d.Protocol), Port: d.Port})
		}
	}
}
