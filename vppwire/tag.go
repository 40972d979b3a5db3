package vppwire

import (
	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
)

// Tag is an interface's tag: who owns it, for people. At most 63 bytes, no white space.
type Tag struct{ If, Text string }

// Key implements Object.
func (o Tag) Key() Key { return Key{Kind: KindTag, Name: o.If} }

// AppendNeeds implements Object.
func (o Tag) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendText implements Object: "tag loop0 vxlanBVI".
func (o Tag) AppendText(b []byte) []byte { return appendWord(b, "tag", o.If, o.Text) }

func (Tag) parse(p *words) Object { return Tag{If: p.word(), Text: p.word()} }

func (o Tag) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o Tag) ours() bool           { return ownInterface(o.If) }
func (o Tag) replaces(Object) bool { return true }
func (o Tag) shown() dumpStep      { return dumpStep{dump: interfaceDump} }

type tagMessages struct {
	tag      interfaces.SwInterfaceTagAddDel
	tagReply interfaces.SwInterfaceTagAddDelReply
}

func (Tag) messages() []api.Message {
	m := new(tagMessages)
	return []api.Message{&m.tag, &m.tagReply}
}

func (o Tag) fill(s *Session, r *request, add bool) {
	m := buffers[tagMessages](s, KindTag)
	m.tag.IsAdd, m.tag.SwIfIndex, m.tag.Tag = add, s.swIfIndex(o.If), o.Text
	r.invoke(&m.tag, &m.tagReply, &m.tagReply.Retval)
}

func (o Tag) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Tag) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

func (Tag) readInterface(d *interfaceDetails, by creation) (Object, bool) {
	return Tag{If: d.InterfaceName, Text: d.Tag}, d.Tag != "" && !by.ownTag && !by.bare
}
