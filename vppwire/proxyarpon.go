package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/arp"
)

// ProxyARPOn has VPP answer on an interface for the ranges of ProxyARP. VPP remembers it by index when the interface
// goes, so it is always deleted first.
type ProxyARPOn struct{ If string }

// Key implements Object.
func (o ProxyARPOn) Key() Key { return Key{Kind: KindProxyARPOn, Name: o.If} }

// AppendNeeds implements Object.
func (o ProxyARPOn) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendText implements Object: "proxy-arp-on host-vpp2".
func (o ProxyARPOn) AppendText(b []byte) []byte { return appendWord(b, "proxy-arp-on", o.If) }

func (ProxyARPOn) parse(p *words) Object { return ProxyARPOn{If: p.word()} }

func (o ProxyARPOn) owner() (Key, bool)   { return Key{}, false }
func (o ProxyARPOn) ours() bool           { return ownInterface(o.If) }
func (o ProxyARPOn) replaces(Object) bool { return true }
func (o ProxyARPOn) shown() dumpStep      { return dumpStep{dump: proxyARPOnDump} }

type proxyARPOnMessages struct {
	enable      arp.ProxyArpIntfcEnableDisable
	enableReply arp.ProxyArpIntfcEnableDisableReply
}

func (ProxyARPOn) messages() []api.Message {
	m := new(proxyARPOnMessages)
	return []api.Message{&m.enable, &m.enableReply}
}

func (o ProxyARPOn) fill(s *Session, r *request, on bool) {
	m := buffers[proxyARPOnMessages](s, KindProxyARPOn)
	m.enable.SwIfIndex, m.enable.Enable = s.swIfIndex(o.If), on
	r.invoke(&m.enable, &m.enableReply, &m.enableReply.Retval)
}

func (o ProxyARPOn) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o ProxyARPOn) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

var proxyARPOnDump = &dump{whole: true, rare: true, reader: proxyARPOnReader{}}

type proxyARPOnReader struct{}

func (proxyARPOnReader) messages() []api.Message {
	return []api.Message{&arp.ProxyArpIntfcDump{}, &arp.ProxyArpIntfcDetails{}}
}

func (proxyARPOnReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&arp.ProxyArpIntfcDump{}) }

// take asks again when an interface takes over the index of a dead one, as with neighbors.
func (proxyARPOnReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*arp.ProxyArpIntfcDetails)
		if !ok {
			continue
		}
		name, known := s.nameOf(d.SwIfIndex)
		if !known {
			s.dump.reused(d.SwIfIndex, proxyARPOnDump)
			continue
		}
		s.observe(ProxyARPOn{If: name})
	}
}
