package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"
)

// Source is a pod's right to send on the interface that pods share: packets from Addr in frames from MAC pass the Guard
// of its family.
type Source struct {
	Addr netip.Addr
	MAC  MAC
}

// Key implements Object.
func (o Source) Key() Key { return Key{Kind: KindSource, Prefix: full(o.Addr)} }

// AppendNeeds implements Object.
func (o Source) AppendNeeds(keys []Key) []Key { return append(keys, sourceTableKey(o.Addr.Is6())) }

// AppendText implements Object: "source 10.1.1.2 02:39:00:00:00:01".
func (o Source) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(b, "source "...))
	return o.MAC.AppendText(append(b, ' '))
}

func (Source) parse(p *words) Object {
	return Source{Addr: p.addr(), MAC: p.mac()}
}

func (o Source) owner() (Key, bool)   { return sourceTableKey(o.Addr.Is6()), true }
func (o Source) ours() bool           { return true }
func (o Source) replaces(Object) bool { return false }
func (o Source) shown() dumpStep      { return dumpStep{dump: sourcesDump, ip6: o.Addr.Is6()} }

type sourceMessages struct {
	session      classify.ClassifyAddDelSession
	sessionReply classify.ClassifyAddDelSessionReply
}

func (Source) messages() []api.Message {
	m := new(sourceMessages)
	return []api.Message{&m.session, &m.sessionReply}
}

func (o Source) fill(s *Session, r *request, add bool) {
	m := buffers[sourceMessages](s, KindSource)
	match := source(o.MAC, o.Addr.AsSlice())
	m.session = classify.ClassifyAddDelSession{IsAdd: add, TableIndex: s.sources.of(o.Addr.Is6()), HitNextIndex: hitPasses, OpaqueIndex: noTable,
		MatchLen: uint32(len(match)), Match: match}
	r.invoke(&m.session, &m.sessionReply, &m.sessionReply.Retval)
}

func (o Source) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Source) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// sourcesDump shows the sessions of our classifier table of a family.
var sourcesDump = &dump{reader: sourcesReader{}}

type sourcesReader struct{}

func (sourcesReader) messages() []api.Message {
	return []api.Message{&classify.ClassifySessionDump{}, &classify.ClassifySessionDetails{}}
}

func (sourcesReader) void(s *Session, st dumpStep) bool { return s.sources.none(st.ip6) }

func (sourcesReader) gone(error) bool { return false }

func (sourcesReader) ask(s *Session, st dumpStep, r *request) {
	r.dump(&classify.ClassifySessionDump{TableID: s.sources.of(st.ip6)})
}

func (sourcesReader) take(s *Session, st dumpStep, res Result) {
	mask := sourceMask(st.ip6)
	for _, m := range res.shown.details {
		d, ok := m.(*classify.ClassifySessionDetails)
		if !ok || len(d.Match) < len(mask) {
			continue
		}
		o := Source{Addr: netip.AddrFrom4([4]byte(d.Match[sourceIP4:])), MAC: MAC(d.Match[sourceMAC:])}
		if st.ip6 {
			o.Addr = netip.AddrFrom16([16]byte(d.Match[sourceIP6:]))
		}
		s.observe(o)
	}
}
