package vppwire

import (
	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
)

// HardwareAddress sets a MAC on an interface that was not created with one by us.
type HardwareAddress struct {
	If  string
	MAC MAC
}

// Key implements Object.
func (o HardwareAddress) Key() Key { return Key{Kind: KindMAC, Name: o.If} }

// AppendNeeds implements Object.
func (o HardwareAddress) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendText implements Object: "mac GigabitEthernet0/8/0 02:00:00:00:00:01".
func (o HardwareAddress) AppendText(b []byte) []byte {
	return o.MAC.AppendText(append(appendWord(b, "mac", o.If), ' '))
}

func (HardwareAddress) parse(p *words) Object { return HardwareAddress{If: p.word(), MAC: p.mac()} }

func (o HardwareAddress) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o HardwareAddress) ours() bool           { return false }
func (o HardwareAddress) replaces(Object) bool { return true }
func (o HardwareAddress) shown() dumpStep      { return dumpStep{dump: interfaceDump} }

type macMessages struct {
	mac      interfaces.SwInterfaceSetMacAddress
	macReply interfaces.SwInterfaceSetMacAddressReply
}

func (HardwareAddress) messages() []api.Message {
	m := new(macMessages)
	return []api.Message{&m.mac, &m.macReply}
}

func (o HardwareAddress) create(s *Session, r *request, _ Object) {
	m := buffers[macMessages](s, KindMAC)
	m.mac.SwIfIndex, m.mac.MacAddress = s.swIfIndex(o.If), toMAC(o.MAC)
	r.invoke(&m.mac, &m.macReply, &m.macReply.Retval)
}

// delete: an interface always has some MAC; the one it has may stay.
func (o HardwareAddress) delete(*Session, *request) bool { return false }

func (HardwareAddress) readInterface(d *interfaceDetails, by creation) (Object, bool) {
	return HardwareAddress{If: d.InterfaceName, MAC: MAC(d.L2Address)}, !by.bare
}
