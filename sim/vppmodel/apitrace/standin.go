package apitrace

import (
	"reflect"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/ethernet_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memif"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"
)

// lastLoopback is the greatest number that VPP takes for a loopback (src/vnet/ethernet/interface.c, LOOPBACK_MAX_INSTANCE): stand-ins are
// numbered from there downwards, as nobody else is.
const lastLoopback = 16*1024 - 1

type index = interface_types.InterfaceIndex

// standIn appends what lets another machine's VPP have what this one got by a request.
func (t *Trace) standIn(request, reply api.Message) {
	switch m := request.(type) {
	case *tapv2.TapCreateV3:
		t.loopback(uint32(reply.(*tapv2.TapCreateV3Reply).SwIfIndex))
	case *af_packet.AfPacketCreateV3:
		at := uint32(reply.(*af_packet.AfPacketCreateV3Reply).SwIfIndex)
		t.below[m.HostIfName] = at
		t.loopback(at)
	case *memif.MemifSocketFilenameAddDelV2, *memif.MemifSocketFilenameAddDel: // the folder is this machine's
	case *memif.MemifCreateV2:
		t.loopback(uint32(reply.(*memif.MemifCreateV2Reply).SwIfIndex))
	case *memif.MemifCreate:
		t.loopback(uint32(reply.(*memif.MemifCreateReply).SwIfIndex))
	case *memif.MemifDelete:
		t.goes(uint32(m.SwIfIndex))
	case *tapv2.TapDeleteV2:
		t.goes(uint32(m.SwIfIndex))
	case *af_packet.AfPacketDelete:
		t.goes(t.below[m.HostIfName])
	case *interfaces.HwInterfaceSetMtu:
		if !t.stood[uint32(m.SwIfIndex)] { // a loopback's is fixed
			t.put(m)
		}
	case *interfaces.CreateLoopback:
		t.put(&interfaces.CreateLoopback{MacAddress: t.mac(uint32(reply.(*interfaces.CreateLoopbackReply).SwIfIndex))})
	case *interfaces.CreateLoopbackInstance:
		with := *m
		with.MacAddress = t.mac(uint32(reply.(*interfaces.CreateLoopbackInstanceReply).SwIfIndex))
		t.put(&with)
	case *vxlan.VxlanAddDelTunnelV3:
		t.put(m)
		if at := reply.(*vxlan.VxlanAddDelTunnelV3Reply).SwIfIndex; m.IsAdd && t.mac(uint32(at)) != (ethernet_types.MacAddress{}) {
			t.put(&interfaces.SwInterfaceSetMacAddress{SwIfIndex: at, MacAddress: t.mac(uint32(at))})
		}
	case *l2.BridgeDomainAddDelV2:
		with := *m
		with.BdID = reply.(*l2.BridgeDomainAddDelV2Reply).BdID
		t.put(&with)
	default:
		t.put(m)
	}
}

// loopback stands in for the interface of an index, which is the one that VPP gives next.
func (t *Trace) loopback(at uint32) {
	t.put(&interfaces.CreateLoopbackInstance{MacAddress: t.mac(at), IsSpecified: true, UserInstance: lastLoopback - t.made})
	t.made, t.stood[at] = t.made+1, true
}

func (t *Trace) goes(at uint32) {
	delete(t.stood, at)
	t.put(&interfaces.DeleteLoopback{SwIfIndex: index(at)})
}

// mac is what an interface has, drawn or asked for.
func (t *Trace) mac(at uint32) ethernet_types.MacAddress {
	i, _ := t.vpp.Interface(at)
	return i.MAC
}

// retval is a reply's; 0 where it has none.
func retval(reply api.Message) int64 {
	if f := reflect.ValueOf(reply).Elem().FieldByName("Retval"); f.IsValid() && f.CanInt() {
		return f.Int()
	}
	return 0
}
