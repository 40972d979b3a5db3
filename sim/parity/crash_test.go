package parity_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/sim/parity"
	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// unheard leaves a memif on a socket that VPP does not listen on: its path is too long.
var unheard = `memif_socket_filename_add_del_v2 is_add=true socket_id=9 socket_filename=/` + strings.Repeat("a", 107) + `
memif_create_v2 socket_id=9
memif_create_v2 socket_id=9
`

// crashes are the shortest conversations at whose end the model must predict a crash. Those that die end a real VPP
// 25.10 with their last request; the others break what a later one dies of, or by chance.
var crashes = []struct {
	trigger vppmodel.CrashTrigger
	dies    bool
	calls   string
}{
	{vppmodel.CrashLocal0, true, `ip_neighbor_add_del is_add=true neighbor.sw_if_index=0 neighbor.mac_address=02:00:00:00:00:03 neighbor.ip_address=10.0.0.2`},
	{vppmodel.CrashLocal0, true, `sw_interface_set_l2_bridge rx_sw_if_index=0 bd_id=1 port_type=1 enable=true`},
	{vppmodel.CrashNeighbor, true, `vxlan_add_del_tunnel_v3 is_add=true instance=~0 src_address=192.168.16.1 dst_address=192.168.16.2 mcast_sw_if_index=~0 decap_next_index=~0 vni=10 is_l3=true
ip_neighbor_add_del is_add=true neighbor.sw_if_index=1 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:03 neighbor.ip_address=192.168.16.2`},
	{vppmodel.CrashBVI, true, `vxlan_add_del_tunnel_v3 is_add=true instance=~0 src_address=192.168.16.1 dst_address=192.168.16.2 mcast_sw_if_index=~0 decap_next_index=~0 vni=10 is_l3=true
sw_interface_set_l2_bridge rx_sw_if_index=1 bd_id=1 port_type=1 enable=true`},
	{vppmodel.CrashBridgedLoopback, false, `create_loopback_instance
sw_interface_set_l2_bridge rx_sw_if_index=1 bd_id=1 enable=true`},
	{vppmodel.CrashBridgedLoopback, false, `create_loopback_instance
sw_interface_set_l2_bridge rx_sw_if_index=1 port_type=1 enable=true`},
	{vppmodel.CrashARPToNowhere, false, `create_loopback_instance
bridge_domain_add_del_v2 bd_id=1 flood=true arp_ufwd=true is_add=true
sw_interface_set_l2_bridge rx_sw_if_index=1 bd_id=1 port_type=1 enable=true`},
	{vppmodel.CrashTableOfTunnel, false, `ip_table_add_del_v2 table.table_id=1 is_add=true
vxlan_add_del_tunnel_v3 is_add=true instance=~0 src_address=192.168.16.1 dst_address=192.168.16.2 mcast_sw_if_index=~0 decap_next_index=~0 vni=10 encap_vrf_id=1
ip_table_add_del_v2 table.table_id=1`},
	{vppmodel.CrashTableInUse, false, `ip_table_add_del_v2 table.table_id=1 is_add=true
create_loopback_instance
sw_interface_set_table sw_if_index=1 vrf_id=1
ip_table_add_del_v2 table.table_id=1`},
	{vppmodel.CrashTableWithRoutes, false, `ip_table_add_del_v2 table.table_id=1 is_add=true
ip_route_add_del_v2 is_add=true route.table_id=1 route.prefix=10.0.0.0/24 route.paths[0].sw_if_index=~0 route.paths[0].type=2
ip_table_add_del_v2 table.table_id=1`},
	{vppmodel.CrashDeadNeighbor, true, `create_loopback_instance
ip_neighbor_add_del is_add=true neighbor.sw_if_index=1 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:03 neighbor.ip_address=10.0.0.2
create_loopback_instance
delete_loopback sw_if_index=1
ip_neighbor_add_del is_add=true neighbor.sw_if_index=2 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:03 neighbor.ip_address=10.0.0.2`},
	{vppmodel.CrashDeadNeighborFlushed, true, `vxlan_add_del_tunnel_v3 is_add=true instance=~0 src_address=192.168.16.2 dst_address=192.168.16.3 mcast_sw_if_index=~0 decap_next_index=~0 vni=11
ip_neighbor_add_del is_add=true neighbor.sw_if_index=1 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:01 neighbor.ip_address=192.168.16.1
vxlan_add_del_tunnel_v3 instance=~0 src_address=192.168.16.2 dst_address=192.168.16.3 mcast_sw_if_index=~0 decap_next_index=~0 vni=11
ip_neighbor_flush sw_if_index=~0`},
	{vppmodel.CrashSTNInterface, true, `stn_add_del_rule ip_address=10.0.0.1 sw_if_index=9999999 is_add=true`},
	{vppmodel.CrashMemifMode, true, `memif_create_v2 mode=2`},
	{vppmodel.CrashMemifMiscounted, false, unheard + `memif_create_v2 socket_id=9`},
	{vppmodel.CrashMemifMiscounted, false, unheard + `memif_socket_filename_add_del_v2 socket_id=9`},
	{vppmodel.CrashDeadFlushed, false, `ip_table_add_del_v2 table.table_id=1 is_add=true
create_loopback_instance
sw_interface_set_table sw_if_index=1 vrf_id=1
ip_route_add_del_v2 is_add=true route.table_id=1 route.prefix=10.0.0.0/24 route.paths[0].sw_if_index=1 route.paths[0].weight=1
delete_loopback sw_if_index=1
ip_table_flush table.table_id=1`},
	{vppmodel.CrashDeadCover, false, `create_loopback_instance
ip_route_add_del_v2 is_add=true route.prefix=192.168.16.0/24 route.paths[0].sw_if_index=1 route.paths[0].weight=1 route.paths[0].nh.address=10.0.0.9
delete_loopback sw_if_index=1
vxlan_add_del_tunnel_v3 is_add=true instance=~0 src_address=192.168.16.1 dst_address=192.168.16.2 mcast_sw_if_index=~0 decap_next_index=~0 vni=10`},
	{vppmodel.CrashDeadCopied, true, `create_loopback_instance
ip_route_add_del_v2 is_add=true route.prefix=10.0.0.0/24 route.paths[0].sw_if_index=1 route.paths[0].weight=1
delete_loopback sw_if_index=1
ip_route_add_del_v2 is_add=true is_multipath=true route.prefix=10.0.0.0/24 route.paths[0].sw_if_index=~0 route.paths[0].weight=1 route.paths[0].type=2`},
	{vppmodel.CrashUnreachable, false, `ip_route_add_del_v2 is_add=true route.prefix=10.0.0.0/24 route.paths[0].sw_if_index=~0 route.paths[0].type=5`},
	{vppmodel.CrashAttachedBeside, true, `ip_table_add_del_v2 table.table_id=7 is_add=true
ip_route_add_del_v2 is_add=true route.table_id=7 route.prefix=10.0.0.0/24 route.paths[0].sw_if_index=~0 route.paths[0].weight=1
create_loopback_instance
ip_route_add_del_v2 is_multipath=true route.table_id=7 route.prefix=10.0.0.0/24 route.paths[0].sw_if_index=1 route.paths[0].weight=1`},
	{vppmodel.CrashBelowRoute, true, `ip_route_add_del_v2 is_add=true route.prefix=10.0.0.0/24 route.paths[0].sw_if_index=~0 route.paths[0].weight=1 route.paths[0].nh.address=10.0.0.9
create_loopback_instance
ip_neighbor_add_del is_add=true neighbor.sw_if_index=1 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:04 neighbor.ip_address=10.0.0.9
ip_route_add_del_v2 route.prefix=10.0.0.0/24`},
	{vppmodel.CrashBorrowerWithOwn, false, `create_loopback_instance
create_loopback_instance
sw_interface_set_unnumbered sw_if_index=1 unnumbered_sw_if_index=2 is_add=true
sw_interface_add_del_address sw_if_index=2 is_add=true prefix=10.0.0.1/24`},
	{vppmodel.CrashAddressOtherwise, false, `create_loopback_instance
sw_interface_add_del_address sw_if_index=1 is_add=true prefix=10.0.0.1/24
sw_interface_add_del_address sw_if_index=1 prefix=10.0.0.1/32`},
}

func parse(t *testing.T, text string) []api.Message {
	t.Helper()
	var all []api.Message
	for line := range strings.Lines(text) {
		m, err := transcript.Parse(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// Goal: the model knows what kills a real VPP, at the request that does it and not before. Method: the shortest
// conversations that were found, and transcripts of what real VPPs lived through, which must predict nothing but what
// only breaks memory. Each trigger has a gap of its name.
func TestPredictCrash(t *testing.T) {
	for _, c := range crashes {
		var got []vppmodel.CrashTrigger
		v := vppmodel.New(vppmodel.Config{Crash: func(d vppmodel.CrashTrigger, _ api.Message) { got = append(got, d) }})
		calls := parse(t, c.calls)
		for i, m := range calls {
			if _, err := v.Answer(vppmodel.InProcess, m); err != nil {
				t.Fatal(err)
			}
			if i < len(calls)-1 && len(got) > 0 {
				t.Errorf("%s: predicted at request %d", c.trigger, i+1)
			}
		}
		if !slices.Equal(got, []vppmodel.CrashTrigger{c.trigger}) {
			t.Errorf("%s: predicted %v", c.trigger, got)
		}
		if !slices.ContainsFunc(transcript.Gaps(), func(g transcript.Gap) bool { return g.Name == string(c.trigger) }) {
			t.Errorf("%s is no gap", c.trigger)
		}
	}
}

// Goal: what the model says to be deadly is. Method: each of those conversations that ends at once with a real VPP.
func TestCrashes(t *testing.T) {
	path := realVPP(t)
	fresh, end, err := parity.RealVPPs(path)
	if err != nil {
		t.Skip("needs a network namespace: " + err.Error())
	}
	defer end()
	for _, c := range crashes {
		if !c.dies {
			continue
		}
		v, err := fresh(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		died := ""
		calls := parse(t, c.calls)
		for i, m := range append(calls, parse(t, "control_ping")...) {
			if _, err := v.Ask(context.Background(), m); err != nil {
				died = err.Error()
				if i < len(calls)-1 {
					t.Errorf("%s: at request %d: %s", c.trigger, i+1, died)
				}
				break
			}
		}
		v.Close()
		if !strings.Contains(died, "died of SIG") {
			t.Errorf("%s: a real VPP lives (%s)", c.trigger, died)
		}
		t.Logf("%s: %s", c.trigger, died)
	}
}
