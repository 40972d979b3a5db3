package probe

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/fib"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/stn"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const apiID = 7

func toPrefix(t testing.TB, s string) ip_types.Prefix {
	p, err := ip_types.ParsePrefix(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func routeOf(t testing.TB, prefix string, src uint8, p fib_types.FibPath) api.Message {
	return &ip.IPRouteV2Details{Route: ip.IPRouteV2{TableID: 1, Prefix: toPrefix(t, prefix), Src: src, Paths: []fib_types.FibPath{p}}}
}

// Goal: each kind of message shows where laws look for it, and the device that stands in for a NIC is one. Method: one
// message of each kind as VPP 25.10 tells it.
func TestTables(t *testing.T) {
	via := fib_types.FibPath{SwIfIndex: 2}
	via.Nh.Address.SetIP4(ip_types.IP4Address{10, 0, 0, 9})
	addr, _ := ip_types.ParseAddress("192.168.16.1")
	peer, _ := ip_types.ParseAddress("192.168.16.2")
	d := &Dump{Messages: []api.Message{
		&fib.FibSourceDetails{Src: fib.FibSource{ID: apiID, Name: "API"}},
		&interfaces.SwInterfaceDetails{SwIfIndex: 1, InterfaceName: "uplink0", InterfaceDevType: "af-packet", Flags: 1},
		&interfaces.SwInterfaceDetails{SwIfIndex: 0, InterfaceName: "local0"},
		&interfaces.SwInterfaceDetails{SwIfIndex: 2, InterfaceName: "host-vdx", InterfaceDevType: "af-packet", Mtu: []uint32{1450, 0, 0, 0}},
		&interfaces.SwInterfaceDetails{SwIfIndex: 3, InterfaceName: "loop0", InterfaceDevType: "Loopback"},
		&interfaces.SwInterfaceDetails{SwIfIndex: 4, InterfaceName: "vxlan_tunnel2"},
		&af_packet.AfPacketDetails{SwIfIndex: 1, HostIfName: "uplink"},
		&af_packet.AfPacketDetails{SwIfIndex: 2, HostIfName: "vdx"},
		&vxlan.VxlanTunnelV2Details{SwIfIndex: 4, SrcAddress: addr, DstAddress: peer, Vni: 10},
		&ip.IPTableDetails{Table: ip.IPTable{TableID: 1}}, &ip.IPTableDetails{Table: ip.IPTable{TableID: 0}},
		tableOf{&interfaces.SwInterfaceGetTableReply{VrfID: 1}, 2, false},
		&ip.IPAddressDetails{SwIfIndex: 3, Prefix: ip_types.AddressWithPrefix(toPrefix(t, "192.168.30.1/24"))},
		&ip.IPUnnumberedDetails{SwIfIndex: 2, IPSwIfIndex: 3},
		routeOf(t, "10.1.0.0/16", apiID, fib_types.FibPath{SwIfIndex: ^uint32(0), TableID: 3}),
		routeOf(t, "10.1.2.0/24", apiID, via),
		routeOf(t, "10.1.2.0/32", apiID+1, fib_types.FibPath{SwIfIndex: ^uint32(0), Type: fib_types.FIB_API_PATH_TYPE_DROP}),
		routeOf(t, "10.1.2.1/32", apiID+1, fib_types.FibPath{SwIfIndex: 3, Type: fib_types.FIB_API_PATH_TYPE_LOCAL}),
		routeOf(t, "10.2.0.0/16", apiID+1, fib_types.FibPath{SwIfIndex: 3}),
		&stn.StnRulesDetails{IPAddress: addr, SwIfIndex: 2},
		&arp.ProxyArpDetails{Proxy: arp.ProxyArp{TableID: 1, Low: ip_types.IP4Address{10, 0, 0, 1}, Hi: ip_types.IP4Address{10, 0, 0, 9}}},
		&arp.ProxyArpIntfcDetails{SwIfIndex: 2}, &arp.ProxyArpIntfcDetails{SwIfIndex: 3},
	}}
	v := newTables(d, "uplink")
	for _, c := range []struct{ what, got, want string }{
		{"types", fmt.Sprint(kinds(v)), "[local0:1 uplink0:2 host-vdx:5 loop0:3 vxlan_tunnel2:6]"},
		{"tables", fmt.Sprint(slices.Collect(v.Tables())), "[0 1]"},
		{"API", fmt.Sprint(slices.Collect(v.Routes(1))), "[{1 10.1.0.0/16 4 invalid IP 4294967295 3 true} {1 10.1.2.0/24 2 10.0.0.9 2 0 true}]"},
		{"lookup", show(v.Route(1, netip.MustParseAddr("10.1.9.9"))), "{1 10.1.0.0/16 4 invalid IP 4294967295 3 true} true"},
		{"via", show(v.Route(1, netip.MustParseAddr("10.1.2.7"))), "{1 10.1.2.0/24 2 10.0.0.9 2 0 true} true"},
		{"drop", show(v.Route(1, netip.MustParseAddr("10.1.2.0"))), "{1 10.1.2.0/32 1 invalid IP 4294967295 0 false} true"},
		{"local", show(v.Route(1, netip.MustParseAddr("10.1.2.1"))), "{1 10.1.2.1/32 3 invalid IP 3 0 false} true"},
		{"attached", show(v.Route(1, netip.MustParseAddr("10.2.3.4"))), "{1 10.2.0.0/16 2 invalid IP 3 0 false} true"},
		{"nothing", show(v.Route(1, netip.MustParseAddr("9.9.9.9"))), "{1 0.0.0.0/0 1 invalid IP 0 0 false} true"},
		{"no table", show(v.Route(5, netip.MustParseAddr("9.9.9.9"))), "{0 invalid Prefix 0 invalid IP 0 0 false} false"},
		{"tunnel", show(v.Tunnel(netip.MustParseAddr("192.168.16.1"), netip.MustParseAddr("192.168.16.2"), 10)), "4 true"},
		{"STN", show(v.STN(netip.MustParseAddr("192.168.16.1"))) + " " + show(v.STN(netip.MustParseAddr("192.168.16.2"))), "2 true 0 false"},
		{"proxied", fmt.Sprint(v.ProxiesARP(2, netip.MustParseAddr("10.0.0.9"))), "true"},
		{"beyond the range", fmt.Sprint(v.ProxiesARP(2, netip.MustParseAddr("10.0.0.10"))), "false"},
		{"other table", fmt.Sprint(v.ProxiesARP(3, netip.MustParseAddr("10.0.0.9"))), "false"},
		{"not on", fmt.Sprint(v.ProxiesARP(1, netip.MustParseAddr("10.0.0.9"))), "false"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	pod, _ := v.Interface(2)
	if pod.Host != "vdx" || pod.Table4 != 1 || !pod.HasUnnumbered || pod.Unnumbered != 3 || pod.MTU != 1450 {
		t.Errorf("%+v", pod)
	}
}

func kinds(v *tables) (out []string) {
	for i := range v.Interfaces() {
		out = append(out, fmt.Sprintf("%s:%d", i.Name, i.Type))
	}
	return out
}

func show(x any, ok bool) string { return fmt.Sprint(x, ok) }

// Goal: the longest match is what a scan of all routes finds. Method: random tables, against the scan.
func TestLongestMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		d := &Dump{Messages: []api.Message{&ip.IPTableDetails{Table: ip.IPTable{TableID: 1}}}}
		seen := map[netip.Prefix]bool{}
		for range r.IntN(60) {
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(r.IntN(3)), byte(r.IntN(4)), byte(r.IntN(8))}), r.IntN(33)).Masked()
			if !seen[p] {
				seen[p] = true
				d.Messages = append(d.Messages, routeOf(t, p.String(), 0, fib_types.FibPath{SwIfIndex: uint32(p.Bits())}))
			}
		}
		v := newTables(d)
		for range 50 {
			a := netip.AddrFrom4([4]byte{10, byte(r.IntN(3)), byte(r.IntN(4)), byte(r.IntN(8))})
			best := netip.Prefix{}
			for p := range seen {
				if p.Contains(a) && (!best.IsValid() || p.Bits() > best.Bits()) {
					best = p
				}
			}
			got, _ := v.Route(1, a)
			if best.IsValid() && got.Prefix != best || !best.IsValid() && got.Action != fact.ActionDrop {
				t.Fatalf("%s: %s, want %s", a, got.Prefix, best)
			}
		}
	}
}

// Goal: every pair once in small labs; in large ones no pair twice, all places taken, the same each time.
func TestAllPairs(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 40} {
		places := make([]Place, n)
		for i := range places {
			places[i].Name = fmt.Sprint(i)
		}
		for _, most := range []int{0, 1, 5, 100, 10_000} {
			pairs := AllPairs(places, most)
			want := n * (n - 1)
			if most > 0 {
				want = min(want, most)
			}
			seen, from := map[Pair]bool{}, map[string]bool{}
			for _, p := range pairs {
				if seen[p] || p.From == p.To {
					t.Fatalf("%d places, %d pairs: %v", n, most, p)
				}
				seen[p], from[p.From.Name] = true, true
			}
			if len(pairs) != max(0, want) || most == 100 && n == 40 && len(from) < 30 {
				t.Errorf("%d places: %d pairs of at most %d, from %d places", n, len(pairs), most, len(from))
			}
			if !slices.Equal(pairs, AllPairs(places, most)) {
				t.Error("another choice the second time")
			}
		}
	}
}
