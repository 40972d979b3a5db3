package vppwire

import (
	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
)

// MTU is an interface's layer 3 MTU in bytes, all protocols.
type MTU struct {
	If    string
	Bytes uint32
}

// Key implements Object.
func (o MTU) Key() Key { return Key{Kind: KindMTU, Name: o.If} }

// AppendNeeds implements Object.
func (o MTU) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendText implements Object: "mtu tap0 1450".
func (o MTU) AppendText(b []byte) []byte {
	return appendUint(append(appendWord(b, "mtu", o.If), ' '), o.Bytes)
}

func (MTU) parse(p *words) Object { return MTU{If: p.word(), Bytes: uint32(p.number(32))} }

func (o MTU) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o MTU) ours() bool           { return ownInterface(o.If) }
func (o MTU) replaces(Object) bool { return true }
func (o MTU) shown() dumpStep      { return dumpStep{dump: interfaceDump} }

type mtuMessages struct {
	mtu      interfaces.SwInterfaceSetMtu
	mtuReply interfaces.SwInterfaceSetMtuReply
}

func (MTU) messages() []api.Message {
	m := new(mtuMessages)
	return []api.Message{&m.mtu, &m.mtuReply}
}

func (o MTU) create(s *Session, r *request, _ Object) {
	m := buffers[mtuMessages](s, KindMTU)
	if m.mtu.Mtu == nil {
		m.mtu.Mtu = make([]uint32, 4) // L3, IPv4, IPv6, MPLS; 0 for a protocol stands for "as L3"
	}
	m.mtu.SwIfIndex, m.mtu.Mtu[0] = s.swIfIndex(o.If), o.Bytes
	r.invoke(&m.mtu, &m.mtuReply, &m.mtuReply.Retval)
}

// delete: an interface always has some MTU; the one it has may stay.
func (o MTU) delete(*Session, *request) bool { return false }

func (MTU) readInterface(d *interfaceDetails, by creation) (Object, bool) {
	if len(d.Mtu) == 0 || d.Mtu[0] == 0 || by.bare {
		return nil, false
	}
	return MTU{If: d.InterfaceName, Bytes: d.Mtu[0]}, true
}
