package transcript_test

import (
	"reflect"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/tapv2"

	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

const none = 1<<32 - 1

// Goal: a message's line is short, readable and complete. Method: lines written down, each way.
func TestText(t *testing.T) {
	prefix := func(s string) ip_types.Prefix {
		p, err := ip_types.ParsePrefix(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for line, m := range map[string]api.Message{
		"sw_interface_dump sw_if_index=~0":                                   &interfaces.SwInterfaceDump{SwIfIndex: none},
		"sw_interface_set_mtu sw_if_index=1 mtu=1450,0,0,0":                  &interfaces.SwInterfaceSetMtu{SwIfIndex: 1, Mtu: []uint32{1450, 0, 0, 0}},
		`sw_interface_tag_add_del is_add=true sw_if_index=2 tag="a \"pod\""`: &interfaces.SwInterfaceTagAddDel{IsAdd: true, SwIfIndex: 2, Tag: `a "pod"`},
		"ip_route_add_del_v2 is_add=true route.table_id=1 route.prefix=0.0.0.0/0 route.paths[0].sw_if_index=~0 route.paths[0].table_id=7 " +
			"route.paths[1].sw_if_index=3 route.paths[1].proto=1 route.paths[1].nh.address=fd00::1": &ip.IPRouteAddDelV2{IsAdd: true,
			Route: ip.IPRouteV2{TableID: 1, Prefix: prefix("0.0.0.0/0"), Paths: []fib_types.FibPath{{SwIfIndex: none, TableID: 7},
				{SwIfIndex: 3, Proto: 1, Nh: fib_types.FibPathNh{Address: ip_types.NewAddress([]byte{0xfd, 15: 1}).Un}}}}},
		"ip_route_add_del_v2 route.prefix=fd00::/64 route.paths[0]={}": &ip.IPRouteAddDelV2{Route: ip.IPRouteV2{Prefix: prefix("fd00::/64"), Paths: []fib_types.FibPath{{}}}},
		"tap_create_v3 id=~0 use_random_mac=true num_rx_queues=1 host_mac_addr_set=true host_mac_addr=00:00:00:00:00:02 host_ip4_prefix=10.1.1.2/32 tag=pod/a": &tapv2.TapCreateV3{ID: none, UseRandomMac: true, NumRxQueues: 1,
			HostMacAddrSet: true, HostMacAddr: [6]byte{5: 2}, HostIP4Prefix: ip_types.IP4AddressWithPrefix{Address: [4]byte{10, 1, 1, 2}, Len: 32}, Tag: "pod/a"},
	} {
		if got := transcript.Text(m); got != line {
			t.Errorf("text %s\nwant %s", got, line)
		}
		back, err := transcript.Parse(line)
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("parse %s: %+v, %v", line, back, err)
		}
	}
	for _, x := range vppmodel.Exchanges() {
		if m, err := transcript.Parse(transcript.Text(x.Request)); err != nil || transcript.Text(m) != transcript.Text(x.Request) {
			t.Errorf("%s: %v, %v", transcript.Text(x.Request), m, err)
		}
	}
}

// Goal: a bad line is refused in one line of words with the nearest valid one. Method: one of each kind.
func TestParseRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"":                                            "no message",
		"sw_interface_dumb":                           `unknown message "sw_interface_dumb"; did you mean "sw_interface_dump"?`,
		"sw_interface_dump sw_if_idx=1":               `sw_if_idx: unknown field "sw_if_idx"; did you mean "sw_if_index"?`,
		"sw_interface_dump sw_if_index":               `"sw_if_index" is no field=value`,
		"sw_interface_dump sw_if_index=-1":            `sw_if_index: "-1" is no number of 32 bits`,
		`sw_interface_tag_add_del tag="`:              `unclosed quote in "tag=\""`,
		"ip_route_dump table.is_ip6=perhaps":          `table.is_ip6: "perhaps" is no bool`,
		"ip_route_add_del_v2 route.paths[1].weight=1": "route.paths[1].weight: no element 1",
		"ip_route_add_del_v2 route.prefix=10.0.0.0/x": `route.prefix: "10.0.0.0/x" is no address`,
		"ip_route_add_del_v2 route.prefix.len=3":      "route.prefix.len: prefix has no fields",
	} {
		if _, err := transcript.Parse(line); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", line, err, want)
		}
	}
}

// FuzzParse: whatever is read is written as something that reads back as the same.
func FuzzParse(f *testing.F) {
	for _, x := range vppmodel.Exchanges() {
		f.Add(transcript.Text(x.Request))
	}
	f.Add("ip_route_add_del_v2 route.prefix=fd00::/64 route.paths[0].nh.address=10.0.0.1 route.paths[0].label_stack[3].ttl=4")
	f.Add(`sw_interface_tag_add_del tag="\x00 é"`)
	f.Fuzz(func(t *testing.T, line string) {
		m, err := transcript.Parse(line)
		if err != nil {
			return
		}
		text := transcript.Text(m)
		back, err := transcript.Parse(text)
		if err != nil || transcript.Text(back) != text {
			t.Fatalf("%q became %q, and that %v, %v", line, text, back, err)
		}
	})
}
