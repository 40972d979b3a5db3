package vppwire

import "strconv"

// Loopback is a loopback interface. Its MAC is given at creation, before it can become a bridge's virtual interface.
type Loopback struct {
	Instance uint32
	MAC      MAC
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

func (o Loopback) sweptBy() (Key, bool) { return Key{}, false }
func (o Loopback) replaces(Object) bool { return false }

func (o Loopback) write(s *Session, r *request, _ Object) {
	m := &s.msg
	m.loopback.MacAddress, m.loopback.IsSpecified, m.loopback.UserInstance = toMAC(o.MAC), true, o.Instance
	r.invoke("create_loopback_instance", &m.loopback, &m.loopbackReply, &m.loopbackReply.Retval)
	r.index = &m.loopbackReply.SwIfIndex
}

func (o Loopback) erase(s *Session, r *request) bool {
	m := &s.msg
	m.loopbackDel.SwIfIndex = s.swIfIndex(LoopbackName(o.Instance))
	r.invoke("delete_loopback", &m.loopbackDel, &m.loopbackDelRep, &m.loopbackDelRep.Retval)
	return true
}

// AFPacket is an AF_PACKET interface on a Linux device of the host's namespace.
type AFPacket struct {
	// Device is the Linux device, at most 15 bytes: deletion goes by this name.
	Device string
	MAC    MAC
}

// Key implements Object.
func (o AFPacket) Key() Key { return Key{Kind: KindAFPacket, Name: AFPacketName(o.Device)} }

// AppendNeeds implements Object: the veth whose host end it sits on.
func (o AFPacket) AppendNeeds(keys []Key) []Key {
	return append(keys, Key{Kind: KindVeth, Name: o.Device})
}

// AppendText implements Object: "af-packet host-vd0123456789ab mac 02:fe:00:00:00:01".
func (o AFPacket) AppendText(b []byte) []byte {
	b = append(b, "af-packet host-"...)
	b = append(b, o.Device...)
	b = append(b, " mac "...)
	return o.MAC.AppendText(b)
}

func (o AFPacket) sweptBy() (Key, bool) { return Key{}, false }
func (o AFPacket) replaces(Object) bool { return false }

// Rings of an AF_PACKET interface. 25.10's own default is a TX ring of 1024 frames of 66 KB, for segmentation offload, which is
// off on our links, and 10 MB for RX: 79 MB a pod. These are 5 MB, and a frame holds the largest MTU that can be configured.
const (
	afPacketRxFrames = 8
	afPacketTxFrame  = 10240
	afPacketTxFrames = 256
)

func (o AFPacket) write(s *Session, r *request, _ Object) {
	m := &s.msg
	m.afPacket.Mode, m.afPacket.HwAddr, m.afPacket.UseRandomHwAddr = 1, toMAC(o.MAC), false // AF_PACKET_API_MODE_ETHERNET
	m.afPacket.HostIfName, m.afPacket.NumRxQueues, m.afPacket.NumTxQueues = o.Device, 1, 1
	m.afPacket.RxFramesPerBlock, m.afPacket.TxFrameSize, m.afPacket.TxFramesPerBlock = afPacketRxFrames, afPacketTxFrame, afPacketTxFrames
	r.invoke("af_packet_create_v3", &m.afPacket, &m.afPacketReply, &m.afPacketReply.Retval)
	r.index = &m.afPacketReply.SwIfIndex
}

func (o AFPacket) erase(s *Session, r *request) bool {
	m := &s.msg
	m.afPacketDel.HostIfName = o.Device
	r.invoke("af_packet_delete", &m.afPacketDel, &m.afPacketDelRep, &m.afPacketDelRep.Retval)
	return true
}

// Tap is a tap v2 interface with its Linux device, which VPP creates inside the namespace.
type Tap struct {
	ID  uint32
	MAC MAC
	// Host is the Linux device's name (at most 15 bytes), Netns where it lives (empty: the host's own namespace).
	Host, Netns string
	HostMAC     MAC
	// HostMTU in bytes; 0 leaves the kernel's.
	HostMTU uint32
	// RxRing and TxRing are powers of two up to 32768; 0 stands for VPP's 256 and never appears in a dump.
	RxRing, TxRing uint16
	// Tag names the owner; at most 63 bytes, no white space.
	Tag string
}

// Key implements Object.
func (o Tap) Key() Key { return Key{Kind: KindTap, Name: TapName(o.ID)} }

// AppendNeeds implements Object.
func (o Tap) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object.
func (o Tap) AppendText(b []byte) []byte {
	b = appendWord(b, "tap", TapName(o.ID), "mac ")
	b = o.MAC.AppendText(b)
	b = appendWord(b, " host", o.Host)
	if o.Netns != "" {
		b = appendWord(b, " netns", o.Netns)
	}
	b = append(b, " hostmac "...)
	b = o.HostMAC.AppendText(b)
	b = appendNumber(b, "hostmtu", uint64(o.HostMTU))
	b = appendNumber(b, "rx", uint64(o.RxRing))
	b = appendNumber(b, "tx", uint64(o.TxRing))
	if o.Tag != "" {
		b = appendWord(b, " tag", o.Tag)
	}
	return b
}

func (o Tap) sweptBy() (Key, bool) { return Key{}, false }
func (o Tap) replaces(Object) bool { return false }

func (o Tap) write(s *Session, r *request, _ Object) {
	m := &s.msg
	t := &m.tap
	t.ID, t.UseRandomMac, t.MacAddress = o.ID, false, toMAC(o.MAC)
	t.NumRxQueues, t.NumTxQueues, t.RxRingSz, t.TxRingSz = 1, 1, o.RxRing, o.TxRing
	t.HostMtuSet, t.HostMtuSize = o.HostMTU != 0, o.HostMTU
	t.HostMacAddrSet, t.HostMacAddr = o.HostMAC != (MAC{}), toMAC(o.HostMAC)
	t.HostNamespaceSet, t.HostNamespace = o.Netns != "", o.Netns
	t.HostIfNameSet, t.HostIfName = true, o.Host
	t.Tag = o.Tag
	r.invoke("tap_create_v3", t, &m.tapReply, &m.tapReply.Retval)
	r.index = &m.tapReply.SwIfIndex
}

func (o Tap) erase(s *Session, r *request) bool {
	m := &s.msg
	m.tapDel.SwIfIndex = s.swIfIndex(TapName(o.ID))
	r.invoke("tap_delete_v2", &m.tapDel, &m.tapDelReply, &m.tapDelReply.Retval)
	return true
}

func appendInterfaceNumber(b []byte, kind, name string, n uint64) []byte {
	b = appendWord(b, kind, name)
	b = append(b, ' ')
	return strconv.AppendUint(b, n, 10)
}
