package vppmodel_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"runtime"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

var background = context.Background()

func ip4(a, b, c, d byte) ip_types.Address {
	return ip_types.Address{Un: ip_types.AddressUnion{XXX_UnionData: [16]byte{a, b, c, d}}}
}

// peerCalls are the requests that wire one peer of a VXLAN mesh: tunnel, tag, membership, neighbor, MAC, three routes
// and one into the pod table. The requests are reused between peers, as a driver may.
type peerCalls struct {
	tunnel   vxlan.VxlanAddDelTunnelV3
	tunnelR  vxlan.VxlanAddDelTunnelV3Reply
	tag      interfaces.SwInterfaceTagAddDel
	tagR     interfaces.SwInterfaceTagAddDelReply
	member   l2.SwInterfaceSetL2Bridge
	memberR  l2.SwInterfaceSetL2BridgeReply
	neigh    ip_neighbor.IPNeighborAddDel
	neighR   ip_neighbor.IPNeighborAddDelReply
	fib      l2.L2fibAddDel
	fibR     l2.L2fibAddDelReply
	route    ip.IPRouteAddDelV2
	routeR   ip.IPRouteAddDelV2Reply
	paths    [1]fib_types.FibPath
	requests int
}

func (c *peerCalls) invoke(v *vppmodel.VPP, req, reply api.Message, retval *int32) {
	if err := v.Invoke(background, req, reply); err != nil || *retval != 0 {
		panic(fmt.Sprintf("%s: %d %v", req.GetMessageName(), *retval, err))
	}
	c.requests++
}

func (c *peerCalls) add(v *vppmodel.VPP, bvi interface_types.InterfaceIndex, k uint16) {
	hi, lo := byte(k>>8), byte(k)
	c.tunnel = vxlan.VxlanAddDelTunnelV3{IsAdd: true, Instance: uint32(k), SrcAddress: ip4(192, 168, 0, 1), DstAddress: ip4(192, 168, hi+1, lo),
		McastSwIfIndex: none, DecapNextIndex: none, Vni: 10}
	c.invoke(v, &c.tunnel, &c.tunnelR, &c.tunnelR.Retval)
	at := c.tunnelR.SwIfIndex
	c.tag = interfaces.SwInterfaceTagAddDel{IsAdd: true, SwIfIndex: at, Tag: fmt.Sprintf("peer/%d", k)}
	c.invoke(v, &c.tag, &c.tagR, &c.tagR.Retval)
	c.member = l2.SwInterfaceSetL2Bridge{RxSwIfIndex: at, BdID: 1, Shg: 1, Enable: true}
	c.invoke(v, &c.member, &c.memberR, &c.memberR.Retval)
	mac := [6]byte{0x12, 0x2b, 4: hi, 5: lo}
	via := ip4(192, 169, hi, lo)
	c.neigh = ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: bvi, Flags: 1, MacAddress: mac, IPAddress: via}}
	c.invoke(v, &c.neigh, &c.neighR, &c.neighR.Retval)
	c.fib = l2.L2fibAddDel{IsAdd: true, BdID: 1, SwIfIndex: at, Mac: mac, StaticMac: true}
	c.invoke(v, &c.fib, &c.fibR, &c.fibR.Retval)
	c.paths[0] = fib_types.FibPath{SwIfIndex: uint32(bvi), Weight: 1, Nh: fib_types.FibPathNh{Address: via.Un}}
	for _, p := range [...]ip_types.Prefix{{Address: ip4(10, 1, hi, lo), Len: 32}, {Address: ip4(10, 2+hi, lo, 0), Len: 24}, {Address: ip4(172, 16+hi, lo, 0), Len: 24}} {
		c.route = ip.IPRouteAddDelV2{IsAdd: true, Route: ip.IPRouteV2{TableID: 1, Prefix: p, Paths: c.paths[:]}}
		c.invoke(v, &c.route, &c.routeR, &c.routeR.Retval)
	}
	c.paths[0] = fib_types.FibPath{SwIfIndex: none, TableID: 1, Weight: 1}
	c.route = ip.IPRouteAddDelV2{IsAdd: true, Route: ip.IPRouteV2{Prefix: ip_types.Prefix{Address: ip4(10, 1, hi, lo), Len: 32}, Paths: c.paths[:]}}
	c.invoke(v, &c.route, &c.routeR, &c.routeR.Retval)
}

// meshNode builds one node of a full mesh and returns it with its BVI.
func meshNode(tb testing.TB, peers int) (*vppmodel.VPP, interface_types.InterfaceIndex, *peerCalls) {
	s := newScript()
	for _, line := range []string{"table add 1", "bridge add 1 forward", "loop mac 12:2b:00:00:00:01", "bind loop0 1", "addr add loop0 192.169.255.1/16", "up loop0",
		"member loop0 1 port 1 shg 1"} {
		if got := s.do(line); got[0] == '-' {
			tb.Fatalf("%s -> %s", line, got)
		}
	}
	c, bvi := new(peerCalls), s.index("loop0")
	for k := range peers {
		c.add(s.vpp, bvi, uint16(k+1))
	}
	return s.vpp, bvi, c
}

// Goal: an interface fits the allocator's size of 128 bytes; the next one is a seventh more, times a million tunnels.
func TestInterfaceSize(t *testing.T) {
	if vppmodel.InterfaceSize > 128 {
		t.Errorf("%d bytes", vppmodel.InterfaceSize)
	}
}

// Goal: a thousand nodes of a thousand peers fit into memory together with their agents. Method: the heap with and
// without one.
func BenchmarkMeshNode(b *testing.B) {
	yardstick.Beside(b)
	const peers = 1000
	var kept []*vppmodel.VPP
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	requests := 0
	b.ResetTimer()
	for b.Loop() {
		v, _, c := meshNode(b, peers)
		kept = append(kept, v)
		requests += c.requests
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(kept)*peers), "bytes/peer")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/call")
	runtime.KeepAlive(kept)
}

// Goal: repeated writes and lookups cost no allocation. Method: each hot message on a node of a thousand peers.
func BenchmarkCalls(b *testing.B) {
	v, bvi, c := meshNode(b, 1000)
	via := ip4(192, 169, 0, 9)
	c.paths[0] = fib_types.FibPath{SwIfIndex: uint32(bvi), Weight: 1, Nh: fib_types.FibPathNh{Address: via.Un}}
	var flags interfaces.SwInterfaceSetFlagsReply
	for _, x := range []struct {
		name       string
		req, reply api.Message
		change     func(n uint32)
	}{
		{"route-add", &c.route, &c.routeR, func(n uint32) {
			c.route = ip.IPRouteAddDelV2{IsAdd: true, Route: ip.IPRouteV2{TableID: 1, Prefix: ip_types.Prefix{Address: ip4(10, 1, byte(n>>8)&3, byte(n)), Len: 32}, Paths: c.paths[:]}}
		}},
		{"route-add-del", &c.route, &c.routeR, func(n uint32) {
			c.route.IsAdd = n&1 == 0
			binary.BigEndian.PutUint32(c.route.Route.Prefix.Address.Un.XXX_UnionData[:], 11<<24+n>>1&1023)
		}},
		{"neighbor-add", &c.neigh, &c.neighR, func(n uint32) { c.neigh.Neighbor.MacAddress[0] = byte(n) }},
		{"l2fib-add", &c.fib, &c.fibR, func(n uint32) { c.fib.Mac[5] = byte(n) }},
		{"bridge-member", &c.member, &c.memberR, func(uint32) {}},
		{"flags", &interfaces.SwInterfaceSetFlags{SwIfIndex: c.tunnelR.SwIfIndex, Flags: 1}, &flags, func(uint32) {}},
		{"vxlan-add-del", &c.tunnel, &c.tunnelR, func(n uint32) {
			c.tunnel.IsAdd, c.tunnel.DstAddress, c.tunnel.Instance = n&1 == 0, ip4(9, 9, 9, 9), 5000
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			yardstick.Beside(b)
			b.ReportAllocs()
			n := uint32(0)
			for b.Loop() {
				x.change(n)
				n++
				if err := v.Invoke(background, x.req, x.reply); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("lookup", func(b *testing.B) {
		yardstick.Beside(b)
		b.ReportAllocs()
		n := uint32(0)
		for b.Loop() {
			n++
			if r, _ := v.Route(1, netip.AddrFrom4([4]byte{10, 2 + byte(n>>8)&3, byte(n), 7})); r.Action == 0 {
				b.Fatal(r)
			}
		}
	})
	b.Run("interface-dump-1000", func(b *testing.B) {
		yardstick.Beside(b)
		b.ReportAllocs()
		for b.Loop() {
			d, err := interfaces.NewServiceClient(v).SwInterfaceDump(background, &interfaces.SwInterfaceDump{SwIfIndex: none})
			for err == nil {
				_, err = d.Recv()
			}
		}
	})
	b.Run("route-dump-4000", func(b *testing.B) {
		yardstick.Beside(b)
		b.ReportAllocs()
		for b.Loop() {
			d, err := ip.NewServiceClient(v).IPRouteV2Dump(background, &ip.IPRouteV2Dump{Src: 8, Table: ip.IPTable{TableID: 1}})
			for err == nil {
				_, err = d.Recv()
			}
		}
	})
}
