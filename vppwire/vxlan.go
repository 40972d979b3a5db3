package vppwire

import "net/netip"

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

func (o VXLAN) sweptBy() (Key, bool) { return Key{}, false }
func (o VXLAN) replaces(Object) bool { return false }

func (o VXLAN) fill(s *Session, r *request, add bool) {
	m := &s.msg
	v := &m.vxlan
	v.IsAdd, v.Instance = add, o.Instance
	v.SrcAddress, v.DstAddress = toAddress(o.Src), toAddress(o.Dst)
	v.McastSwIfIndex, v.EncapVrfID, v.DecapNextIndex, v.Vni = allInterfacesIndex, o.Table, allInterfaces, o.VNI
	r.invoke("vxlan_add_del_tunnel_v3", v, &m.vxlanReply, &m.vxlanReply.Retval)
}

func (o VXLAN) write(s *Session, r *request, _ Object) {
	o.fill(s, r, true)
	r.index = &s.msg.vxlanReply.SwIfIndex
}

func (o VXLAN) erase(s *Session, r *request) bool { o.fill(s, r, false); return true }
