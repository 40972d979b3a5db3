package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/ip_types"
)

// ProxyARP has VPP answer ARP requests for Low to High, on interfaces of Table that ProxyARPOn names.
type ProxyARP struct {
	Table     uint32
	Low, High netip.Addr // IPv4
}

// ProxyARPOf is the range of a subnet's addresses, all but its own and its broadcast address, or all where there are no more than two.
func ProxyARPOf(table uint32, p netip.Prefix) ProxyARP {
	o := ProxyARP{Table: table, Low: p.Masked().Addr(), High: lastOf(p)}
	if p.Bits() < p.Addr().BitLen()-1 {
		o.Low, o.High = o.Low.Next(), o.High.Prev()
	}
	return o
}

// lastOf is the last address of a subnet of IPv4.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().As4()
	for i := p.Bits(); i < 32; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	return netip.AddrFrom4(b)
}

// Key implements Object: a range is known by its first address.
func (o ProxyARP) Key() Key { return Key{Kind: KindProxyARP, Num: o.Table, Prefix: full(o.Low)} }

// AppendNeeds implements Object.
func (o ProxyARP) AppendNeeds(keys []Key) []Key { return needTable(keys, o.Table, false) }

// AppendText implements Object: "proxy-arp table 0 192.168.16.1 192.168.16.254".
func (o ProxyARP) AppendText(b []byte) []byte {
	b = o.Low.AppendTo(append(appendNumber(append(b, "proxy-arp"...), "table", uint64(o.Table)), ' '))
	return o.High.AppendTo(append(b, ' '))
}

func (ProxyARP) parse(p *words) Object {
	return ProxyARP{Table: uint32(p.named("table", 32)), Low: p.addr4(), High: p.addr4()}
}

// owner: a range outlives its table, and then belongs to the next one at its place (src/vnet/arp/arp_proxy.c, 25.10).
func (o ProxyARP) owner() (Key, bool)   { return Key{}, false }
func (o ProxyARP) ours() bool           { return true }
func (o ProxyARP) replaces(Object) bool { return false }
func (o ProxyARP) shown() dumpStep      { return dumpStep{dump: proxyARPDump} }

type proxyARPMessages struct {
	add      arp.ProxyArpAddDel
	addReply arp.ProxyArpAddDelReply
}

func (ProxyARP) messages() []api.Message {
	m := new(proxyARPMessages)
	return []api.Message{&m.add, &m.addReply}
}

func (o ProxyARP) fill(s *Session, r *request, add bool) {
	m := buffers[proxyARPMessages](s, KindProxyARP)
	m.add = arp.ProxyArpAddDel{IsAdd: add, Proxy: arp.ProxyArp{TableID: o.Table, Low: ip_types.IP4Address(o.Low.As4()), Hi: ip_types.IP4Address(o.High.As4())}}
	r.invoke(&m.add, &m.addReply, &m.addReply.Retval)
}

func (o ProxyARP) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o ProxyARP) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

var proxyARPDump = &dump{whole: true, rare: true, reader: proxyARPReader{}}

type proxyARPReader struct{}

func (proxyARPReader) messages() []api.Message {
	return []api.Message{&arp.ProxyArpDump{}, &arp.ProxyArpDetails{}}
}

func (proxyARPReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&arp.ProxyArpDump{}) }

func (proxyARPReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*arp.ProxyArpDetails); ok {
			s.observe(ProxyARP{Table: d.Proxy.TableID, Low: netip.AddrFrom4(d.Proxy.Low), High: netip.AddrFrom4(d.Proxy.Hi)})
		}
	}
}
