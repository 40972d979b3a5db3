package parity

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"testing"
	"time"

	"go.fd.io/govpp/adapter"
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/feature"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/vlib"
)

// sixNode is a real VPP with a client of IPv6 on vd0 and endpoints on vd1 to vd3: what could serve services of IPv6 is
// tried on it.
type sixNode struct {
	t  *testing.T
	in *testbed
	*connection
}

// Who is where: MACs end in the device's number.
var (
	sixClient = netip.MustParseAddrPort("[fd00::2]:4000")
	sixEnds   = []netip.AddrPort{1: netip.MustParseAddrPort("[fd00:1::2]:8080"), 2: netip.MustParseAddrPort("[fd00:2::2]:8080"), 3: netip.MustParseAddrPort("[fd00:3::2]:8080")}
	sixVIP    = netip.MustParseAddrPort("[fd05::10]:80")
)

// protocolTCP is IANA's number.
const protocolTCP = 6

// newSixNode starts VPP with all of them in a table of their own, or in table 0, and skips a VPP that lacks the message.
func newSixNode(t *testing.T, table uint32, needs api.Message) *sixNode {
	t.Helper()
	path, err := FindVPP("")
	switch {
	case os.Geteuid() != 0:
		t.Skip("needs root: a network namespace")
	case err != nil:
		t.Skip("needs VPP: " + err.Error())
	case testing.Short():
		t.Skip("needs seconds: starts VPP")
	}
	in, err := newTestbed()
	if err != nil {
		t.Skip("needs a network namespace: " + err.Error())
	}
	p, err := start(t.Context(), in, path, comparedHeap)
	if err != nil {
		in.close()
		t.Fatal(err)
	}
	c, err := overConnection(p, in.close)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := p.conn.GetMessageID(needs); errors.As(err, new(*adapter.UnknownMsgError)) {
		t.Skipf("needs a VPP that knows %s", needs.GetMessageName())
	}
	n := &sixNode{t, in, c}
	if table != 0 {
		n.ask(&ip.IPTableAddDelV2{IsAdd: true, Table: ip.IPTable{TableID: table, IsIP6: true}})
	}
	for i, a := range append([]netip.AddrPort{sixClient}, sixEnds[1:]...) {
		at := interface_types.InterfaceIndex(i + 1)
		n.ask(&af_packet.AfPacketCreateV3{Mode: af_packet.AF_PACKET_API_MODE_ETHERNET, HostIfName: devices[i], HwAddr: [6]byte{2, 4: 0x0c, 5: byte(i)}, NumRxQueues: 1, NumTxQueues: 1})
		if table != 0 {
			n.ask(&interfaces.SwInterfaceSetTable{SwIfIndex: at, IsIPv6: true, VrfID: table})
		}
		n.ask(&interfaces.SwInterfaceSetFlags{SwIfIndex: at, Flags: interface_types.IF_STATUS_API_FLAG_ADMIN_UP})
		n.ask(&interfaces.SwInterfaceAddDelAddress{SwIfIndex: at, IsAdd: true, Prefix: ip_types.AddressWithPrefix{Address: message(a.Addr().Prev()), Len: 64}})
		n.ask(&ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: at, Flags: ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC,
			MacAddress: [6]byte{2, 5: byte(i)}, IPAddress: message(a.Addr())}})
	}
	return n
}

// must ends a test whose request was refused or had no answer.
func must[T any](answer T, err error) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if err != nil {
			t.Fatalf("%T: %v", answer, err)
		}
	}
}

// ask is for requests that the model knows too.
func (n *sixNode) ask(m api.Message) {
	n.t.Helper()
	must(n.Ask(n.t.Context(), m))(n.t)
}

// cli is what VPP's command line answers.
func (n *sixNode) cli(line string) string {
	n.t.Helper()
	r, err := vlib.NewServiceClient(n.conn).CliInband(n.t.Context(), &vlib.CliInband{Cmd: line})
	must(r, err)(n.t)
	return r.Reply
}

func (n *sixNode) feature(device int, arc, name string) {
	n.t.Helper()
	must(feature.NewServiceClient(n.conn).FeatureEnableDisable(n.t.Context(), &feature.FeatureEnableDisable{SwIfIndex: interface_types.InterfaceIndex(device + 1),
		Enable: true, ArcName: arc, FeatureName: name}))(n.t)
}

// all is what a dump shows.
func all[T any](t *testing.T, next func() (T, error), err error) (list []T) {
	t.Helper()
	for err == nil {
		var one T
		if one, err = next(); err == nil {
			list = append(list, one)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return list
}

// arrival is a packet that came out of a device; the zero arrival is one that did not.
type arrival struct {
	device   string
	src, dst netip.AddrPort
}

func (a arrival) String() string {
	if a.device == "" {
		return "nothing comes out"
	}
	return fmt.Sprintf("%s: %s > %s", a.device, a.src, a.dst)
}

// heard is what comes of a datagram that is sent into a device.
func (n *sixNode) heard(device int, src, dst netip.AddrPort) arrival {
	n.t.Helper()
	return n.sent(device, protocolUDP, src, dst)
}

// sent is the same of a datagram, or of a segment of TCP that is a SYN.
func (n *sixNode) sent(device int, protocol byte, src, dst netip.AddrPort) arrival {
	n.t.Helper()
	for _, w := range n.in.wires {
		w.read()
	}
	body := ip6(src.Addr(), dst.Addr(), dst.Port(), numbered(1))
	binary.BigEndian.PutUint16(body[ip6Len:], src.Port())
	if body[6] = protocol; protocol == protocolTCP {
		clear(body[ip6Len+4 : ip6Len+20])
		body[ip6Len+12], body[ip6Len+13] = 5<<4, 2
	}
	if err := n.in.wire(devices[device]).send(ethernet6([6]byte{2, 4: 0x0c, 5: byte(device)}, [6]byte{2, 5: byte(device)}, body)); err != nil {
		n.t.Fatal(err)
	}
	out := arrival{}
	for until := time.Now().Add(hearWait); out == (arrival{}) && time.Now().Before(until); time.Sleep(time.Millisecond) {
		for _, w := range n.in.wires {
			for _, f := range w.read() {
				if len(f) < ethernetLen+ip6Len+udpLen || binary.BigEndian.Uint16(f[12:]) != etherIPv6 || f[ethernetLen+6] != protocol || f[0] == 0x33 {
					continue
				}
				b := f[ethernetLen:]
				out = arrival{w.device, netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), binary.BigEndian.Uint16(b[ip6Len:])),
					netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[24:40])), binary.BigEndian.Uint16(b[ip6Len+2:]))}
			}
		}
	}
	name := map[byte]string{protocolUDP: "UDP", protocolTCP: "TCP"}[protocol]
	n.t.Logf("%s into %s: %s > %s; %v", name, devices[device], src, dst, out)
	return out
}
