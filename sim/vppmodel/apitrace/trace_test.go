package apitrace_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/apitrace"
)

const none = 1<<32 - 1

func prefix(t *testing.T, text string) ip_types.Prefix {
	t.Helper()
	p, err := ip_types.ParsePrefix(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shown is what a VPP has beside names and kinds of interfaces.
func shown(t *testing.T, v *vppmodel.VPP) string {
	t.Helper()
	var b strings.Builder
	for i := range v.Interfaces() {
		fmt.Fprintln(&b, i.Index, i.Up, i.MAC, i.Addrs, i.Tables, i.VNI)
	}
	for _, m := range []api.Message{&ip.IPRouteV2Dump{}, &ip_neighbor.IPNeighborDump{SwIfIndex: none}, &vxlan.VxlanTunnelV2Dump{SwIfIndex: none}} {
		answers, err := v.Answer(vppmodel.InProcess, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			fmt.Fprintf(&b, "%+v\n", a)
		}
	}
	return b.String()
}

// Goal: who replays a trace has what was traced, on a machine without its devices. Method: a VPP with a NIC, taps, an AF_PACKET interface
// and drawn MACs, some of which go again; its trace is read and asked of a bare one.
func TestTrace(t *testing.T) {
	var trace *apitrace.Trace
	v := vppmodel.New(vppmodel.Config{PID: 7, NICs: []vppmodel.NIC{{Name: "GigabitEthernet0/8/0"}}, Asked: func(m, r api.Message) { trace.Add(m, r) }})
	trace = apitrace.New(v)
	a := prefix(t, "10.0.0.1/24")
	for i, m := range []api.Message{
		&interfaces.SwInterfaceSetFlags{SwIfIndex: 1, Flags: 1},
		&interfaces.SwInterfaceAddDelAddress{SwIfIndex: 1, IsAdd: true, Prefix: ip_types.AddressWithPrefix(a)},
		&interfaces.SwInterfaceAddDelAddress{SwIfIndex: 1, IsAdd: true, Prefix: ip_types.AddressWithPrefix(a)}, // refused
		&tapv2.TapCreateV3{ID: none, UseRandomMac: true, HostIfName: "a"},
		&tapv2.TapCreateV3{ID: none, UseRandomMac: true, HostIfName: "b"},
		&tapv2.TapDeleteV2{SwIfIndex: 2},
		&af_packet.AfPacketCreateV3{HostIfName: "eth7", UseRandomHwAddr: true},
		&interfaces.HwInterfaceSetMtu{SwIfIndex: 2, Mtu: 1400},
		&af_packet.AfPacketDelete{HostIfName: "eth7"},
		&interfaces.CreateLoopback{},
		&vxlan.VxlanAddDelTunnelV3{IsAdd: true, Instance: none, SrcAddress: a.Address, DstAddress: prefix(t, "10.0.0.2/32").Address, McastSwIfIndex: none, DecapNextIndex: none, Vni: 10},
		&interfaces.SwInterfaceSetFlags{SwIfIndex: 3, Flags: 1},
		&ip.IPRouteAddDelV2{IsAdd: true, Route: ip.IPRouteV2{Prefix: prefix(t, "10.1.0.5/32"), NPaths: 1, Paths: []fib_types.FibPath{{SwIfIndex: 3, Weight: 1}}}},
		&ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: 3, Flags: 1, MacAddress: [6]byte{2}, IPAddress: prefix(t, "10.1.0.5/32").Address}},
	} {
		if _, err := v.Answer(vppmodel.InProcess, m); err != nil {
			t.Fatal(i, err)
		}
	}
	bytes, err := trace.Bytes()
	if err != nil || trace.Empty() {
		t.Fatal(err)
	}
	all, err := apitrace.Read(bytes)
	if err != nil {
		t.Fatal(err)
	}
	bare := vppmodel.New(vppmodel.Config{PID: 8})
	for _, m := range all {
		answers, err := bare.Answer(vppmodel.InProcess, m)
		if err != nil || strings.Contains(fmt.Sprintf("%+v", answers[0]), "Retval:-") {
			t.Errorf("%s: %+v, %v", m.GetMessageName(), answers, err)
		}
	}
	if got, want := shown(t, bare), shown(t, v); got != want {
		t.Errorf("replayed:\n%s\ntraced:\n%s", got, want)
	}
	if err := bare.Invoke(context.Background(), all[0], nil); err != nil {
		t.Error(err)
	}
}

// Goal: what is no trace is refused. Method: a trace cut at every place, and one of another release.
func TestDamaged(t *testing.T) {
	v := vppmodel.New(vppmodel.Config{NICs: []vppmodel.NIC{{Name: "a"}}})
	whole, err := apitrace.New(v).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if _, err := apitrace.Read(whole[:n]); !errors.Is(err, apitrace.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	other := strings.Replace(string(whole), "create_loopback_instance", "create_loopback_instancf", 1)
	var unknown *apitrace.UnknownError
	if _, err := apitrace.Read([]byte(other)); !errors.As(err, &unknown) {
		t.Errorf("another release: %v", err)
	}
}

// FuzzRead: whatever is read, it neither panics nor takes memory that its bytes do not pay for.
func FuzzRead(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = apitrace.Read(b) })
}
