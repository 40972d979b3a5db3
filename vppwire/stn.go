package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/stn"
)

// STN is a rule of VPP's STN plugin: packets to Addr that reach VPP because it has the address, and that nothing in VPP
// takes, leave through If, in frames for STNMAC. The rule needs no address itself: until VPP has Addr it does nothing. An
// address has one rule at most, whatever the tables. VPP keeps a rule when its interface goes, and the next one that
// gets the index has it; of a rule for an interface that does not exist it dies (src/plugins/stn/stn.c, 25.10).
type STN struct {
	Addr netip.Addr
	If   string
	// Bits is the length of Addr's subnet where Addr is the host's own: then all stands before the rule that the host is
	// reached by. 0 for an address of another.
	Bits uint8
	// Table is the one that VPP has Addr in, only with Bits.
	Table uint32
	// Routes are the destinations of the host's routes, only with Bits: VPP has those in Table before, as it takes nothing
	// of whom it has no way back to (src/vnet/ip/ip4_forward.c, ip4_local_check_src). See Destinations.
	Routes string
}

// STNMAC is the MAC that the plugin sends to (stn_hw_addr_dst): that of the Linux end of If.
var STNMAC = MAC{0, 0, 0, 0, 0, 2}

const stnPlugin = "stn"

func stnKey(a netip.Addr) Key { return Key{Kind: KindSTN, Prefix: full(a)} }

// Key implements Object.
func (o STN) Key() Key { return stnKey(o.Addr) }

// AppendNeeds implements Object.
func (o STN) AppendNeeds(keys []Key) []Key {
	keys = needInterface(keys, o.If)
	if o.Bits == 0 {
		return keys
	}
	for dst := range destinations(o.Routes) {
		keys = append(keys, Route{Table: o.Table, Prefix: dst}.Key())
	}
	return append(keys, Up{If: o.If}.Key(), Unnumbered{If: o.If}.Key(), ProxyARPOn{If: o.If}.Key(), ProxyARPOf(o.Table, netip.PrefixFrom(o.Addr, int(o.Bits))).Key())
}

// AppendText implements Object: "stn 192.168.16.1 host-vpp2", "stn 192.168.16.1 host-vpp2 host 24 routes 0.0.0.0/0".
func (o STN) AppendText(b []byte) []byte {
	b = appendWord(append(o.Addr.AppendTo(append(b, "stn "...)), ' '), o.If)
	if o.Bits != 0 {
		b = appendNumber(b, "host", uint64(o.Bits))
		if o.Table != 0 {
			b = appendNumber(b, "table", uint64(o.Table))
		}
		b = appendDestinations(b, o.Routes)
	}
	return b
}

func (STN) parse(p *words) Object {
	o := STN{Addr: p.addr(), If: p.word()}
	if p.has("host") {
		o.Bits = uint8(p.number(7))
		if p.err == nil && (o.Bits == 0 || !netip.PrefixFrom(o.Addr, int(o.Bits)).IsValid()) {
			p.fail("%d is not a length of %s", o.Bits, o.Addr)
		}
		o.Table, o.Routes = p.table(), p.destinations()
	}
	return o
}

// owner: a rule outlives its interface.
func (o STN) owner() (Key, bool) { return Key{}, false }
func (o STN) ours() bool         { return true }

// replaces: an addition moves the rule.
func (o STN) replaces(Object) bool { return true }
func (o STN) shown() dumpStep      { return dumpStep{dump: stnDump} }

// like: the plugin knows neither subnets, tables nor routes.
func (o STN) like(found Object) bool {
	f, ok := found.(STN)
	return ok && f.If == o.If
}

type stnMessages struct {
	rule      stn.StnAddDelRule
	ruleReply stn.StnAddDelRuleReply
}

func (STN) messages() []api.Message {
	m := new(stnMessages)
	return []api.Message{&m.rule, &m.ruleReply}
}

func (o STN) fill(s *Session, r *request, add bool) {
	m := buffers[stnMessages](s, KindSTN)
	m.rule = stn.StnAddDelRule{IPAddress: toAddress(o.Addr), IsAdd: add}
	if add { // a deletion goes by the address, and the interface may be dead
		m.rule.SwIfIndex = s.swIfIndex(o.If)
	}
	r.invoke(&m.rule, &m.ruleReply, &m.ruleReply.Retval)
}

func (o STN) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o STN) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

var stnDump = &dump{whole: true, rare: true, plugin: stnPlugin, reader: stnReader{}}

type stnReader struct{}

func (stnReader) messages() []api.Message {
	return []api.Message{&stn.StnRulesDump{}, &stn.StnRulesDetails{}}
}

func (stnReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&stn.StnRulesDump{}) }

func (stnReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*stn.StnRulesDetails); ok {
			s.observe(STN{Addr: fromAddress(d.IPAddress), If: s.interfaceName(uint32(d.SwIfIndex))})
		}
	}
}
