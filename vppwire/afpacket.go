package vppwire

import (
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
)

// AFPacket is an AF_PACKET interface on a Linux device of the host's namespace.
type AFPacket struct {
	// Device is the Linux device, at most linkname.Max bytes: deletion goes by this name.
	Device string
	MAC    MAC
	// Shared: many pods are behind it, so it has room for more frames. A dump does not tell.
	Shared bool
}

const afPacketPrefix = "host-"

// AFPacketName is the VPP name of the AF_PACKET interface on a Linux device.
func AFPacketName(device string) string { return afPacketPrefix + device }

// Key implements Object.
func (o AFPacket) Key() Key { return Key{Kind: KindAFPacket, Name: AFPacketName(o.Device)} }

// AppendNeeds implements Object: the veth whose host end it sits on.
func (o AFPacket) AppendNeeds(keys []Key) []Key {
	return append(keys, Key{Kind: KindVeth, Name: o.Device})
}

// AppendText implements Object: "af-packet host-vd0123456789ab mac 02:fe:00:00:00:01", "… mac 02:38:00:00:00:01
// shared".
func (o AFPacket) AppendText(b []byte) []byte {
	b = append(b, "af-packet host-"...)
	b = append(b, o.Device...)
	b = append(b, " mac "...)
	b = o.MAC.AppendText(b)
	if o.Shared {
		b = append(b, " shared"...)
	}
	return b
}

func (AFPacket) parse(p *words) Object {
	w := p.word()
	o := AFPacket{Device: strings.TrimPrefix(w, afPacketPrefix)}
	if o.Device == "" || afPacketPrefix+o.Device != w {
		p.fail("%q is not %s and a device", w, afPacketPrefix)
	}
	p.expect("mac")
	o.MAC, o.Shared = p.mac(), p.has("shared")
	return o
}

// like: a dump does not tell how large the rings are.
func (o AFPacket) like(found Object) bool {
	f, ok := found.(AFPacket)
	return ok && o.Device == f.Device && o.MAC == f.MAC
}

func (o AFPacket) owner() (Key, bool)   { return Key{}, false }
func (o AFPacket) ours() bool           { return true }
func (o AFPacket) replaces(Object) bool { return false }
func (o AFPacket) shown() dumpStep      { return dumpStep{dump: afPacketDump} }

// lowers: an interface that goes is set down first.
func (o AFPacket) lowers() (Key, bool) { return linkKey("", o.Device), true }

func (AFPacket) oursByName(name string) bool {
	return ownDevice(strings.TrimPrefix(name, afPacketPrefix))
}

// Rings of an AF_PACKET interface. 25.10's own default is a TX ring of 1024 frames of 66 KB, for segmentation offload,
// which is off on our links, and 10 MB for RX: 79 MB a pod. These are 5 MB, and a frame holds the largest MTU that can
// be configured. One that pods share has room for a burst of all of them: 20 MB.
const (
	afPacketRxFrames = 8
	afPacketTxFrame  = 10240
	afPacketTxFrames = 256
	sharedRxFrames   = 32
	sharedTxFrames   = 1024
)

type afPacketMessages struct {
	create      af_packet.AfPacketCreateV3
	createReply af_packet.AfPacketCreateV3Reply
	remove      af_packet.AfPacketDelete
	removeReply af_packet.AfPacketDeleteReply
}

func (AFPacket) messages() []api.Message {
	m := new(afPacketMessages)
	return []api.Message{&m.create, &m.createReply, &m.remove, &m.removeReply}
}

func (o AFPacket) create(s *Session, r *request, _ Object) {
	m := buffers[afPacketMessages](s, KindAFPacket)
	c := &m.create
	c.Mode, c.HwAddr, c.UseRandomHwAddr = af_packet.AF_PACKET_API_MODE_ETHERNET, toMAC(o.MAC), false
	c.HostIfName, c.NumRxQueues, c.NumTxQueues = o.Device, 1, 1
	c.RxFramesPerBlock, c.TxFrameSize, c.TxFramesPerBlock = afPacketRxFrames, afPacketTxFrame, afPacketTxFrames
	if o.Shared {
		c.RxFramesPerBlock, c.TxFramesPerBlock = sharedRxFrames, sharedTxFrames
	}
	r.invoke(c, &m.createReply, &m.createReply.Retval)
	r.number = (*uint32)(&m.createReply.SwIfIndex)
}

func (o AFPacket) delete(s *Session, r *request) bool {
	m := buffers[afPacketMessages](s, KindAFPacket)
	m.remove.HostIfName = o.Device
	r.invoke(&m.remove, &m.removeReply, &m.removeReply.Retval)
	return true
}

var afPacketDump = &dump{whole: true, reader: afPacketReader{}}

type afPacketReader struct{}

func (afPacketReader) messages() []api.Message {
	return []api.Message{&af_packet.AfPacketDump{}, &af_packet.AfPacketDetails{}}
}

func (afPacketReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&af_packet.AfPacketDump{}) }

func (afPacketReader) take(s *Session, _ dumpStep, res Result) {
	s.packets = len(res.shown.details)
	for _, m := range res.shown.details {
		if d, ok := m.(*af_packet.AfPacketDetails); ok && ownDevice(d.HostIfName) {
			s.observe(AFPacket{Device: d.HostIfName, MAC: s.dump.macs[AFPacketName(d.HostIfName)]})
		}
	}
}
