package vppwire

import (
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
)

// Loopback is a loopback interface. Its MAC is given at creation, before it can become a bridge's virtual interface.
type Loopback struct {
	Instance uint32
	MAC      MAC
}

const loopbackPrefix = "loop"

// LoopbackName is the VPP name of loopback instance.
func LoopbackName(instance uint32) string {
	return loopbackPrefix + strconv.FormatUint(uint64(instance), 10)
}

// Key implements Object.
func (o Loopback) Key() Key { return Key{Kind: KindLoopback, Name: LoopbackName(o.Instance)} }

// AppendNeeds implements Object.
func (o Loopback) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "loopback loop0 mac 12:2b:00:00:00:01".
func (o Loopback) AppendText(b []byte) []byte {
	b = appendWord(b, "loopback", LoopbackName(o.Instance), "mac ")
	return o.MAC.AppendText(b)
}

func (Loopback) parse(p *words) Object {
	o := Loopback{Instance: p.numbered(loopbackPrefix)}
	p.expect("mac")
	o.MAC = p.mac()
	return o
}

func (o Loopback) owner() (Key, bool)   { return Key{}, false }
func (o Loopback) ours() bool           { return true }
func (o Loopback) replaces(Object) bool { return false }
func (o Loopback) shown() dumpStep      { return dumpStep{dump: interfaceDump} }

type loopbackMessages struct {
	create      interfaces.CreateLoopbackInstance
	createReply interfaces.CreateLoopbackInstanceReply
	remove      interfaces.DeleteLoopback
	removeReply interfaces.DeleteLoopbackReply
}

func (Loopback) messages() []api.Message {
	m := new(loopbackMessages)
	return []api.Message{&m.create, &m.createReply, &m.remove, &m.removeReply}
}

func (o Loopback) create(s *Session, r *request, _ Object) {
	m := buffers[loopbackMessages](s, KindLoopback)
	m.create.MacAddress, m.create.IsSpecified, m.create.UserInstance = toMAC(o.MAC), true, o.Instance
	r.invoke(&m.create, &m.createReply, &m.createReply.Retval)
	r.number = (*uint32)(&m.createReply.SwIfIndex)
}

func (o Loopback) delete(s *Session, r *request) bool {
	m := buffers[loopbackMessages](s, KindLoopback)
	m.remove.SwIfIndex = s.swIfIndex(LoopbackName(o.Instance))
	r.invoke(&m.remove, &m.removeReply, &m.removeReply.Retval)
	return true
}

func (Loopback) readInterface(d *interfaceDetails, _ creation) (Object, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(d.InterfaceName, loopbackPrefix), 10, 32)
	return Loopback{Instance: uint32(n), MAC: MAC(d.L2Address)}, err == nil && strings.HasPrefix(d.InterfaceName, loopbackPrefix)
}
