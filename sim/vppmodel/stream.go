package vppmodel

import (
	"context"
	"errors"
	"fmt"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/dhcp"
	"go.fd.io/govpp/binapi/fib"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"
)

// Errors of streams. A real stream would block where ErrNoReply is returned: nothing that was sent has an answer left.
var (
	ErrNoReply      = errors.New("no reply is due")
	ErrStreamClosed = errors.New("stream closed")
)

// stream keeps the answers of what was sent until they are received. A dump is a snapshot of the instant it was sent.
type stream struct {
	vpp    *VPP
	ctx    context.Context
	due    []api.Message
	closed bool
}

// NewStream takes no option: govpp's options apply to govpp's own streams only.
func (v *VPP) NewStream(ctx context.Context, options ...api.StreamOption) (api.Stream, error) {
	if len(options) > 0 {
		return nil, fmt.Errorf("new stream: %d options, none supported", len(options))
	}
	if err := v.usable(ctx); err != nil {
		return nil, err
	}
	return &stream{vpp: v, ctx: ctx}, nil
}

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) Close() error {
	if s.closed {
		return ErrStreamClosed
	}
	s.closed, s.due = true, nil
	return nil
}

func (s *stream) usable() error {
	if s.closed {
		return ErrStreamClosed
	}
	return s.vpp.usable(s.ctx)
}

// SendMsg performs a request or a dump at once.
func (s *stream) SendMsg(m api.Message) error {
	if err := s.usable(); err != nil {
		return err
	}
	if details, isDump := s.vpp.dump(m); isDump {
		s.due = append(s.due, details...)
		return nil
	}
	r, err := s.vpp.perform(m, nil)
	if err != nil {
		return err
	}
	s.due = append(s.due, r)
	return nil
}

// RecvMsg returns the answers in the order of what was sent.
func (s *stream) RecvMsg() (api.Message, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if len(s.due) == 0 {
		return nil, ErrNoReply
	}
	m := s.due[0]
	s.due = s.due[1:]
	return m, nil
}

// dump returns a dump's details; false for a message that is no dump. Like VPP it answers an impossible filter with nothing.
func (v *VPP) dump(m api.Message) ([]api.Message, bool) {
	switch m := m.(type) {
	case *interfaces.SwInterfaceDump:
		return v.interfaceDump(m), true
	case *interfaces.SwInterfaceTxPlacementGet:
		return v.txPlacementGet(m), true
	case *fib.FibSourceDump:
		return fibSourceDump(), true
	case *ip.IPRouteV2Dump:
		return v.ipRouteV2Dump(m), true
	case *ip.IPRouteDump:
		return v.ipRouteDump(m), true
	case *ip.IPTableDump:
		return v.ipTableDump(), true
	case *ip.IPAddressDump:
		return v.ipAddressDump(m), true
	case *ip.IPUnnumberedDump:
		return v.ipUnnumberedDump(m), true
	case *ip_neighbor.IPNeighborDump:
		return v.neighborDump(m), true
	case *l2.BridgeDomainDump:
		return v.bridgeDump(m), true
	case *l2.L2FibTableDump:
		return v.l2fibDump(m), true
	case *vxlan.VxlanTunnelV2Dump:
		return v.vxlanDump(m), true
	case *tapv2.SwInterfaceTapV2Dump:
		return v.tapDump(m), true
	case *af_packet.AfPacketDump:
		return v.afPacketDump(), true
	case *arp.ProxyArpDump:
		return v.proxyARPDump(), true
	case *arp.ProxyArpIntfcDump:
		return v.proxyARPInterfaceDump(), true
	case *dhcp.DHCPClientDump:
		return v.dhcpDump(), true
	}
	return nil, false
}

// txPlacementGet is a dump of the newer kind, which ends with a reply and a cursor of its own instead of a ping: one queue
// per NIC, tap and AF_PACKET interface, on thread 0. Without any queue at all it is -6, on an interface without one -7. The
// cursor is where the next request would go on: behind the last queue (src/vnet/interface_api.c).
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
