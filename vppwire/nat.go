package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/nat44_ed"
)

// NAT is VPP's plugin NAT44-ED, switched on. It looks for what comes from inside in Table, where packets leave for
// outside too.
type NAT struct {
	Table uint32
	// Sessions is the most that VPP keeps, for each thread; not 0. Beyond it the idlest session makes room.
	Sessions uint32
}

// natPlugin is VPP's name of the plugin that has NAT44-ED.
const natPlugin = "nat"

func natKey() Key { return Key{Kind: KindNAT} }

// Key implements Object: there is one.
func (o NAT) Key() Key { return natKey() }

// AppendNeeds implements Object.
func (o NAT) AppendNeeds(keys []Key) []Key { return needTable(keys, o.Table, false) }

// AppendText implements Object: "nat table 0 sessions 65536".
func (o NAT) AppendText(b []byte) []byte {
	return appendNumber(appendNumber(append(b, "nat"...), "table", uint64(o.Table)), "sessions", uint64(o.Sessions))
}

func (NAT) parse(p *words) Object {
	o := NAT{Table: uint32(p.named("table", 32)), Sessions: uint32(p.named("sessions", 32))}
	if p.err == nil && o.Sessions == 0 {
		p.fail("no sessions is VPP's default, not none")
	}
	return o
}

func (o NAT) owner() (Key, bool)   { return Key{}, false }
func (o NAT) ours() bool           { return true }
func (o NAT) replaces(Object) bool { return false }
func (o NAT) shown() dumpStep      { return dumpStep{dump: natDump} }

type natMessages struct {
	enable      nat44_ed.Nat44EdPluginEnableDisable
	enableReply nat44_ed.Nat44EdPluginEnableDisableReply
	get         nat44_ed.Nat44ShowRunningConfig
	getReply    nat44_ed.Nat44ShowRunningConfigReply
}

func (NAT) messages() []api.Message {
	m := new(natMessages)
	return []api.Message{&m.enable, &m.enableReply, &m.get, &m.getReply}
}

func (o NAT) create(s *Session, r *request, _ Object) {
	m := buffers[natMessages](s, KindNAT)
	m.enable = nat44_ed.Nat44EdPluginEnableDisable{InsideVrf: o.Table, OutsideVrf: o.Table, Sessions: o.Sessions, Enable: true}
	r.invoke(&m.enable, &m.enableReply, &m.enableReply.Retval)
}

func (o NAT) delete(s *Session, r *request) bool {
	m := buffers[natMessages](s, KindNAT)
	m.enable = nat44_ed.Nat44EdPluginEnableDisable{}
	r.invoke(&m.enable, &m.enableReply, &m.enableReply.Retval)
	return true
}

// natDump asks how the plugin is configured, and, where it is on, has everything else of it looked at.
var natDump = &dump{whole: true, reader: natReader{}}

type natReader struct{}

func (natReader) void(*Session, dumpStep) bool { return false }

// gone: a VPP without the plugin has nothing of it.
func (natReader) gone(err error) bool { return unknownMessage(err) }

func (natReader) ask(s *Session, _ dumpStep, r *request) {
	m := buffers[natMessages](s, KindNAT)
	m.getReply = nat44_ed.Nat44ShowRunningConfigReply{}
	r.invoke(&m.get, &m.getReply, &m.getReply.Retval)
}

func (natReader) take(s *Session, _ dumpStep, _ Result) {
	c := &buffers[natMessages](s, KindNAT).getReply
	if c.Sessions == 0 { // off, whatever else it says
		return
	}
	s.observe(NAT{Table: c.InsideVrf, Sessions: c.Sessions})
	t := c.Timeouts
	s.observe(NATTimeouts{UDP: t.UDP, TCPEstablished: t.TCPEstablished, TCPTransitory: t.TCPTransitory, ICMP: t.ICMP})
	if c.ForwardingEnabled {
		s.observe(NATForwarding{})
	}
	for _, d := range [...]*dump{natAddressDump, natInterfaceDump, natOutputDump, identityDump, serviceDump} {
		s.dump.push(dumpStep{dump: d})
	}
}

// natDependent is of kinds that are there only while the plugin is on, and whose own dumps are made only then.
type natDependent struct{}

// lapses: with the plugin, whose dump has queued nothing further.
func (natDependent) lapses(s *Session, st dumpStep) bool {
	return st.dump == natDump && buffers[natMessages](s, KindNAT).getReply.Sessions == 0
}

// NATForwarding lets packets pass that nothing translates.
type NATForwarding struct{}

// Key implements Object.
func (NATForwarding) Key() Key { return Key{Kind: KindNATForwarding} }

// AppendNeeds implements Object.
func (NATForwarding) AppendNeeds(keys []Key) []Key { return append(keys, natKey()) }

// AppendText implements Object: "nat-forwarding".
func (NATForwarding) AppendText(b []byte) []byte { return append(b, "nat-forwarding"...) }

func (NATForwarding) parse(*words) Object  { return NATForwarding{} }
func (NATForwarding) owner() (Key, bool)   { return natKey(), true }
func (NATForwarding) ours() bool           { return true }
func (NATForwarding) replaces(Object) bool { return false }
func (NATForwarding) shown() dumpStep      { return dumpStep{dump: natDump} }

type natForwardingMessages struct {
	set      nat44_ed.Nat44ForwardingEnableDisable
	setReply nat44_ed.Nat44ForwardingEnableDisableReply
}

func (NATForwarding) messages() []api.Message {
	m := new(natForwardingMessages)
	return []api.Message{&m.set, &m.setReply}
}

func (NATForwarding) fill(s *Session, r *request, enable bool) {
	m := buffers[natForwardingMessages](s, KindNATForwarding)
	m.set.Enable = enable
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

func (o NATForwarding) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o NATForwarding) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }
