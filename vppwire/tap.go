package vppwire

import (
	"strconv"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/tapv2"
)

// Tap is a tap v2 interface with its Linux device, which VPP creates inside the namespace.
type Tap struct {
	ID  uint32
	MAC MAC
	// Host is the Linux device's name (at most linkname.Max bytes), Netns where it lives (empty: the host's own
	// namespace).
	Host, Netns string
	HostMAC     MAC
	// HostMTU in bytes; 0 leaves the kernel's.
	HostMTU uint32
	// RxRing and TxRing are powers of two up to 32768; 0 stands for VPP's 256 and never appears in a dump.
	RxRing, TxRing uint16
	// Tag names the owner; at most 63 bytes, no white space.
	Tag string
}

const tapPrefix = "tap"

// TapName is the VPP name of tap id.
func TapName(id uint32) string { return tapPrefix + strconv.FormatUint(uint64(id), 10) }

// Key implements Object.
func (o Tap) Key() Key { return Key{Kind: KindTap, Name: TapName(o.ID)} }

// AppendNeeds implements Object.
func (o Tap) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "tap tap9 mac … host eth0 netns … hostmac … hostmtu 1450 rx 256 tx 256 tag
// pod/default/web-0".
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

func (Tap) parse(p *words) Object {
	o := Tap{ID: p.numbered(tapPrefix)}
	p.expect("mac")
	o.MAC = p.mac()
	p.expect("host")
	o.Host = p.word()
	if p.has("netns") {
		o.Netns = p.word()
	}
	p.expect("hostmac")
	o.HostMAC = p.mac()
	o.HostMTU = uint32(p.named("hostmtu", 32))
	o.RxRing, o.TxRing = uint16(p.named("rx", 16)), uint16(p.named("tx", 16))
	if p.has("tag") {
		o.Tag = p.word()
	}
	return o
}

func (o Tap) owner() (Key, bool)   { return Key{}, false }
func (o Tap) ours() bool           { return true }
func (o Tap) replaces(Object) bool { return false }
func (o Tap) shown() dumpStep      { return dumpStep{dump: tapDump} }
func (o Tap) farNetns() string     { return o.Netns }
func (o Tap) takes() [2]Key        { return [2]Key{linkKey(o.Netns, o.Host)} }

type tapMessages struct {
	create      tapv2.TapCreateV3
	createReply tapv2.TapCreateV3Reply
	remove      tapv2.TapDeleteV2
	removeReply tapv2.TapDeleteV2Reply
}

func (Tap) messages() []api.Message {
	m := new(tapMessages)
	return []api.Message{&m.create, &m.createReply, &m.remove, &m.removeReply}
}

func (o Tap) create(s *Session, r *request, _ Object) {
	m := buffers[tapMessages](s, KindTap)
	t := &m.create
	t.ID, t.UseRandomMac, t.MacAddress = o.ID, false, toMAC(o.MAC)
	t.NumRxQueues, t.NumTxQueues, t.RxRingSz, t.TxRingSz = 1, 1, o.RxRing, o.TxRing
	t.HostMtuSet, t.HostMtuSize = o.HostMTU != 0, o.HostMTU
	t.HostMacAddrSet, t.HostMacAddr = o.HostMAC != (MAC{}), toMAC(o.HostMAC)
	t.HostNamespaceSet, t.HostNamespace = o.Netns != "", o.Netns
	t.HostIfNameSet, t.HostIfName = true, o.Host
	t.Tag = o.Tag
	r.invoke(t, &m.createReply, &m.createReply.Retval)
	r.number = (*uint32)(&m.createReply.SwIfIndex)
}

func (o Tap) delete(s *Session, r *request) bool {
	m := buffers[tapMessages](s, KindTap)
	m.remove.SwIfIndex = s.swIfIndex(TapName(o.ID))
	r.invoke(&m.remove, &m.removeReply, &m.removeReply.Retval)
	return true
}

var tapDump = &dump{whole: true, reader: tapReader{}}

type tapReader struct{}

func (tapReader) messages() []api.Message {
	return []api.Message{&tapv2.SwInterfaceTapV2Dump{}, &tapv2.SwInterfaceTapV2Details{}}
}

func (tapReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&tapv2.SwInterfaceTapV2Dump{SwIfIndex: allInterfacesIndex})
}

func (tapReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*tapv2.SwInterfaceTapV2Details)
		if !ok {
			continue
		}
		name := TapName(d.ID)
		s.observe(Tap{
			ID: d.ID, MAC: s.dump.macs[name], Host: d.HostIfName, Netns: d.HostNamespace, HostMAC: MAC(d.HostMacAddr),
			HostMTU: d.HostMtuSize, RxRing: d.RxRingSz, TxRing: d.TxRingSz, Tag: s.dump.tags[name],
		})
	}
}
