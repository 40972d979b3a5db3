package parity

import (
	"context"
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.fd.io/govpp/adapter/socketclient"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/classify"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
	"go.fd.io/govpp/binapi/vxlan"
	"go.fd.io/govpp/core"
)

// load is one kind of object of which a VPP gets many.
type load struct {
	name string
	// most is the largest count: interfaces cost VPP milliseconds each and grow what it looks through.
	most int
	// prepare makes what objects stand on.
	prepare func(context.Context, *hunted) error
	// add and remove are about the i-th object.
	add, remove func(ctx context.Context, h *hunted, i int) error
	// stress is traffic while all are there.
	stress func(context.Context, *hunted) error
}

// loads are tried in this order. What the wiring makes one of for each pod, node or service is here.
var loads = []load{
	{"af-packets", 64, devicePairs, addAFPacket, removeAFPacket, broadcasts},
	{"loopbacks", 1024, nil, addLoopback, removeLoopback, nil},
	{"vrfs", 1024, nil, vrf(true), vrf(false), nil},
	{"vxlans", 1024, nil, tunnel(true), tunnel(false), nil},
	{"routes", 65536, oneLoopback, route(true), route(false), nil},
	{"neighbors", 16384, oneLoopback, neighbor(true), neighbor(false), nil},
	{"macs", 16384, oneBridge, bridged(true), bridged(false), nil},
	{"senders", 4096, senderTable, sender(true), sender(false), nil},
	{"services", 1024, translator, addService, removeService, nil},
	{"clients", 1024, nil, oneClient, func(context.Context, *hunted, int) error { return nil }, nil},
}

// nth is the i-th address behind a first one.
func nth(first [4]byte, i int) (a ip_types.IP4Address) {
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(first[:])+uint32(i))
	return a
}

// mac is the i-th of a range of locally administered ones.
func mac(i int) (m ethernet_types.MacAddress) {
	binary.BigEndian.PutUint32(m[2:], uint32(i))
	m[0] = 2
	return m
}

func host4(a ip_types.IP4Address) ip_types.Prefix {
	return ip_types.Prefix{Address: ip_types.Address{Af: ip_types.ADDRESS_IP4, Un: ip_types.AddressUnionIP4(a)}, Len: 32}
}

// devicePairs makes a veth pair for each interface in the VPP's namespace. Their far ends form one bridge.
func devicePairs(_ context.Context, h *hunted) error {
	var b strings.Builder
	b.WriteString("link add hub type bridge\nlink set hub up\n")
	for i := range h.count {
		fmt.Fprintf(&b, "link add h%[1]d type veth peer name h%[1]dp\nlink set h%[1]dp master hub up\nlink set h%[1]d up\n", i)
	}
	return h.room.do(func() error {
		c := exec.Command("ip", "-batch", "-")
		c.Stdin = strings.NewReader(b.String())
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("make %d veth pairs: %w: %s", h.count, err, out)
		}
		return nil
	})
}

func addAFPacket(ctx context.Context, h *hunted, i int) error {
	var reply af_packet.AfPacketCreateV3Reply
	if err := h.ask(ctx, &af_packet.AfPacketCreateV3{Mode: af_packet.AF_PACKET_API_MODE_ETHERNET, HwAddr: mac(i), HostIfName: device(i)}, &reply); err != nil {
		return err
	}
	return h.up(ctx, reply.SwIfIndex)
}

func removeAFPacket(ctx context.Context, h *hunted, i int) error {
	return h.ask(ctx, &af_packet.AfPacketDelete{HostIfName: device(i)}, &af_packet.AfPacketDeleteReply{})
}

func device(i int) string { return fmt.Sprintf("h%d", i) }

// broadcastFor is how long frames come to all interfaces at once.
const broadcastFor = 4 * time.Second

// broadcasts has a frame come to every interface at one time, again and again, and asks VPP meanwhile.
func broadcasts(ctx context.Context, h *hunted) error {
	var far wire
	if err := h.room.do(func() (err error) {
		far, err = openWire("hub")
		return err
	}); err != nil {
		return err
	}
	defer closeWires([]wire{far})
	frame := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0xff, 1, 0x88, 0xb5}, make([]byte, 46)...)
	for end := time.Now().Add(broadcastFor); time.Now().Before(end); {
		for range 20 {
			if err := far.send(frame); err != nil {
				return err
			}
		}
		if _, err := h.command(ctx, "show version"); err != nil {
			return err
		}
	}
	return nil
}

func (h *hunted) up(ctx context.Context, i interface_types.InterfaceIndex) error {
	return h.ask(ctx, &interfaces.SwInterfaceSetFlags{SwIfIndex: i, Flags: interface_types.IF_STATUS_API_FLAG_ADMIN_UP}, &interfaces.SwInterfaceSetFlagsReply{})
}

// loopback makes one with an address of its own and returns its index.
func (h *hunted) loopback(ctx context.Context, i int) (interface_types.InterfaceIndex, error) {
	var reply interfaces.CreateLoopbackInstanceReply
	if err := h.ask(ctx, &interfaces.CreateLoopbackInstance{MacAddress: mac(i), IsSpecified: true, UserInstance: uint32(i)}, &reply); err != nil {
		return 0, err
	}
	if err := h.up(ctx, reply.SwIfIndex); err != nil {
		return 0, err
	}
	return reply.SwIfIndex, h.ask(ctx, &interfaces.SwInterfaceAddDelAddress{SwIfIndex: reply.SwIfIndex, IsAdd: true,
		Prefix: ip_types.AddressWithPrefix(host4(nth([4]byte{10, 64, 0, 1}, i)))}, &interfaces.SwInterfaceAddDelAddressReply{})
}

func addLoopback(ctx context.Context, h *hunted, i int) error {
	at, err := h.loopback(ctx, i)
	if i == 0 {
		h.on = uint32(at)
	}
	return err
}

// removeLoopback: VPP gives indices away in order, and what is freed last first; so they are asked for by name.
func removeLoopback(ctx context.Context, h *hunted, i int) error {
	_, err := h.command(ctx, fmt.Sprintf("delete loopback interface intfc loop%d", i))
	return err
}

func vrf(add bool) func(context.Context, *hunted, int) error {
	return func(ctx context.Context, h *hunted, i int) error {
		return h.ask(ctx, &ip.IPTableAddDelV2{IsAdd: add, Table: ip.IPTable{TableID: uint32(i) + 1}}, &ip.IPTableAddDelV2Reply{})
	}
}

func tunnel(add bool) func(context.Context, *hunted, int) error {
	return func(ctx context.Context, h *hunted, i int) error {
		end := func(a ip_types.IP4Address) ip_types.Address { return host4(a).Address }
		return h.ask(ctx, &vxlan.VxlanAddDelTunnelV3{IsAdd: add, SrcAddress: end([4]byte{192, 168, 0, 1}), DstAddress: end(nth([4]byte{192, 168, 1, 1}, i)),
			Vni: 10, Instance: none, McastSwIfIndex: none, DecapNextIndex: none}, &vxlan.VxlanAddDelTunnelV3Reply{})
	}
}

// oneLoopback makes what next hops and neighbors are on.
func oneLoopback(ctx context.Context, h *hunted) error {
	at, err := h.loopback(ctx, 0)
	h.on = uint32(at)
	return err
}

func route(add bool) func(context.Context, *hunted, int) error {
	return func(ctx context.Context, h *hunted, i int) error {
		r := ip.IPRoute{Prefix: host4(nth([4]byte{10, 1, 0, 0}, i)), NPaths: 1, Paths: []fib_types.FibPath{{SwIfIndex: h.on, Weight: 1,
			Nh: fib_types.FibPathNh{Address: ip_types.AddressUnionIP4(nth([4]byte{10, 65, 0, 0}, i%256))}}}}
		return h.ask(ctx, &ip.IPRouteAddDel{IsAdd: add, Route: r}, &ip.IPRouteAddDelReply{})
	}
}

func neighbor(add bool) func(context.Context, *hunted, int) error {
	return func(ctx context.Context, h *hunted, i int) error {
		n := ip_neighbor.IPNeighbor{SwIfIndex: interface_types.InterfaceIndex(h.on), Flags: ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC, MacAddress: mac(i),
			IPAddress: host4(nth([4]byte{10, 1, 0, 0}, i)).Address}
		return h.ask(ctx, &ip_neighbor.IPNeighborAddDel{IsAdd: add, Neighbor: n}, &ip_neighbor.IPNeighborAddDelReply{})
	}
}

// bridgeDomain is the one with many MACs.
const bridgeDomain = 1

func oneBridge(ctx context.Context, h *hunted) error {
	if err := oneLoopback(ctx, h); err != nil {
		return err
	}
	if err := h.ask(ctx, &l2.BridgeDomainAddDelV2{BdID: bridgeDomain, Flood: true, UuFlood: true, Forward: true, IsAdd: true}, &l2.BridgeDomainAddDelV2Reply{}); err != nil {
		return err
	}
	return h.ask(ctx, &l2.SwInterfaceSetL2Bridge{RxSwIfIndex: interface_types.InterfaceIndex(h.on), BdID: bridgeDomain, Enable: true}, &l2.SwInterfaceSetL2BridgeReply{})
}

func bridged(add bool) func(context.Context, *hunted, int) error {
	return func(ctx context.Context, h *hunted, i int) error {
		return h.ask(ctx, &l2.L2fibAddDel{Mac: mac(i + 1), BdID: bridgeDomain, SwIfIndex: interface_types.InterfaceIndex(h.on), IsAdd: add, StaticMac: add}, &l2.L2fibAddDelReply{})
	}
}

// vector is how many bytes a classifier compares at a time.
const vector = 16

// senderTable makes a classifier of MAC and address, as guards a node's trunk.
func senderTable(ctx context.Context, h *hunted) error {
	mask := make([]byte, 2*vector)
	copy(mask[6:], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	copy(mask[26:], []byte{0xff, 0xff, 0xff, 0xff})
	var reply classify.ClassifyAddDelTableReply
	err := h.ask(ctx, &classify.ClassifyAddDelTable{IsAdd: true, TableIndex: none, Nbuckets: 1024, MemorySize: 8 << 20, MatchNVectors: 2, NextTableIndex: none,
		MissNextIndex: 0, MaskLen: uint32(len(mask)), Mask: mask}, &reply)
	h.on = reply.NewTableIndex
	return err
}

func sender(add bool) func(context.Context, *hunted, int) error {
	return func(ctx context.Context, h *hunted, i int) error {
		match := make([]byte, 2*vector)
		from, who := mac(i), nth([4]byte{10, 1, 0, 0}, i)
		copy(match[6:], from[:])
		copy(match[26:], who[:])
		return h.ask(ctx, &classify.ClassifyAddDelSession{IsAdd: add, TableIndex: h.on, HitNextIndex: none, OpaqueIndex: none, MatchLen: uint32(len(match)), Match: match},
			&classify.ClassifyAddDelSessionReply{})
	}
}

func translator(ctx context.Context, h *hunted) error {
	return h.ask(ctx, &nat44_ed.Nat44EdPluginEnableDisable{Enable: true, Sessions: 1 << 14}, &nat44_ed.Nat44EdPluginEnableDisableReply{})
}

// endpoints of each service.
const endpoints = 20

func service(i int, add bool) *nat44_ed.Nat44AddDelLbStaticMapping {
	m := &nat44_ed.Nat44AddDelLbStaticMapping{IsAdd: add, ExternalAddr: nth([4]byte{10, 96, 0, 0}, i), ExternalPort: 80, Protocol: 6, Flags: nat_types.NAT_IS_OUT2IN_ONLY}
	for k := range endpoints {
		m.Locals = append(m.Locals, nat44_ed.Nat44LbAddrPort{Addr: nth([4]byte{10, 1, 0, 0}, i*endpoints+k), Port: 8080, Probability: 1})
	}
	m.LocalNum = uint32(len(m.Locals))
	return m
}

func addService(ctx context.Context, h *hunted, i int) error {
	return h.ask(ctx, service(i, true), &nat44_ed.Nat44AddDelLbStaticMappingReply{})
}

func removeService(ctx context.Context, h *hunted, i int) error {
	return h.ask(ctx, service(i, false), &nat44_ed.Nat44AddDelLbStaticMappingReply{})
}

// oneClient connects to VPP's API, asks and goes, as a short command does.
func oneClient(ctx context.Context, h *hunted, _ int) error {
	conn, err := core.Connect(socketclient.NewVppClient(filepath.Join(h.p.dir, "api.sock")))
	if err != nil {
		return fmt.Errorf("connect: %w: %w", errSilent, err)
	}
	defer conn.Disconnect()
	stream, err := conn.NewStream(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w: %w", errSilent, err)
	}
	return stream.Close()
}
