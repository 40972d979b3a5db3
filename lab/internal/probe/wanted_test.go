package probe

import (
	"net/netip"
	"strings"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/fib"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// plan is what an agent wants of the VPP of TestWanted.
const plan = `table 1
address uplink0 192.168.16.1/24 table 0
up uplink0
bridge 1
loopback loop0 mac 12:2b:00:00:00:01
in-table loop0 1
address loop0 192.168.30.1/24 table 1
up loop0
member loop0 bd 1 bvi shg 1
af-packet host-vdx mac 02:38:00:00:00:01
in-table host-vdx 1
unnumbered host-vdx loop0 table 1
source 10.1.1.2 02:39:00:00:00:01
guard host-vdx
acl policy/x/in permit/0.0.0.0/0>10.0.0.0/8
acls host-vdx policy/x/in policy/x/in
up host-vdx
vxlan vxlan_tunnel2 src 192.168.16.1 dst 192.168.16.2 vni 10 table 0
member vxlan_tunnel2 bd 1 shg 1
up vxlan_tunnel2
fib bd 1 12:2b:00:00:00:02 vxlan_tunnel2
neighbor loop0 192.168.30.2 12:2b:00:00:00:02
route table 1 10.1.2.0/24 via 192.168.30.2 loop0`

// Goal: a VPP as its agent wants it has what somebody took away, and nothing that somebody put there; numbers of interfaces are the
// dump's. Method: a dump where the tunnel and the agent's route are gone, the pod's interface is down, and strangers have typed a
// route and made a loopback.
func TestWanted(t *testing.T) {
	const cli = apiID + 1
	have := newTables(&Dump{Messages: []api.Message{
		&fib.FibSourceDetails{Src: fib.FibSource{ID: apiID, Name: apiName}}, &fib.FibSourceDetails{Src: fib.FibSource{ID: cli, Name: cliName}},
		&interfaces.SwInterfaceDetails{SwIfIndex: 0, InterfaceName: "local0"},
		&interfaces.SwInterfaceDetails{SwIfIndex: 1, InterfaceName: "uplink0", Flags: 1},
		&interfaces.SwInterfaceDetails{SwIfIndex: 3, InterfaceName: "loop0", InterfaceDevType: "Loopback", Flags: 1},
		&interfaces.SwInterfaceDetails{SwIfIndex: 5, InterfaceName: "host-vdx"},
		&interfaces.SwInterfaceDetails{SwIfIndex: 9, InterfaceName: "loop7", InterfaceDevType: "Loopback", Flags: 1},
		&af_packet.AfPacketDetails{SwIfIndex: 5, HostIfName: "vdx"},
		&ip.IPTableDetails{Table: ip.IPTable{TableID: 0}},
		routeOf(t, "10.1.2.3/32", cli, fib_types.FibPath{SwIfIndex: ^uint32(0), Type: fib_types.FIB_API_PATH_TYPE_DROP}),
		routeOf(t, "10.1.9.0/24", apiID, fib_types.FibPath{SwIfIndex: 9}),
		routeOf(t, "224.0.0.0/4", cli+1, fib_types.FibPath{SwIfIndex: ^uint32(0), Type: fib_types.FIB_API_PATH_TYPE_DROP}),
	}})
	var objects []vppwire.Object
	for line := range strings.Lines(plan) {
		o, err := vppwire.ParseObject(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	v, ok := Wanted(have, objects)
	if !ok {
		t.Fatal("a dump of this package is not taken")
	}
	addr := netip.MustParseAddr
	index, found := v.Tunnel(addr("192.168.16.1"), addr("192.168.16.2"), 10)
	if tun, _ := v.Interface(index); !found || tun.Name != "vxlan_tunnel2" || !tun.Up || tun.Bridge != 1 {
		t.Errorf("the tunnel that is gone: %+v", tun)
	}
	for _, c := range []struct {
		table     uint32
		to, route string
	}{
		{1, "10.1.2.3", "{1 10.1.2.0/24 2 192.168.30.2 3 1 true} true"}, // not the stranger's
		{1, "10.1.9.9", "{1 0.0.0.0/0 1 invalid IP 0 0 false} true"},    // a stranger's interface
		{1, "192.168.30.1", "{1 192.168.30.1/32 3 invalid IP 3 0 false} true"},
		{1, "192.168.30.2", "{1 192.168.30.2/32 2 192.168.30.2 3 0 false} true"},
		{0, "192.168.16.2", "{0 192.168.16.0/24 2 invalid IP 1 0 false} true"},
		{1, "224.0.0.1", "{1 224.0.0.0/4 1 invalid IP 4294967295 0 false} true"},
	} {
		if got := show(v.Route(c.table, addr(c.to))); got != c.route {
			t.Errorf("%s in table %d: %s, want %s", c.to, c.table, got, c.route)
		}
	}
	if i, _ := v.Interface(5); !i.Up || i.Table4 != 1 || i.Unnumbered != 3 || !i.Guarded || i.Host != "vdx" {
		t.Errorf("the pod's interface: %+v", i)
	}
	if _, there := v.Interface(9); there {
		t.Error("a stranger's loopback is wanted")
	}
	if !v.Admits(5, vppwire.MAC{2, 0x39, 0, 0, 0, 1}, addr("10.1.1.2")) || v.Admits(5, vppwire.MAC{2, 0x39, 0, 0, 0, 1}, addr("10.1.1.3")) {
		t.Error("the guard does not admit the pod alone")
	}
	for _, leaving := range [...]bool{false, true} {
		if rules, filtered := v.ACLs(5, leaving); !filtered || len(rules) != 1 || !rules[0].Matches(addr("10.1.1.2"), addr("10.1.2.3"), 17, 1, 2) {
			t.Errorf("ACLs: %v %v", rules, filtered)
		}
	}
	e, _ := v.FIB(1, vppwire.MAC{0x12, 0x2b, 0, 0, 0, 2})
	bvi, _ := v.FIB(1, vppwire.MAC{0x12, 0x2b, 0, 0, 0, 1})
	if b, _ := v.Bridge(1); e.Index != index || !bvi.BVI || bvi.Index != 3 || len(b.Members) != 2 || !b.Forward {
		t.Errorf("bridge %+v, its entries %+v %+v", b, e, bvi)
	}
	if _, ok := Wanted(struct{ fact.VPP }{have}, objects); ok {
		t.Error("another view is taken")
	}
}
