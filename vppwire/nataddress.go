package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
)

// NATAddress is an IPv4 address that NAT gives packets: those that leave through an output interface, or, with Twice,
// those whose source is translated beside their destination. With a Table other than 0 it is for packets of that table
// alone.
//
// Who sends to such an address always comes from outside to NAT (src/plugins/nat/nat44-ed/nat44_ed_classify.c, 25.10),
// also by an interface that is on both sides, and also where an Identity of the whole address would have it left alone.
type NATAddress struct {
	Addr  netip.Addr
	Twice bool
	Table uint32
	natDependent
}

// Key implements Object.
func (o NATAddress) Key() Key {
	k := Key{Kind: KindNATAddress, Prefix: full(o.Addr)}
	if o.Twice {
		k.Name = "twice"
	}
	return k
}

// AppendNeeds implements Object.
func (o NATAddress) AppendNeeds(keys []Key) []Key {
	return needTable(append(keys, natKey()), o.Table, false)
}

// AppendText implements Object: "nat-address 192.168.16.1", "nat-address 10.1.1.254 twice",
// "nat-address 20.20.20.20 table 2".
func (o NATAddress) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(b, "nat-address "...))
	if o.Twice {
		b = append(b, " twice"...)
	}
	if o.Table != 0 {
		b = appendNumber(b, "table", uint64(o.Table))
	}
	return b
}

func (NATAddress) parse(p *words) Object {
	o := NATAddress{Addr: p.addr4(), Twice: p.has("twice")}
	if p.has("table") {
		o.Table = uint32(p.number(32))
	}
	return o
}

func (o NATAddress) owner() (Key, bool)   { return Key{}, false }
func (o NATAddress) ours() bool           { return true }
func (o NATAddress) replaces(Object) bool { return false }
func (o NATAddress) shown() dumpStep      { return dumpStep{dump: natAddressDump} }

type natAddressMessages struct {
	change      nat44_ed.Nat44AddDelAddressRange
	changeReply nat44_ed.Nat44AddDelAddressRangeReply
}

func (NATAddress) messages() []api.Message {
	m := new(natAddressMessages)
	return []api.Message{&m.change, &m.changeReply}
}

func (o NATAddress) fill(s *Session, r *request, add bool) {
	m := buffers[natAddressMessages](s, KindNATAddress)
	a := ip_types.IP4Address(o.Addr.As4())
	m.change = nat44_ed.Nat44AddDelAddressRange{FirstIPAddress: a, LastIPAddress: a, VrfID: anyTable, IsAdd: add}
	if o.Table != 0 {
		m.change.VrfID = o.Table
	}
	if o.Twice {
		m.change.Flags = nat_types.NAT_IS_TWICE_NAT
	}
	r.invoke(&m.change, &m.changeReply, &m.changeReply.Retval)
}

// anyTable is VPP's ~0: the address serves packets of every table.
const anyTable = ^uint32(0)

func (o NATAddress) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o NATAddress) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

var natAddressDump = &dump{reader: natAddressReader{}}

type natAddressReader struct{}

func (natAddressReader) messages() []api.Message {
	return []api.Message{&nat44_ed.Nat44AddressDump{}, &nat44_ed.Nat44AddressDetails{}}
}

func (natAddressReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&nat44_ed.Nat44AddressDump{}) }

func (natAddressReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*nat44_ed.Nat44AddressDetails); ok {
			o := NATAddress{Addr: netip.AddrFrom4(d.IPAddress), Twice: d.Flags&nat_types.NAT_IS_TWICE_NAT != 0}
			if d.VrfID != anyTable {
				o.Table = d.VrfID
			}
			s.observe(o)
		}
	}
}
