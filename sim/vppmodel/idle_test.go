package vppmodel_test

import (
	"context"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Goal: a request is idle exactly when it is made a second time, and what an interface is without being told is none. Method: each once on a
// loopback, asked before and after.
func TestIdle(t *testing.T) {
	v := vppmodel.New(vppmodel.Config{PID: 1})
	ctx := context.Background()
	loop := interfaces.CreateLoopbackInstanceReply{}
	if err := v.Invoke(ctx, &interfaces.CreateLoopbackInstance{}, &loop); err != nil || loop.Retval != 0 {
		t.Fatal(err, loop.Retval)
	}
	at := loop.SwIfIndex
	port := interfaces.CreateLoopbackInstanceReply{}
	for _, there := range []struct{ req, reply api.Message }{ // what the requests below are about
		{&interfaces.CreateLoopbackInstance{}, &port},
		{&l2.BridgeDomainAddDelV2{BdID: 1, IsAdd: true, Forward: true}, &l2.BridgeDomainAddDelV2Reply{}},
		{&l2.SwInterfaceSetL2Bridge{RxSwIfIndex: at + 1, BdID: 1, Enable: true}, &l2.SwInterfaceSetL2BridgeReply{}},
		{&nat44_ed.Nat44EdPluginEnableDisable{Enable: true}, &nat44_ed.Nat44EdPluginEnableDisableReply{}},
	} {
		if err := v.Invoke(ctx, there.req, there.reply); err != nil {
			t.Fatal(err)
		}
	}
	address, _ := ip_types.ParseAddress("10.0.0.9")
	route := ip.IPRouteV2{Prefix: ip_types.Prefix{Address: address, Len: 32}, NPaths: 1,
		Paths: []fib_types.FibPath{{SwIfIndex: uint32(at), Weight: 1, Proto: fib_types.FIB_API_PATH_NH_PROTO_IP4}}}
	for _, tc := range []struct{ req, reply api.Message }{
		{&interfaces.SwInterfaceSetFlags{SwIfIndex: at, Flags: interface_types.IF_STATUS_API_FLAG_ADMIN_UP}, &interfaces.SwInterfaceSetFlagsReply{}},
		{&interfaces.SwInterfaceSetMtu{SwIfIndex: at, Mtu: []uint32{1400, 0, 0, 0}}, &interfaces.SwInterfaceSetMtuReply{}},
		{&interfaces.SwInterfaceTagAddDel{SwIfIndex: at, IsAdd: true, Tag: "pod/web"}, &interfaces.SwInterfaceTagAddDelReply{}},
		{&interfaces.SwInterfaceTagAddDel{SwIfIndex: at}, &interfaces.SwInterfaceTagAddDelReply{}},
		{&ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: at, Flags: ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC,
			MacAddress: [6]byte{2, 0, 0, 0, 0, 9}, IPAddress: address}}, &ip_neighbor.IPNeighborAddDelReply{}},
		{&ip.IPRouteAddDelV2{IsAdd: true, Route: route}, &ip.IPRouteAddDelV2Reply{}},
		{&l2.L2fibAddDel{Mac: [6]byte{2, 0, 0, 0, 0, 9}, BdID: 1, SwIfIndex: at + 1, IsAdd: true, StaticMac: true}, &l2.L2fibAddDelReply{}},
		{&nat44_ed.Nat44InterfaceAddDelFeature{IsAdd: true, SwIfIndex: at, Flags: nat_types.NAT_IS_INSIDE}, &nat44_ed.Nat44InterfaceAddDelFeatureReply{}},
		{&nat44_ed.Nat44InterfaceAddDelFeature{IsAdd: true, SwIfIndex: at}, &nat44_ed.Nat44InterfaceAddDelFeatureReply{}},
		{&nat44_ed.Nat44ForwardingEnableDisable{Enable: true}, &nat44_ed.Nat44ForwardingEnableDisableReply{}},
		{&nat44_ed.NatSetTimeouts{UDP: 60, TCPEstablished: 600, TCPTransitory: 60, ICMP: 30}, &nat44_ed.NatSetTimeoutsReply{}},
	} {
		if v.Idle(tc.req) {
			t.Errorf("%s is idle before it was made", tc.req.GetMessageName())
		}
		if err := v.Invoke(ctx, tc.req, tc.reply); err != nil {
			t.Fatal(err)
		}
		if !v.Idle(tc.req) {
			t.Errorf("%s is not idle when it was made", tc.req.GetMessageName())
		}
	}
	if v.Idle(&interfaces.SwInterfaceSetMtu{SwIfIndex: at, Mtu: []uint32{9000, 0, 0, 0}}) {
		t.Error("another MTU is idle")
	}
}
