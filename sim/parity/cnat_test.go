package parity

import (
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"os"
	"testing"
	"time"

	"go.fd.io/govpp/adapter"
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/cnat"
	"go.fd.io/govpp/binapi/feature"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
)

// cnatNode is a real VPP with a client on vd0, endpoints on vd1 and vd2, all in a table of their own, and a service of
// IPv6 that CNAT serves.
type cnatNode struct {
	t  *testing.T
	in *testbed
	*connection
}

// Who is where: MACs end in the device's number.
var (
	cnatClient = netip.MustParseAddr("fd00::2")
	cnatEnds   = []netip.Addr{1: netip.MustParseAddr("fd00:1::2"), 2: netip.MustParseAddr("fd00:2::2")}
	cnatVIP    = netip.MustParseAddr("fd05::10")
)

const (
	cnatTable          = 1
	cnatPort, cnatBack = 80, 8080
)

func newCNATNode(t *testing.T) *cnatNode {
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
	if _, err := cnat.NewServiceClient(c.conn).CnatGetSnatAddresses(t.Context(), &cnat.CnatGetSnatAddresses{}); errors.As(err, new(*adapter.UnknownMsgError)) {
		t.Skip("needs a VPP with the plugin cnat")
	}
	n := &cnatNode{t, in, c}
	n.ask(&ip.IPTableAddDelV2{IsAdd: true, Table: ip.IPTable{TableID: cnatTable, IsIP6: true}})
	for i, a := range []netip.Addr{cnatClient, cnatEnds[1], cnatEnds[2]} {
		at := interface_types.InterfaceIndex(i + 1)
		n.ask(&af_packet.AfPacketCreateV3{Mode: af_packet.AF_PACKET_API_MODE_ETHERNET, HostIfName: devices[i], HwAddr: [6]byte{2, 4: 0x0c, 5: byte(i)}, NumRxQueues: 1, NumTxQueues: 1})
		n.ask(&interfaces.SwInterfaceSetTable{SwIfIndex: at, IsIPv6: true, VrfID: cnatTable})
		n.ask(&interfaces.SwInterfaceSetFlags{SwIfIndex: at, Flags: interface_types.IF_STATUS_API_FLAG_ADMIN_UP})
		n.ask(&interfaces.SwInterfaceAddDelAddress{SwIfIndex: at, IsAdd: true, Prefix: ip_types.AddressWithPrefix{Address: message(a.Prev()), Len: 64}})
		n.ask(&ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: at, Flags: ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC,
			MacAddress: [6]byte{2, 5: byte(i)}, IPAddress: message(a)}})
		n.feature(at, "ip6-unicast", "cnat-input-ip6")
		n.feature(at, "ip6-output", "cnat-output-ip6")
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
func (n *cnatNode) ask(m api.Message) {
	n.t.Helper()
	must(n.Ask(n.t.Context(), m))(n.t)
}

func (n *cnatNode) feature(at interface_types.InterfaceIndex, arc, name string) {
	n.t.Helper()
	must(feature.NewServiceClient(n.conn).FeatureEnableDisable(n.t.Context(), &feature.FeatureEnableDisable{SwIfIndex: at, Enable: true, ArcName: arc, FeatureName: name}))(n.t)
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

// serve has the service of one endpoint, by UDP.
func (n *cnatNode) serve(end netip.Addr) {
	n.t.Helper()
	nowhere := cnat.CnatEndpoint{SwIfIndex: none, IfAf: ip_types.ADDRESS_IP6, Addr: message(netip.IPv6Unspecified())}
	vip, back := nowhere, nowhere
	vip.Addr, vip.Port, back.Addr, back.Port = message(cnatVIP), cnatPort, message(end), cnatBack
	must(cnat.NewServiceClient(n.conn).CnatTranslationUpdate(n.t.Context(), &cnat.CnatTranslationUpdate{Translation: cnat.CnatTranslation{Vip: vip,
		IPProto: protocolUDP, Paths: []cnat.CnatEndpointTuple{{DstEp: back, SrcEp: nowhere}}}}))(n.t)
}

// heard is who gets a datagram that is sent into a device: a device, its source and its destination. Empty: nobody.
func (n *cnatNode) heard(device int, src, dst netip.AddrPort) (string, netip.AddrPort, netip.AddrPort) {
	n.t.Helper()
	for _, w := range n.in.wires {
		w.read()
	}
	body := ip6(src.Addr(), dst.Addr(), dst.Port(), numbered(1))
	binary.BigEndian.PutUint16(body[ip6Len:], src.Port())
	if err := n.in.wire(devices[device]).send(ethernet6([6]byte{2, 4: 0x0c, 5: byte(device)}, [6]byte{2, 5: byte(device)}, body)); err != nil {
		n.t.Fatal(err)
	}
	for until := time.Now().Add(hearWait); time.Now().Before(until); time.Sleep(time.Millisecond) {
		for _, w := range n.in.wires {
			for _, f := range w.read() {
				if len(f) < ethernetLen+ip6Len+udpLen || binary.BigEndian.Uint16(f[12:]) != etherIPv6 || f[ethernetLen+6] != protocolUDP || f[0] == 0x33 {
					continue
				}
				b := f[ethernetLen:]
				from := netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), binary.BigEndian.Uint16(b[ip6Len:]))
				return w.device, from, netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[24:40])), binary.BigEndian.Uint16(b[ip6Len+2:]))
			}
		}
	}
	return "", netip.AddrPort{}, netip.AddrPort{}
}

// Goal: why VPP serves no services of IPv6 is true of the VPP that is there; where it is not any more, this test says
// so. Method: a service of CNAT's, whose features on interfaces do serve clients and endpoints of any table. Its only
// endpoint is replaced by another one: the client's session goes on to the one that is gone, for as long as it sends.
// No message ends one session; the one that ends all takes the translations along.
func TestCNATServesTheGone(t *testing.T) {
	n := newCNATNode(t)
	vip, client := netip.AddrPortFrom(cnatVIP, cnatPort), netip.AddrPortFrom(cnatClient, 4000)
	ends := make([]netip.AddrPort, len(cnatEnds))
	for i, a := range cnatEnds {
		ends[i] = netip.AddrPortFrom(a, cnatBack)
	}
	n.serve(cnatEnds[1])
	if at, from, to := n.heard(0, client, vip); at != "vd1" || from != client || to != ends[1] {
		t.Fatalf("a request came out of %q from %s to %s", at, from, to)
	}
	if at, from, to := n.heard(1, ends[1], client); at != "vd0" || from != vip || to != client {
		t.Fatalf("its answer came out of %q from %s to %s", at, from, to)
	}
	n.serve(cnatEnds[2])
	if at, _, to := n.heard(0, netip.AddrPortFrom(cnatClient, 4001), vip); at != "vd2" || to != ends[2] {
		t.Errorf("a new session after the change came out of %q to %s", at, to)
	}
	if at, _, to := n.heard(0, client, vip); at != "vd1" || to != ends[1] {
		t.Errorf("the old session goes to %q, %s: CNAT ends sessions with their endpoint here, so that services of IPv6 can be served", at, to)
	}
	rpc := cnat.NewServiceClient(n.conn)
	sessions := func() int {
		shown, err := rpc.CnatSessionDump(t.Context(), &cnat.CnatSessionDump{})
		return len(all(t, shown.Recv, err))
	}
	if got := sessions(); got == 0 {
		t.Error("no session is shown")
	}
	must(rpc.CnatSessionPurge(t.Context(), &cnat.CnatSessionPurge{}))(t)
	if got := sessions(); got != 0 {
		t.Errorf("%d sessions after all were ended", got)
	}
	shown, err := rpc.CnatTranslationDump(t.Context(), &cnat.CnatTranslationDump{})
	if left := all(t, shown.Recv, err); len(left) != 0 {
		t.Errorf("ending all sessions left %d translations: sessions can be ended without them here", len(left))
	}
}
