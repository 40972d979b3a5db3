package view_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/stn"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/internal/view"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

// The modelled Linux is a host for the modelled VPP.
var _ vppmodel.Host = (*hostmodel.Host)(nil)

const none = 1<<32 - 1

// Goal: what laws see is what VPP holds, in the promised order, live. Method: one node with one object of each kind,
// its answers in full; then one change, and the same view sees it.
func TestView(t *testing.T) {
	host, err := hostmodel.New(hostmodel.Config{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	v := vppmodel.New(vppmodel.Config{NICs: []vppmodel.NIC{{Name: "eth", MAC: [6]byte{2}}}, Host: host, NoNamespace: vppwire.ErrNoNamespace})
	w := view.Of(v)
	do := func(req, reply api.Message) {
		t.Helper()
		if err := v.Invoke(context.Background(), req, reply); err != nil {
			t.Fatal(err)
		}
	}
	prefix := func(s string) ip_types.Prefix {
		p, err := ip_types.ParsePrefix(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	pfx := prefix("192.168.30.1/24")
	mac2 := [6]byte{0x1a, 5: 2}
	do(&ip.IPTableAddDelV2{IsAdd: true, Table: ip.IPTable{TableID: 1}}, &ip.IPTableAddDelV2Reply{})
	do(&interfaces.CreateLoopback{MacAddress: [6]byte{0x1a, 5: 1}}, &interfaces.CreateLoopbackReply{})
	do(&interfaces.SwInterfaceSetTable{SwIfIndex: 2, VrfID: 1}, &interfaces.SwInterfaceSetTableReply{})
	addr := interfaces.SwInterfaceAddDelAddress{SwIfIndex: 2, IsAdd: true}
	addr.Prefix.Address, _ = ip_types.ParseAddress("192.168.30.1")
	addr.Prefix.Len = pfx.Len
	do(&addr, &interfaces.SwInterfaceAddDelAddressReply{})
	do(&interfaces.SwInterfaceSetFlags{SwIfIndex: 2, Flags: 1}, &interfaces.SwInterfaceSetFlagsReply{})
	do(&l2.BridgeDomainAddDelV2{IsAdd: true, BdID: 1, Forward: true}, &l2.BridgeDomainAddDelV2Reply{})
	do(&l2.SwInterfaceSetL2Bridge{RxSwIfIndex: 2, BdID: 1, PortType: 1, Shg: 1, Enable: true}, &l2.SwInterfaceSetL2BridgeReply{})
	src, _ := ip_types.ParseAddress("192.168.16.1")
	dst, _ := ip_types.ParseAddress("192.168.16.2")
	do(&vxlan.VxlanAddDelTunnelV3{IsAdd: true, Instance: 7, SrcAddress: src, DstAddress: dst, McastSwIfIndex: none, DecapNextIndex: none, Vni: 10}, &vxlan.VxlanAddDelTunnelV3Reply{})
	do(&l2.SwInterfaceSetL2Bridge{RxSwIfIndex: 3, BdID: 1, Shg: 1, Enable: true}, &l2.SwInterfaceSetL2BridgeReply{})
	do(&l2.L2fibAddDel{IsAdd: true, BdID: 1, SwIfIndex: 3, Mac: mac2, StaticMac: true}, &l2.L2fibAddDelReply{})
	nbr, _ := ip_types.ParseAddress("192.168.30.2")
	do(&ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: 2, Flags: 1, MacAddress: mac2, IPAddress: nbr}}, &ip_neighbor.IPNeighborAddDelReply{})
	do(&tapv2.TapCreateV3{ID: none, HostIfNameSet: true, HostIfName: "vpp1", MacAddress: [6]byte{0x1a, 5: 9}, Tag: "host"}, &tapv2.TapCreateV3Reply{})
	do(&ip.IPRouteAddDelV2{IsAdd: true, Route: ip.IPRouteV2{TableID: 1, Prefix: prefix("10.1.2.0/24"), Paths: []fib_types.FibPath{{SwIfIndex: 2, Nh: fib_types.FibPathNh{Address: nbr.Un}}}}}, &ip.IPRouteAddDelV2Reply{})
	do(&ip.IPRouteAddDelV2{IsAdd: true, Route: ip.IPRouteV2{Prefix: prefix("10.1.0.0/16"), Paths: []fib_types.FibPath{{SwIfIndex: none, TableID: 1}}}}, &ip.IPRouteAddDelV2Reply{})

	for _, c := range []struct {
		what string
		got  any
		want string
	}{
		{"names", names(w), "[local0 eth loop0 vxlan_tunnel7 tap0]"},
		{"tables", slices.Collect(w.Tables()), "[0 1]"},
		{"api 0", slices.Collect(w.Routes(0)), "[{0 10.1.0.0/16 4 invalid IP 4294967295 1 true}]"},
		{"api 1", slices.Collect(w.Routes(1)), "[{1 10.1.2.0/24 2 192.168.30.2 2 0 true}]"},
		{"neighbors", slices.Collect(w.Neighbors()), "[{2 192.168.30.2 1a:00:00:00:00:02}]"},
		{"bridges", slices.Collect(w.Bridges()), "[1]"},
		{"bridge", one(w.Bridge(1)), "{1 false false false true false false 4294967295 false [{2 true 1} {3 false 1}]} true"},
		{"no bridge", one(w.Bridge(0)), "{0 false false false false false false 0 false []} false"},
		{"FIBs", slices.Collect(w.FIBs()), "[{1 1a:00:00:00:00:01 2 true true false} {1 1a:00:00:00:00:02 3 false true false}]"},
		{"FIB", one(w.FIB(1, mac2)), "{1 1a:00:00:00:00:02 3 false true false} true"},
		{"no FIB", one(w.FIB(1, vppwire.MAC{})), "{1 00:00:00:00:00:00 0 false false false} false"},
		{"tunnel", one(w.Tunnel(netip.MustParseAddr("192.168.16.1"), netip.MustParseAddr("192.168.16.2"), 10)), "3 true"},
		{"other VNI", one(w.Tunnel(netip.MustParseAddr("192.168.16.1"), netip.MustParseAddr("192.168.16.2"), 11)), "0 false"},
		{"local", one(w.Route(1, netip.MustParseAddr("192.168.30.1"))), "{1 192.168.30.1/32 3 invalid IP 2 0 false} true"},
		{"attached", one(w.Route(1, netip.MustParseAddr("192.168.30.77"))), "{1 192.168.30.0/24 2 invalid IP 2 0 false} true"},
		{"adjacent", one(w.Route(1, netip.MustParseAddr("192.168.30.2"))), "{1 192.168.30.2/32 2 192.168.30.2 2 0 false} true"},
		{"default", one(w.Route(1, netip.MustParseAddr("9.9.9.9"))), "{1 0.0.0.0/0 1 invalid IP 4294967295 0 false} true"},
		{"no table", one(w.Route(9, netip.MustParseAddr("9.9.9.9"))), "{0 invalid Prefix 0 invalid IP 0 0 false} false"},
		{"neighbor", one(w.Neighbor(2, netip.MustParseAddr("192.168.30.2"))), "1a:00:00:00:00:02 true"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	// What is passed to the host, and answered for others.
	stolen, low, high := ip_types.NewAddress(net.ParseIP("192.168.30.1")), ip_types.IP4Address{192, 168, 30, 1}, ip_types.IP4Address{192, 168, 30, 9}
	do(&stn.StnAddDelRule{IPAddress: stolen, SwIfIndex: 4, IsAdd: true}, &stn.StnAddDelRuleReply{})
	do(&arp.ProxyArpAddDel{IsAdd: true, Proxy: arp.ProxyArp{TableID: 1, Low: low, Hi: high}}, &arp.ProxyArpAddDelReply{})
	do(&arp.ProxyArpIntfcEnableDisable{SwIfIndex: 2, Enable: true}, &arp.ProxyArpIntfcEnableDisableReply{})
	at := netip.MustParseAddr
	if got := one(w.STN(at("192.168.30.1"))) + " " + one(w.STN(at("192.168.30.2"))); got != "4 true 0 false" {
		t.Error("STN: ", got)
	}
	for _, c := range []struct {
		index uint32
		addr  string
		want  bool
	}{{2, "192.168.30.9", true}, {2, "192.168.30.1", true}, {2, "192.168.30.10", false}, {2, "192.168.30.0", false}, {4, "192.168.30.9", false}, {2, "fd00::1", false}} {
		if got := w.ProxiesARP(c.index, at(c.addr)); got != c.want {
			t.Errorf("interface %d answers for %s: %t", c.index, c.addr, got)
		}
	}
	bvi, _ := w.Interface(2)
	if bvi.Type != fact.TypeLoopback || !bvi.Up || !bvi.BVI || bvi.Bridge != 1 || bvi.SHG != 1 || bvi.Table4 != 1 || fmt.Sprint(bvi.Addrs) != "[192.168.30.1/24]" || bvi.MTU != 9000 {
		t.Errorf("BVI: %+v", bvi)
	}
	tap, _ := w.Interface(4)
	if tap.Type != fact.TypeTap || tap.Host != "vpp1" || tap.HostNetns != "" || tap.Tag != "host" || tap.Up {
		t.Errorf("tap: %+v", tap)
	}
	if !host.HasLink("vpp1") {
		t.Error("the tap has no Linux end")
	}

	// The same view sees the change: the tunnel goes, and leaves its MAC behind.
	do(&vxlan.VxlanAddDelTunnelV3{SrcAddress: src, DstAddress: dst, McastSwIfIndex: none, DecapNextIndex: none, Vni: 10}, &vxlan.VxlanAddDelTunnelV3Reply{})
	if got := one(w.Bridge(1)) + " " + one(w.FIB(1, mac2)); got != "{1 false false false true false false 4294967295 false [{2 true 1}]} true {1 1a:00:00:00:00:02 3 false true false} true" {
		t.Error(got)
	}
	if _, live := w.Interface(3); live {
		t.Error("the tunnel is still there")
	}
	v.Kill()
	if host.HasLink("vpp1") {
		t.Error("the tap outlived VPP")
	}
}

func names(w fact.VPP) (all []string) {
	for i := range w.Interfaces() {
		all = append(all, i.Name)
	}
	return all
}

func one(v any, found bool) string { return strings.TrimSpace(fmt.Sprintln(v, found)) }
