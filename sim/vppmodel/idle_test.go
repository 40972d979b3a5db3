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
	address, _ := ip_types.ParseAddress("10.0.0.9")
	route := ip.IPRouteV2{Prefix: ip_types.Prefix{Address: address, Len: 32}, NPaths: 1,
		Paths: []fib_types.FibPath{{SwIfIndex: uint32(at), Weight: 1, Proto: fib_types.FIB_API_PATH_NH_PROTO_IP4}}}
	for _, tc := range []struct{ req, reply api.Message }{
		{&interfaces.SwInterfaceSetFlags{SwIfIndex: at, Flags: interface_types.IF_STATUS_API_FLAG_ADMIN_UP}, &interfaces.SwInterfaceSetFlagsReply{}},
		{&interfaces.SwInterfaceSetMtu{SwIfIndex: at, Mtu: []uint32{1400, 0, 0, 0}}, &interfaces.SwInterfaceSetMtuReply{}},
		{&interfaces.SwInterfaceTagAddDel{SwIfIndex: at, IsAdd: true, Tag: "pod/web"}, &interfaces.SwInterfaceTagAddDelReply{}},
		{&ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: at, Flags: ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC,
			MacAddress: [6]byte{2, 0, 0, 0, 0, 9}, IPAddress: address}}, &ip_neighbor.IPNeighborAddDelReply{}},
		{&ip.IPRouteAddDelV2{IsAdd: true, Route: route}, &ip.IPRouteAddDelV2Reply{}},
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
