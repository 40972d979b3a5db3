package vppwire

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_neighbor"
)

// NeighborConfig is the ageing of dynamic neighbors of one family.
type NeighborConfig struct {
	IP6 bool
	// MaxNumber of dynamic entries, MaxAge in seconds after which they are probed; 0 is never.
	MaxNumber, MaxAge uint32
}

// Key implements Object.
func (o NeighborConfig) Key() Key { return Key{Kind: KindNeighborConfig, Num: family(o.IP6)} }

// AppendNeeds implements Object.
func (o NeighborConfig) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "neighbor-config ip4 max 50000 age 240".
func (o NeighborConfig) AppendText(b []byte) []byte {
	side := "ip4"
	if o.IP6 {
		side = "ip6"
	}
	b = appendNumber(appendWord(b, "neighbor-config", side), "max", uint64(o.MaxNumber))
	return appendNumber(b, "age", uint64(o.MaxAge))
}

func (NeighborConfig) parse(p *words) Object {
	o := NeighborConfig{IP6: p.has("ip6")}
	if !o.IP6 {
		p.expect("ip4")
	}
	o.MaxNumber, o.MaxAge = uint32(p.named("max", 32)), uint32(p.named("age", 32))
	return o
}

func (o NeighborConfig) owner() (Key, bool)   { return Key{}, false }
func (o NeighborConfig) ours() bool           { return false }
func (o NeighborConfig) replaces(Object) bool { return true }
func (o NeighborConfig) shown() dumpStep      { return dumpStep{dump: neighborConfigDump, ip6: o.IP6} }

type neighborConfigMessages struct {
	set      ip_neighbor.IPNeighborConfig
	setReply ip_neighbor.IPNeighborConfigReply
	get      ip_neighbor.IPNeighborConfigGet
	getReply ip_neighbor.IPNeighborConfigGetReply
}

func (NeighborConfig) messages() []api.Message {
	m := new(neighborConfigMessages)
	return []api.Message{&m.set, &m.setReply, &m.get, &m.getReply}
}

func (o NeighborConfig) create(s *Session, r *request, _ Object) {
	m := buffers[neighborConfigMessages](s, KindNeighborConfig)
	m.set = ip_neighbor.IPNeighborConfig{Af: addressFamily(o.IP6), MaxNumber: o.MaxNumber, MaxAge: o.MaxAge}
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

// delete: there is always some configuration; the one that stands may stay.
func (o NeighborConfig) delete(*Session, *request) bool { return false }

var neighborConfigDump = &dump{whole: true, family: true, reader: neighborConfigReader{}}

type neighborConfigReader struct{}

func (neighborConfigReader) ask(s *Session, st dumpStep, r *request) {
	m := buffers[neighborConfigMessages](s, KindNeighborConfig)
	m.get.Af = addressFamily(st.ip6)
	r.invoke(&m.get, &m.getReply, &m.getReply.Retval)
}

func (neighborConfigReader) take(s *Session, st dumpStep, _ Result) {
	c := &buffers[neighborConfigMessages](s, KindNeighborConfig).getReply
	s.observe(NeighborConfig{IP6: st.ip6, MaxNumber: c.MaxNumber, MaxAge: c.MaxAge})
}
