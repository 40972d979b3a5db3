package parity_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/sim/parity"
)

// node is a small node: two uplinks, a bridge domain with a BVI and a tunnel, and a pod range behind another one.
const node = `ip_table_add_del_v2 table.table_id=1 is_add=true
af_packet_create_v3 mode=1 hw_addr=02:00:00:00:0c:01 host_if_name=vd0 num_rx_queues=1 num_tx_queues=1
sw_interface_set_flags sw_if_index=1 flags=1
sw_interface_add_del_address sw_if_index=1 is_add=true prefix=192.168.16.1/24
ip_neighbor_add_del is_add=true neighbor.sw_if_index=1 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:02 neighbor.ip_address=192.168.16.2
af_packet_create_v3 mode=1 hw_addr=02:00:00:00:0c:02 host_if_name=vd1 num_rx_queues=1 num_tx_queues=1
sw_interface_set_table sw_if_index=2 vrf_id=1
sw_interface_set_flags sw_if_index=2 flags=1
sw_interface_add_del_address sw_if_index=2 is_add=true prefix=10.0.0.1/24
ip_neighbor_add_del is_add=true neighbor.sw_if_index=2 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:03 neighbor.ip_address=10.0.0.2
ip_route_add_del_v2 is_add=true route.prefix=10.0.0.0/16 route.paths[0].sw_if_index=~0 route.paths[0].table_id=1 route.paths[0].weight=1
bridge_domain_add_del_v2 bd_id=1 forward=true is_add=true
create_loopback_instance mac_address=02:00:00:00:00:01
sw_interface_set_table sw_if_index=3 vrf_id=1
sw_interface_add_del_address sw_if_index=3 is_add=true prefix=172.16.0.1/24
sw_interface_set_flags sw_if_index=3 flags=1
sw_interface_set_l2_bridge rx_sw_if_index=3 bd_id=1 port_type=1 shg=1 enable=true
vxlan_add_del_tunnel_v3 is_add=true instance=~0 src_address=192.168.16.1 dst_address=192.168.16.2 mcast_sw_if_index=~0 decap_next_index=~0 vni=10
sw_interface_set_l2_bridge rx_sw_if_index=4 bd_id=1 shg=1 enable=true
l2fib_add_del mac=02:00:00:00:00:04 bd_id=1 sw_if_index=4 is_add=true static_mac=true
ip_neighbor_add_del is_add=true neighbor.sw_if_index=3 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:04 neighbor.ip_address=172.16.0.4
ip_route_add_del_v2 is_add=true route.table_id=1 route.prefix=10.1.0.0/24 route.paths[0].sw_if_index=3 route.paths[0].weight=1 route.paths[0].nh.address=172.16.0.4`

// Goal: a packet comes out of the model where a reader of its tables expects it, rewritten. Method: every probe into a
// small node, and what comes out, in full.
func TestPackets(t *testing.T) {
	s := parity.NewModel()
	for _, m := range parse(t, node) {
		if _, err := s.Ask(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.(parity.Prober).Probe(context.Background(), parity.Packets(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(wantPackets, "\n")
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), wantPackets)
	}
}

const wantPackets = `out=vd0 arp eth_dst=ff:ff:ff:ff:ff:ff eth_src=02:00:00:00:0c:01 target=192.168.16.3
out=vd0 udp number=22 eth_dst=02:00:00:00:00:02 eth_src=02:00:00:00:0c:01 src=198.18.0.9 dst=192.168.16.2 ttl=63
out=vd0 udp number=23 eth_dst=02:00:00:00:00:02 eth_src=02:00:00:00:0c:01 src=198.18.0.9 dst=192.168.16.2 ttl=63 size=1480
out=vd0 udp number=24 eth_dst=02:00:00:00:00:02 eth_src=02:00:00:00:0c:01 src=198.18.0.9 dst=192.168.16.2 ttl=63 size=1480
out=vd0 vxlan eth_dst=02:00:00:00:00:02 eth_src=02:00:00:00:0c:01 src=192.168.16.1 dst=192.168.16.2 ttl=253 vni=10 around udp number=57 eth_dst=02:00:00:00:00:04 eth_src=02:00:00:00:00:01 src=198.18.0.9 dst=10.1.0.2 ttl=63
out=vd1 arp eth_dst=ff:ff:ff:ff:ff:ff eth_src=02:00:00:00:0c:02 target=10.0.0.3
out=vd1 udp number=4 eth_dst=02:00:00:00:00:03 eth_src=02:00:00:00:0c:02 src=198.18.0.9 dst=10.0.0.2 ttl=63
out=vd1 udp number=45 eth_dst=02:00:00:00:00:03 eth_src=02:00:00:00:0c:02 src=198.18.0.9 dst=10.0.0.2 ttl=63
out=vd1 udp number=46 eth_dst=02:00:00:00:00:03 eth_src=02:00:00:00:0c:02 src=198.18.0.9 dst=10.0.0.2 ttl=63 size=1480
out=vd1 udp number=47 eth_dst=02:00:00:00:00:03 eth_src=02:00:00:00:0c:02 src=198.18.0.9 dst=10.0.0.2 ttl=63 size=1480
out=vd1 udp number=5 eth_dst=02:00:00:00:00:03 eth_src=02:00:00:00:0c:02 src=198.18.0.9 dst=10.0.0.2 ttl=63 size=1480
out=vd1 udp number=6 eth_dst=02:00:00:00:00:03 eth_src=02:00:00:00:0c:02 src=198.18.0.9 dst=10.0.0.2 ttl=63 size=1480`

// misled is a model that loses a frame.
type misled struct{ parity.Prober }

func (m misled) Probe(ctx context.Context, packets []parity.Packet, done func([]string) bool) ([]string, error) {
	lines, err := m.Prober.Probe(ctx, packets, done)
	return lines[:max(len(lines)-1, 0)], err
}

// Goal: a packet that comes out elsewhere is a difference, and shrinks to what lets it come out. Method: the node
// above, against a model that loses one frame.
func TestMisled(t *testing.T) {
	s := parity.Sequence{Model: fresh, Real: func(ctx context.Context) (parity.Subject, error) {
		return misled{parity.NewModel().(parity.Prober)}, nil
	}}
	f, report, err := s.Run(context.Background(), parse(t, node))
	if err != nil || f == nil || report.Packets == 0 || !strings.HasPrefix(f.Request, "(packets)") {
		t.Fatalf("%v, %d packets, %v", f, report.Packets, err)
	}
	f, err = s.Shrink(context.Background(), f)
	if err != nil || len(f.Calls) > 4 || len(f.Got) != 1 {
		t.Errorf("shrunk to %v, %v", f, err)
	}
}

// bviDown takes the node's BVI down: bridged frames for its MAC go on all the same.
const bviDown = `
sw_interface_set_flags sw_if_index=3`

// Goal: a BVI that is down takes bridged frames, and sends none. Method: the frames for it, out of the tunnel.
func TestPacketsToBVIThatIsDown(t *testing.T) {
	s := parity.NewModel()
	for _, m := range parse(t, node+bviDown) {
		if _, err := s.Ask(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.(parity.Prober).Probe(context.Background(), parity.Packets(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got, "\n")
	if !strings.Contains(all, "out=vd1 udp number=45 ") || strings.Contains(all, "vxlan") {
		t.Errorf("got\n%s", all)
	}
}

// MTUs of the uplink that the tunnel's packets leave by, of the BVI that packets enter the tunnel by, and of the pods'
// interface for IPv4 alone.
const (
	shortUplink = `
sw_interface_set_mtu sw_if_index=1 mtu=1400,0,0,0`
	shortBVI = `
sw_interface_set_mtu sw_if_index=3 mtu=1450,0,0,0`
	shortPods = `
sw_interface_set_mtu sw_if_index=2 mtu=9000,1400,0,0`
	shortSix = `
sw_interface_set_mtu sw_if_index=2 mtu=9000,0,1400,0`
)

// sixth gives the node IPv6 as well: a pod, a range behind the tunnel, a next hop that is looked up again, one range
// that is dropped.
const sixth = `
ip_table_add_del_v2 table.table_id=1 table.is_ip6=true is_add=true
sw_interface_set_table sw_if_index=2 is_ipv6=true vrf_id=1
sw_interface_set_table sw_if_index=3 is_ipv6=true vrf_id=1
sw_interface_add_del_address sw_if_index=1 is_add=true prefix=fd01::1/64
sw_interface_add_del_address sw_if_index=2 is_add=true prefix=fd00::1/64
sw_interface_add_del_address sw_if_index=3 is_add=true prefix=fd00:1::1/64
ip_neighbor_add_del is_add=true neighbor.sw_if_index=2 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:03 neighbor.ip_address=fd00::2
ip_neighbor_add_del is_add=true neighbor.sw_if_index=3 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:04 neighbor.ip_address=fd00:1::9
ip_route_add_del_v2 is_add=true route.prefix=fd00::/16 route.paths[0].sw_if_index=~0 route.paths[0].table_id=1 route.paths[0].weight=1 route.paths[0].proto=1`

// served has NAT on the uplink serve the pod as two services, the client's address of the second being translated too.
const served = `
nat44_ed_plugin_enable_disable enable=true
nat44_forwarding_enable_disable enable=true
nat44_add_del_address_range first_ip_address=10.97.0.1 last_ip_address=10.97.0.1 vrf_id=~0 is_add=true flags=1
nat44_interface_add_del_feature is_add=true flags=32 sw_if_index=1
nat44_interface_add_del_feature is_add=true flags=16 sw_if_index=1
nat44_add_del_lb_static_mapping is_add=true flags=4 external_addr=10.96.0.1 external_port=80 protocol=17 locals[0].addr=10.96.0.1 locals[0].port=80 locals[1].addr=10.0.0.2 locals[1].port=8080 locals[1].probability=5 locals[1].vrf_id=1
nat44_add_del_lb_static_mapping is_add=true flags=5 external_addr=10.96.0.2 external_port=80 protocol=17 locals[0].addr=10.96.0.2 locals[0].port=80 locals[1].addr=10.0.0.2 locals[1].port=8080 locals[1].probability=5 locals[1].vrf_id=1`

// overSix is the node with its tunnel over IPv6.
var overSix = strings.NewReplacer("src_address=192.168.16.1 dst_address=192.168.16.2", "src_address=fd01::1 dst_address=fd01::2",
	"af_packet_create_v3 mode=1 hw_addr=02:00:00:00:0c:02", `sw_interface_add_del_address sw_if_index=1 is_add=true prefix=fd01::1/64
ip_neighbor_add_del is_add=true neighbor.sw_if_index=1 neighbor.flags=1 neighbor.mac_address=02:00:00:00:00:02 neighbor.ip_address=fd01::2
af_packet_create_v3 mode=1 hw_addr=02:00:00:00:0c:02`).Replace(node)

// Goal: what is longer than an interface's MTU comes out in fragments, or not at all where it has DF; what is longer
// than the device below it is lost. Method: the long probes into the small node with one short MTU at a time, each with
// all that comes out of them.
func TestLongPackets(t *testing.T) {
	datadriven.RunTest(t, "testdata/long.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := parity.NewModel()
		calls := node
		switch {
		case d.HasArg("ipv6"):
			calls += sixth
		case d.HasArg("tunnel6"):
			calls = overSix
		case d.HasArg("served"):
			calls += served
		}
		for _, m := range parse(t, calls+"\n"+d.Input) {
			if _, err := s.Ask(context.Background(), m); err != nil {
				t.Fatal(err)
			}
		}
		lines, err := s.(parity.Prober).Probe(context.Background(), parity.Packets(s), nil)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, l := range lines {
			if strings.Contains(l, "size=") && len(d.CmdArgs) == 0 || strings.Contains(l, "src=2001:") ||
				d.HasArg("tunnel6") && !strings.Contains(l, "out=vd0 udp") || d.HasArg("served") && strings.Contains(l, " port=") {
				b.WriteString(l + "\n")
			}
		}
		return b.String()
	})
}

// Goal: real packets come out of a real VPP where the model has them. Method: the same node on both, whole, with its
// BVI down, and with one short MTU at a time.
func TestPacketsLive(t *testing.T) {
	path := realVPP(t)
	real, end, err := parity.RealVPPs(path)
	if err != nil {
		t.Skip("needs a network namespace: " + err.Error())
	}
	defer end()
	for _, calls := range []string{node, node + bviDown, node + shortUplink, node + shortBVI, node + shortPods, node + sixth, node + sixth + shortSix,
		overSix, overSix + shortUplink, node + served} {
		f, report, err := parity.Sequence{Model: fresh, Real: real}.Run(context.Background(), parse(t, calls))
		if err != nil || report.Packets == 0 {
			t.Fatalf("%d packets, %v", report.Packets, err)
		}
		if f != nil {
			t.Error(f)
		}
	}
}

// asksInTunnel is what live seed 30092 shrinks to: a tunnel that routes and has an address of its own asks for
// neighbors there.
const asksInTunnel = `create_loopback_instance mac_address=02:00:00:00:00:01 is_specified=true user_instance=3
vxlan_add_del_tunnel_v3 is_add=true instance=~0 src_address=192.168.16.1 dst_address=192.168.16.2 mcast_sw_if_index=~0 decap_next_index=~0 vni=11
delete_loopback sw_if_index=1
sw_interface_add_del_address sw_if_index=2 is_add=true prefix=10.0.0.2/24
create_loopback_instance mac_address=02:00:00:00:00:01
af_packet_create_v3 mode=1 hw_addr=02:00:00:00:0c:00 host_if_name=vd1 num_rx_queues=1 num_tx_queues=1
sw_interface_set_flags sw_if_index=3 flags=1
sw_interface_add_del_address sw_if_index=3 is_add=true prefix=192.168.16.1/30
ip_neighbor_add_del is_add=true neighbor.sw_if_index=3 neighbor.mac_address=02:00:00:00:00:03 neighbor.ip_address=192.168.16.2`

// Goal: what VPP makes itself is not forwarded when a tunnel wraps it, so that the tunnel's packet keeps its TTL.
// Method: the sequence above, and the requests as VPP 25.10 sends them.
func TestOwnPacketsInTunnel(t *testing.T) {
	s := parity.NewModel()
	for _, m := range parse(t, asksInTunnel) {
		if _, err := s.Ask(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.(parity.Prober).Probe(context.Background(), parity.Packets(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got, "\n")
	for _, target := range []string{"10.0.0.1", "10.0.0.3"} {
		want := "out=vd1 vxlan eth_dst=02:00:00:00:00:03 eth_src=02:00:00:00:0c:00 src=192.168.16.1 dst=192.168.16.2 ttl=254 vni=11 around arp"
		if !slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, want) && strings.HasSuffix(l, "target="+target) }) {
			t.Errorf("no request for %s with TTL 254:\n%s", target, all)
		}
	}
}
