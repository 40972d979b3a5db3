package vppmodel

import (
	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
)

// txPlacementGet is a dump of the newer kind, which ends with a reply and a cursor of its own instead of a ping: one
// queue per NIC, tap and AF_PACKET interface, on thread 0. Without any queue at all it is -6, on an interface without
// one -7. The cursor is where the next request would go on: behind the last queue (src/vnet/interface_api.c).
func (v *VPP) txPlacementGet(m *interfaces.SwInterfaceTxPlacementGet) []api.Message {
	var queues, asked []*iface
	for _, i := range v.ifaces {
		if i != nil && i.queues() {
			queues = append(queues, i)
			if uint32(m.SwIfIndex) == none || uint32(m.SwIfIndex) == i.index {
				asked = append(asked, i)
			}
		}
	}
	reply := &interfaces.SwInterfaceTxPlacementGetReply{Cursor: m.Cursor}
	switch {
	case len(queues) == 0:
		reply.Retval, reply.Cursor = noSuchEntry, 0
	case uint32(m.SwIfIndex) != none && v.at(uint32(m.SwIfIndex)) == nil:
		reply.Retval, reply.Cursor = invalidIndex, 0
	case len(asked) == 0:
		reply.Retval, reply.Cursor = invalidValue, none
	case m.Cursor == none:
		reply.Cursor = 0
	}
	var out []api.Message
	for ; reply.Retval == ok && reply.Cursor < uint32(len(asked)); reply.Cursor++ {
		at := asked[reply.Cursor].index
		out = append(out, &interfaces.SwInterfaceTxPlacementDetails{SwIfIndex: index(at), ArraySize: 1, Threads: []uint32{0}})
	}
	return append(out, reply)
}
