package vppwire

import (
	"strings"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
)

// Up says that an interface is administratively up. Without it the interface is left as it is, which is down when new.
type Up struct {
	If string
	// IP6 tells the family in which a shared interface is guarded first; Both: in the other one as well.
	IP6, Both bool
	// Filtered: the interface is up only while it has its ACLs.
	Filtered bool
}

// Key implements Object.
func (o Up) Key() Key { return Key{Kind: KindUp, Name: o.If} }

// AppendNeeds implements Object. An interface that many pods share is up only while it is guarded.
func (o Up) AppendNeeds(keys []Key) []Key {
	keys = needInterface(keys, o.If)
	if o.If == AFPacketName(TrunkVPPDevice) {
		keys = append(keys, guardKey(o.If, o.IP6))
		if o.Both {
			keys = append(keys, guardKey(o.If, !o.IP6))
		}
	}
	if o.Filtered {
		keys = append(keys, aclListKey(o.If))
	}
	return keys
}

// AppendText implements Object: "up loop0", with " ip6", " both" and " filtered" behind.
func (o Up) AppendText(b []byte) []byte {
	b = appendWord(b, "up", o.If)
	if o.IP6 {
		b = append(b, " ip6"...)
	}
	if o.Both {
		b = append(b, " both"...)
	}
	if o.Filtered {
		b = append(b, " filtered"...)
	}
	return b
}

func (Up) parse(p *words) Object {
	return Up{If: p.word(), IP6: p.has("ip6"), Both: p.has("both"), Filtered: p.has("filtered")}
}

func (o Up) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o Up) ours() bool           { return ownInterface(o.If) }
func (o Up) replaces(Object) bool { return true }
func (o Up) shown() dumpStep      { return dumpStep{dump: interfaceDump} }

// like: guards and ACLs have dumps of their own.
func (o Up) like(found Object) bool {
	_, ok := found.(Up)
	return ok
}

// lowers: VPP sets the device below an AF_PACKET interface down together with the interface
// (src/plugins/af_packet/device.c).
func (o Up) lowers() (Key, bool) {
	device, ok := strings.CutPrefix(o.If, afPacketPrefix)
	return linkKey("", device), ok
}

type upMessages struct {
	flags      interfaces.SwInterfaceSetFlags
	flagsReply interfaces.SwInterfaceSetFlagsReply
}

func (Up) messages() []api.Message {
	m := new(upMessages)
	return []api.Message{&m.flags, &m.flagsReply}
}

func (o Up) fill(s *Session, r *request, flags interface_types.IfStatusFlags) {
	m := buffers[upMessages](s, KindUp)
	m.flags.SwIfIndex, m.flags.Flags = s.swIfIndex(o.If), flags
	r.invoke(&m.flags, &m.flagsReply, &m.flagsReply.Retval)
}

func (o Up) create(s *Session, r *request, _ Object) {
	o.fill(s, r, interface_types.IF_STATUS_API_FLAG_ADMIN_UP)
}

func (o Up) delete(s *Session, r *request) bool { o.fill(s, r, 0); return true }

func (Up) readInterface(d *interfaceDetails, _ creation) (Object, bool) {
	return Up{If: d.InterfaceName}, d.Flags&interface_types.IF_STATUS_API_FLAG_ADMIN_UP != 0
}
