package vppwire

import (
	"net/netip"
	"strconv"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/vxlan"
)

// VXLAN is a VXLAN tunnel on the standard port. VPP cannot change one: a new source or destination makes a new tunnel.
type VXLAN struct {
	Instance uint32
	// Src and Dst differ and are of one family.
	Src, Dst netip.Addr
	// VNI is 0 to 16777215.
	VNI uint32
	// Table is where the outer packet is looked up.
	Table uint32
}

const vxlanPrefix = "vxlan_tunnel"

// VXLANName is the VPP name of VXLAN tunnel instance.
func VXLANName(instance uint32) string { return vxlanPrefix + strconv.FormatUint(uint64(instance), 10) }

// Key implements Object.
func (o VXLAN) Key() Key { return Key{Kind: KindVXLAN, Name: VXLANName(o.Instance)} }

// AppendNeeds implements Object.
func (o VXLAN) AppendNeeds(keys []Key) []Key { return needTable(keys, o.Table, o.Src.Is6()) }

// AppendText implements Object: "vxlan vxlan_tunnel2 src 192.168.16.1 dst 192.168.16.2 vni 10 table 0".
func (o VXLAN) AppendText(b []byte) []byte {
	b = append(b, "vxlan vxlan_tunnel"...)
	b = appendUint(b, o.Instance)
	b = append(b, " src "...)
	b = o.Src.AppendTo(b)
	b = append(b, " dst "...)
	b = o.Dst.AppendTo(b)
	b = appendNumber(b, "vni", uint64(o.VNI))
	return appendNumber(b, "table", uint64(o.Table))
}

func (VXLAN) parse(p *words) Object {
	o := VXLAN{Instance: p.numbered(vxlanPrefix)}
	p.expect("src")
	o.Src = p.addr()
	p.expect("dst")
	o.Dst = p.addr()
	o.VNI, o.Table = uint32(p.named("vni", 24)), uint32(p.named("table", 32))
	return o
}

func (o VXLAN) owner() (Key, bool)   { return Key{}, false }
func (o VXLAN) ours() bool           { return true }
func (o VXLAN) replaces(Object) bool { return false }
func (o VXLAN) shown() dumpStep      { return dumpStep{dump: vxlanDump} }

// brings: VPP brings a new VXLAN tunnel up by itself (25.10, src/plugins/vxlan).
func (o VXLAN) brings() Object { return Up{If: VXLANName(o.Instance)} }

type vxlanMessages struct {
	tunnel      vxlan.VxlanAddDelTunnelV3
	tunnelReply vxlan.VxlanAddDelTunnelV3Reply
}

func (VXLAN) messages() []api.Message {
	m := new(vxlanMessages)
	return []api.Message{&m.tunnel, &m.tunnelReply}
}

func (o VXLAN) fill(s *Session, r *request, add bool) *vxlanMessages {
	m := buffers[vxlanMessages](s, KindVXLAN)
	v := &m.tunnel
	v.IsAdd, v.Instance = add, o.Instance
	v.SrcAddress, v.DstAddress = toAddress(o.Src), toAddress(o.Dst)
	v.McastSwIfIndex, v.EncapVrfID, v.DecapNextIndex, v.Vni = allInterfacesIndex, o.Table, allInterfaces, o.VNI
	r.invoke(v, &m.tunnelReply, &m.tunnelReply.Retval)
	return m
}

func (o VXLAN) create(s *Session, r *request, _ Object) {
	r.number = (*uint32)(&o.fill(s, r, true).tunnelReply.SwIfIndex)
}

func (o VXLAN) delete(s *Session, r *request) bool { o.fill(s, r, false); return true }

var vxlanDump = &dump{whole: true, reader: vxlanReader{}}

type vxlanReader struct{}

func (vxlanReader) messages() []api.Message {
	return []api.Message{&vxlan.VxlanTunnelV2Dump{}, &vxlan.VxlanTunnelV2Details{}}
}

func (vxlanReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&vxlan.VxlanTunnelV2Dump{SwIfIndex: allInterfacesIndex})
}

func (vxlanReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*vxlan.VxlanTunnelV2Details); ok {
			s.observe(VXLAN{Instance: d.Instance, Src: fromAddress(d.SrcAddress), Dst: fromAddress(d.DstAddress), VNI: d.Vni, Table: d.EncapVrfID})
		}
	}
}
