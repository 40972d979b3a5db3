package vppmodel_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/dhcp"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vpe"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// drain counts what a generated dump client returns before io.EOF.
func drain[T any](t *testing.T, recv func() (T, error)) (all []T) {
	t.Helper()
	for {
		m, err := recv()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Goal: govpp's generated clients work on the model as on a core.Connection: every dump ends, with what it should hold.
// Method: the base state of the table of return codes, each dump once.
func TestGeneratedClients(t *testing.T) {
	s := newScript()
	for _, line := range []string{"table add 1", "table add 1 v6", "loop", "addr add loop0 10.0.0.1/24", "addr add loop0 fd00::1/64", "up loop0",
		"tap netns web host eth0 tag pod/a", "unnumbered add tap0 loop0", "af vd01", "bridge add 1 forward", "loop",
		"member loop1 1 port 1 shg 1", "vxlan add 192.168.16.1 192.168.16.2 10", "member vxlan_tunnel0 1 shg 1",
		"neighbor add loop0 10.0.0.2 02:00:00:00:00:02", "route add 0 10.5.0.0/16 via 10.0.0.2 loop0", "route add 0 10.6.0.0/16 lookup 1",
		"route add 0 10.7.0.0/16 drop", "proxy add 0 10.0.0.2 10.0.0.9", "proxy-on loop0", "dhcp add GigabitEthernet0/8/0"} {
		if got := s.do(line); got[0] == '-' {
			t.Fatalf("%s -> %s", line, got)
		}
	}
	ctx, v := context.Background(), s.vpp
	count := func(name string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d details, want %d", name, got, want)
		}
	}
	ifs := interfaces.NewServiceClient(v)
	count("interfaces", len(drain(t, must[interfaces.RPCService_SwInterfaceDumpClient](t)(ifs.SwInterfaceDump(ctx, &interfaces.SwInterfaceDump{SwIfIndex: none})).Recv)), 7)
	one := drain(t, must[interfaces.RPCService_SwInterfaceDumpClient](t)(ifs.SwInterfaceDump(ctx, &interfaces.SwInterfaceDump{NameFilterValid: true, NameFilter: "TAP"})).Recv)
	count("interfaces called tap", len(one), 1)
	if d := one[0]; d.InterfaceName != "tap0" || d.Tag != "pod/a" || d.InterfaceDevType != "virtio" || d.Mtu[0] != 9000 {
		t.Errorf("details of the tap: %+v", d)
	}
	count("no such index", len(drain(t, must[interfaces.RPCService_SwInterfaceDumpClient](t)(ifs.SwInterfaceDump(ctx, &interfaces.SwInterfaceDump{SwIfIndex: 77})).Recv)), 0)

	ips := ip.NewServiceClient(v)
	routes := drain(t, must[ip.RPCService_IPRouteV2DumpClient](t)(ips.IPRouteV2Dump(ctx, &ip.IPRouteV2Dump{Src: 8})).Recv)
	count("API routes", len(routes), 3)
	if p := routes[1].Route.Paths[0]; p.SwIfIndex != none || p.TableID != 1 || routes[1].Route.Prefix.String() != "10.6.0.0/16" {
		t.Errorf("inter-table route: %+v", routes[1].Route)
	}
	all := drain(t, must[ip.RPCService_IPRouteDumpClient](t)(ips.IPRouteDump(ctx, &ip.IPRouteDump{})).Recv)
	count("all routes", len(all), 5+3+4+1) // specials, API, address, neighbor
	count("tables", len(drain(t, must[ip.RPCService_IPTableDumpClient](t)(ips.IPTableDump(ctx, &ip.IPTableDump{})).Recv)), 4)
	count("IPv6 addresses", len(drain(t, must[ip.RPCService_IPAddressDumpClient](t)(ips.IPAddressDump(ctx, &ip.IPAddressDump{SwIfIndex: 2, IsIPv6: true})).Recv)), 1)
	count("unnumbered", len(drain(t, must[ip.RPCService_IPUnnumberedDumpClient](t)(ips.IPUnnumberedDump(ctx, &ip.IPUnnumberedDump{SwIfIndex: none})).Recv)), 1)
	nbrs := ip_neighbor.NewServiceClient(v)
	count("neighbors", len(drain(t, must[ip_neighbor.RPCService_IPNeighborDumpClient](t)(nbrs.IPNeighborDump(ctx, &ip_neighbor.IPNeighborDump{SwIfIndex: none})).Recv)), 1)
	if c := must[*ip_neighbor.IPNeighborConfigGetReply](t)(nbrs.IPNeighborConfigGet(ctx, &ip_neighbor.IPNeighborConfigGet{Af: ip_types.ADDRESS_IP4})); c.MaxNumber != 50000 {
		t.Errorf("neighbor config: %+v", c)
	}
	l2s := l2.NewServiceClient(v)
	bridges := drain(t, must[l2.RPCService_BridgeDomainDumpClient](t)(l2s.BridgeDomainDump(ctx, &l2.BridgeDomainDump{BdID: none, SwIfIndex: none})).Recv)
	count("bridges", len(bridges), 1)
	if b := bridges[0]; len(b.SwIfDetails) != 2 || b.SwIfDetails[0].SwIfIndex != b.BviSwIfIndex || !b.Forward || b.Learn {
		t.Errorf("bridge: %+v", b)
	}
	count("MACs", len(drain(t, must[l2.RPCService_L2FibTableDumpClient](t)(l2s.L2FibTableDump(ctx, &l2.L2FibTableDump{BdID: 1})).Recv)), 1)
	count("tunnels", len(drain(t, must[vxlan.RPCService_VxlanTunnelV2DumpClient](t)(vxlan.NewServiceClient(v).VxlanTunnelV2Dump(ctx, &vxlan.VxlanTunnelV2Dump{SwIfIndex: none})).Recv)), 1)
	taps := drain(t, must[tapv2.RPCService_SwInterfaceTapV2DumpClient](t)(tapv2.NewServiceClient(v).SwInterfaceTapV2Dump(ctx, &tapv2.SwInterfaceTapV2Dump{SwIfIndex: none})).Recv)
	if len(taps) != 1 || taps[0].HostNamespace != "web" || taps[0].HostIfName != "eth0" || taps[0].RxRingSz != 256 {
		t.Errorf("taps: %+v", taps)
	}
	count("AF_PACKET", len(drain(t, must[af_packet.RPCService_AfPacketDumpClient](t)(af_packet.NewServiceClient(v).AfPacketDump(ctx, &af_packet.AfPacketDump{})).Recv)), 1)
	count("proxy ARP", len(drain(t, must[arp.RPCService_ProxyArpDumpClient](t)(arp.NewServiceClient(v).ProxyArpDump(ctx, &arp.ProxyArpDump{})).Recv)), 1)
	count("proxy ARP interfaces", len(drain(t, must[arp.RPCService_ProxyArpIntfcDumpClient](t)(arp.NewServiceClient(v).ProxyArpIntfcDump(ctx, &arp.ProxyArpIntfcDump{})).Recv)), 1)
	count("DHCP", len(drain(t, must[dhcp.RPCService_DHCPClientDumpClient](t)(dhcp.NewServiceClient(v).DHCPClientDump(ctx, &dhcp.DHCPClientDump{})).Recv)), 1)

	// A get-call ends with its own reply and cursor.
	placement := must[interfaces.RPCService_SwInterfaceTxPlacementGetClient](t)(ifs.SwInterfaceTxPlacementGet(ctx, &interfaces.SwInterfaceTxPlacementGet{SwIfIndex: none}))
	queues := 0
	for {
		d, reply, err := placement.Recv()
		if errors.Is(err, io.EOF) {
			if reply.Cursor != 3 {
				t.Errorf("cursor %d", reply.Cursor)
			}
			break
		}
		if err != nil || len(d.Threads) != 1 {
			t.Fatal(d, err)
		}
		queues++
	}
	count("queues", queues, 3)

	if p := must[*memclnt.ControlPingReply](t)(memclnt.NewServiceClient(v).ControlPing(ctx, &memclnt.ControlPing{})); p.VpePID != 41 {
		t.Errorf("ping: %+v", p)
	}
	if r := must[*vpe.ShowVersionReply](t)(vpe.NewServiceClient(v).ShowVersion(ctx, &vpe.ShowVersion{})); r.Version != vppmodel.Version {
		t.Errorf("version: %+v", r)
	}
}

// Goal: what is no answer is an error, and each error says which. Method: one of each.
func TestErrors(t *testing.T) {
	v, ctx := vppmodel.New(vppmodel.Config{}), context.Background()
	var unknown *vppmodel.UnknownMessageError
	if _, err := acl.NewServiceClient(v).MacipACLDel(ctx, &acl.MacipACLDel{}); !errors.As(err, &unknown) || unknown.Name != "macip_acl_del" || unknown.CRC != "ef34fea4" {
		t.Errorf("unknown message: %v", err)
	}
	if err := v.Invoke(ctx, &memclnt.ControlPing{}, &vpe.ShowVersionReply{}); err == nil {
		t.Error("a reply of the wrong type was filled")
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := v.Invoke(done, &memclnt.ControlPing{}, &memclnt.ControlPingReply{}); !errors.Is(err, context.Canceled) {
		t.Errorf("done context: %v", err)
	}
	if _, err := v.NewStream(ctx, func(api.Stream) {}); err == nil {
		t.Error("a stream option was accepted")
	}
	s, err := v.NewStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RecvMsg(); !errors.Is(err, vppmodel.ErrNoReply) {
		t.Errorf("nothing due: %v", err)
	}
	if err := s.SendMsg(&acl.MacipACLDel{}); !errors.As(err, &unknown) {
		t.Errorf("unknown message on a stream: %v", err)
	}
	if err := s.SendMsg(&interfaces.CreateLoopback{}); err != nil {
		t.Fatal(err)
	}
	if m, err := s.RecvMsg(); err != nil || m.(*interfaces.CreateLoopbackReply).SwIfIndex != 1 {
		t.Errorf("request on a stream: %v %v", m, err)
	}
	v.Kill()
	v.Kill()
	if _, err := s.RecvMsg(); !errors.Is(err, vppmodel.ErrKilled) {
		t.Errorf("stream of a killed VPP: %v", err)
	}
	if err := s.Close(); err != nil || s.Close() == nil {
		t.Error("a stream closes once")
	}
	if err := v.Invoke(ctx, &memclnt.ControlPing{}, &memclnt.ControlPingReply{}); !errors.Is(err, vppmodel.ErrKilled) {
		t.Errorf("killed VPP: %v", err)
	}
	if _, err := v.WatchEvent(ctx, &interfaces.SwInterfaceEvent{}); !errors.Is(err, vppmodel.ErrKilled) {
		t.Errorf("watching a killed VPP: %v", err)
	}
	if len(vppmodel.Gaps()) == 0 {
		t.Error("a model without gaps is a lie")
	}
}

// Goal: events reach their watcher in order, without a goroutine, and never block VPP. Method: more events than the
// channel holds, then the end of VPP.
func TestEvents(t *testing.T) {
	s, ctx := newScript(), context.Background()
	w, err := s.vpp.WatchEvent(ctx, &interfaces.SwInterfaceEvent{})
	if err != nil {
		t.Fatal(err)
	}
	s.do("loop")
	s.do("up loop0")
	if len(w.Events()) != 0 {
		t.Error("an event that nobody wanted")
	}
	if _, err := interfaces.NewServiceClient(s.vpp).WantInterfaceEvents(ctx, &interfaces.WantInterfaceEvents{EnableDisable: 1, PID: 9}); err != nil {
		t.Fatal(err)
	}
	s.do("down loop0")
	s.do("down loop0")
	s.do("loop-del loop0")
	for i, want := range []bool{false, true} {
		if e := (<-w.Events()).(*interfaces.SwInterfaceEvent); e.SwIfIndex != 2 || e.Deleted != want {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	for range 300 {
		s.do("loop")
		s.do("loop-del loop0")
	}
	leases, err := s.vpp.WatchEvent(ctx, &dhcp.DHCPComplEvent{})
	if err != nil {
		t.Fatal(err)
	}
	s.do("dhcp add GigabitEthernet0/8/0")
	s.do("lease GigabitEthernet0/8/0 192.168.16.9/24 192.168.16.1")
	if e := (<-leases.Events()).(*dhcp.DHCPComplEvent); e.Lease.State != dhcp.DHCP_CLIENT_STATE_API_BOUND || e.Lease.MaskWidth != 24 ||
		e.Lease.HostAddress.String() != "192.168.16.9" || e.Lease.RouterAddress.String() != "192.168.16.1" {
		t.Errorf("lease: %+v", e)
	}
	leases.Close()
	leases.Close()
	s.vpp.Kill()
	n := 0
	for range w.Events() {
		n++
	}
	if n != 100 {
		t.Errorf("%d events were kept, want the buffer of 100", n)
	}
	if _, err := s.vpp.WatchEvent(ctx, &memclnt.ControlPing{}); err == nil {
		t.Error("a ping can be watched")
	}
}
