package vppwire

import (
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/l2"
)

// FIB is a static layer 2 entry: frames to MAC leave by If.
type FIB struct {
	Bridge uint32
	MAC    MAC
	If     string
}

// Key implements Object.
func (o FIB) Key() Key { return Key{Kind: KindFIB, Num: o.Bridge, MAC: o.MAC} }

// AppendNeeds implements Object: VPP refuses an entry to an interface outside the bridge.
func (o FIB) AppendNeeds(keys []Key) []Key {
	return append(keys, Key{Kind: KindBridge, Num: o.Bridge}, Key{Kind: KindBridgeMember, Name: o.If})
}

// AppendText implements Object: "fib bd 1 12:2b:00:00:00:02 vxlan_tunnel2".
func (o FIB) AppendText(b []byte) []byte {
	b = appendNumber(append(b, "fib"...), "bd", uint64(o.Bridge))
	b = o.MAC.AppendText(append(b, ' '))
	return appendWord(append(b, ' '), o.If)
}

func (FIB) parse(p *words) Object {
	return FIB{Bridge: uint32(p.named("bd", 32)), MAC: p.mac(), If: p.word()}
}

func (o FIB) owner() (Key, bool)   { return Key{}, false }
func (o FIB) ours() bool           { return true }
func (o FIB) replaces(Object) bool { return true }
func (o FIB) shown() dumpStep      { return dumpStep{dump: fibDump, num: o.Bridge} }

// lapses: with the bridge domain, whose own dump would otherwise have queued a look at its entries.
func (o FIB) lapses(s *Session, st dumpStep) bool {
	return st.dump == bridgeDump && !slices.Contains(s.dump.steps, o.shown())
}

type fibMessages struct {
	entry      l2.L2fibAddDel
	entryReply l2.L2fibAddDelReply
}

func (FIB) messages() []api.Message {
	m := new(fibMessages)
	return []api.Message{&m.entry, &m.entryReply}
}

func (o FIB) fill(s *Session, r *request, add bool) {
	m := buffers[fibMessages](s, KindFIB)
	e := &m.entry
	e.Mac, e.BdID, e.IsAdd, e.StaticMac = toMAC(o.MAC), o.Bridge, add, add
	e.SwIfIndex = 0 // on deletion: whichever interface the entry names, a dead one included
	if add {
		e.SwIfIndex = s.swIfIndex(o.If)
	}
	r.invoke(e, &m.entryReply, &m.entryReply.Retval)
}

func (o FIB) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o FIB) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// fibDump asks for one bridge's entries; the bridge dump queues it.
var fibDump = &dump{reader: fibReader{}}

type fibReader struct{}

func (fibReader) messages() []api.Message {
	return []api.Message{&l2.L2FibTableDump{}, &l2.L2FibTableDetails{}}
}

func (fibReader) ask(_ *Session, st dumpStep, r *request) { r.dump(&l2.L2FibTableDump{BdID: st.num}) }

func (fibReader) take(s *Session, st dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*l2.L2FibTableDetails); ok && d.StaticMac && !d.BviMac {
			s.observe(FIB{Bridge: st.num, MAC: MAC(d.Mac), If: s.interfaceName(uint32(d.SwIfIndex))})
		}
	}
}
