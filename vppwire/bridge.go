package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/l2"
)

// Bridge is a bridge domain that only forwards: no learning, no flooding, no ARP termination.
type Bridge struct {
	// ID is 1 to 16777215; VPP keeps 0 for itself.
	ID uint32
	// otherFlags marks one that a dump found with other flags.
	otherFlags bool
}

// Key implements Object.
func (o Bridge) Key() Key { return Key{Kind: KindBridge, Num: o.ID} }

// AppendNeeds implements Object.
func (o Bridge) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "bridge 1".
func (o Bridge) AppendText(b []byte) []byte { return appendUint(append(b, "bridge "...), o.ID) }

func (Bridge) parse(p *words) Object { return Bridge{ID: uint32(p.number(32))} }

func (o Bridge) owner() (Key, bool)   { return Key{}, false }
func (o Bridge) ours() bool           { return true }
func (o Bridge) replaces(Object) bool { return false } // adding does not change an existing one's flags
func (o Bridge) shown() dumpStep      { return dumpStep{dump: bridgeDump} }

type bridgeMessages struct {
	bridge      l2.BridgeDomainAddDelV2
	bridgeReply l2.BridgeDomainAddDelV2Reply
}

func (Bridge) messages() []api.Message {
	m := new(bridgeMessages)
	return []api.Message{&m.bridge, &m.bridgeReply}
}

func (o Bridge) fill(s *Session, r *request, add bool) {
	m := buffers[bridgeMessages](s, KindBridge)
	m.bridge = l2.BridgeDomainAddDelV2{BdID: o.ID, Forward: true, IsAdd: add}
	r.invoke(&m.bridge, &m.bridgeReply, &m.bridgeReply.Retval)
}

func (o Bridge) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Bridge) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// bridgeDump shows bridge domains with their members.
var bridgeDump = &dump{whole: true, reader: bridgeReader{}}

type bridgeReader struct{}

func (bridgeReader) messages() []api.Message {
	return []api.Message{&l2.BridgeDomainDump{}, &l2.BridgeDomainDetails{}}
}

func (bridgeReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&l2.BridgeDomainDump{BdID: allInterfaces, SwIfIndex: allInterfacesIndex})
}

func (bridgeReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*l2.BridgeDomainDetails)
		if !ok || d.BdID == 0 { // 0 is VPP's own
			continue
		}
		s.observe(Bridge{ID: d.BdID, otherFlags: d.Learn || d.Flood || d.UuFlood || d.ArpTerm || !d.Forward})
		s.observeMembers(d)
		s.dump.push(dumpStep{dump: fibDump, num: d.BdID})
	}
}
