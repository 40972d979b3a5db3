package vppmodel_test

import (
	"strings"
	"testing"
)

// base is what every line of the table below starts from: two tables, two loopbacks with an address each, a tap, an
// AF_PACKET interface, a bridge with a BVI and a tunnel, one neighbor, one MAC.
const base = `table add 1
loop
addr add loop0 10.0.0.1/24
loop mac 02:00:00:00:00:10
bind loop1 1
addr add loop1 10.9.0.1/24
tap
af vd01
bridge add 1 forward
member loop1 1 port 1 shg 1
vxlan add 192.168.16.1 192.168.16.2 10 instance 5
member vxlan_tunnel5 1 shg 1
neighbor add loop0 10.0.0.2 02:00:00:00:00:02
l2fib add 1 02:00:00:00:00:20 vxlan_tunnel5
proxy add 0 10.0.0.2 10.0.0.9
dhcp add GigabitEthernet0/8/0`

// Goal: every return code that a client of these messages must know, and every repeat and missing deletion of the
// idempotence list. Method: one call on a fresh VPP in the same state; the want is the retval, with what the reply
// carries beside it.
func TestReturnCodes(t *testing.T) {
	for _, c := range []struct{ call, want string }{
		// Repeats that are fine.
		{"up loop0", "ok"},
		{"table add 1", "ok"},
		{"table add 0", "ok"},
		{"bind tap0 1", "ok"},
		{"unnumbered add tap0 loop0", "ok"},
		{"route add 0 10.5.0.0/16 drop", "ok"},
		{"neighbor add loop0 10.0.0.2 02:00:00:00:00:03", "ok"},
		{"member vxlan_tunnel5 1 shg 1", "ok"},
		{"member loop1 1 port 1 shg 1", "ok"},
		{"l2fib add 1 02:00:00:00:00:20 vxlan_tunnel5", "ok"},
		{"proxy add 0 10.0.0.2 10.0.0.9", "ok"},
		{"proxy-on loop0", "ok"},
		{"route del 0 10.7.0.0/16", "ok"},
		{"table del 9", "ok"},
		{"addr flush tap0", "ok"},
		{"unbridge tap0", "ok"},
		{"untag tap0", "ok"},

		// Repeats and clashes that are not.
		{"addr add loop0 10.0.0.1/24", "-105"},
		{"addr add tap0 10.0.0.77/24", "-105"},
		{"addr add loop0 10.0.0.77/24", "ok"},
		{"addr add loop0 10.0.0.77/25", "-105"}, // one interface, but another length
		{"addr add tap0 10.0.0.0/8", "-105"},
		{"addr add tap0 10.9.0.1/24", "ok"}, // another table
		{"bridge add 1 forward", "-119"},
		{"bridge add 0", "-119"},
		{"vxlan add 192.168.16.1 192.168.16.2 10", "-75"},
		{"vxlan add 192.168.16.1 192.168.16.2 10 dst-port 4790", "-75"}, // the destination port is no part of the key
		{"vxlan add 192.168.16.1 192.168.16.2 11", "index 7"},
		{"af vd01", "-79 index 5"},
		{"tap id 0", "-71"},
		{"loop instance 0", "-31"},
		{"loop instance 16384", "-31"},
		{"dhcp add GigabitEthernet0/8/0", "-7"},

		// Deleting what is not there.
		{"addr del loop0 10.0.0.3/24", "-60"},
		{"neighbor del loop0 10.0.0.3", "-6"},
		{"bridge del 2", "-6"},
		{"l2fib del 1 02:00:00:00:00:21 vxlan_tunnel5", "-6"},
		{"l2fib del 1 02:00:00:00:00:20 loop1", "-6"},
		{"l2fib del 1 02:00:00:00:00:20 #0", "ok"},
		{"l2fib del 2 02:00:00:00:00:20 #0", "-6"},
		{"vxlan del 192.168.16.1 192.168.16.3 10", "-6"},
		{"proxy del 0 10.0.0.2 10.0.0.8", "-6"},
		{"tap-del #77", "-2"},
		{"tap-del loop0", "-2"},
		{"loop-del #77", "-2"},
		{"loop-del tap0", "-2"},
		{"af-del vd77", "-11"},
		{"dhcp del loop0", "-7"},

		// Tables.
		{"bind loop0 1", "-114"},
		{"bind loop0 0", "-114"},
		{"bind loop0 1 v6", "-3"},
		{"bind tap0 9", "-3"},
		{"unnumbered add tap0 loop1", "-74"},
		{"unnumbered add #77 loop0", "-2"},
		{"unnumbered add tap0 #77", "-10"},
		{"flush 9", "-3"},
		{"proxy add 9 10.0.0.2 10.0.0.9", "-3"},

		// Routes; the order of checks is table, path, length, number of paths.
		{"route add 9 10.5.0.0/33 via 10.0.0.2 #77", "-3"},
		{"route add 0 10.5.0.0/33 via 10.0.0.2 #77", "-54"},
		{"route add 0 10.5.0.0/33 drop", "-171"},
		{"route add 0 fd00::/129 drop", "-171"},
		{"route add 0 10.5.0.0/16 lookup 9", "-3"},
		{"route add 0 10.5.0.0/16 via fd00::1 table 1", "-3"},
		{"route add 0 10.5.0.0/16", "-52"},
		{"route del-path 0 10.5.0.0/16", "-52"},
		{"route add 0 10.5.0.0/16 drop proto 2", "-157"},
		{"route add 0 10.5.0.0/16 lookup 1 type 8", "-9"},
		{"route del 0 10.5.0.0/16 via 10.0.0.2 #77", "-54"}, // paths are checked on the way out too

		// Addresses and neighbors.
		{"addr add #0 10.5.0.1/24", "-126"},
		{"addr add tap0 10.5.0.1/0", "-105"}, // overlaps everything, and that is checked first
		{"addr add tap0 fd00::1/0", "-59"},
		{"addr add tap0 10.5.0.1/33", "-59"},
		{"addr add tap0 fe80::1/64", "-59"},
		{"neighbor add loop0 10.0.0.2 02:00:00:00:00:03 dynamic", "-2"},
		{"neighbor add loop0 10.0.0.2 02:00:00:00:00:02 dynamic", "ok"},
		{"neighbor add #77 10.0.0.2 02:00:00:00:00:02", "-2"},

		// Bridges.
		{"bridge del 1", "-120"},
		{"bridge del 0", "-121"},
		{"bridge-flags 0 set 1", "-121"},
		{"bridge-flags 9 set 1", "-6"},
		{"bridge add 16777216", "-122"},
		{"bridge add any", "id 2"},
		{"member tap0 16777216", "-122"},
		{"member tap0 1 port 1", "-152"},
		{"member tap0 1 port 9", "-7"},
		{"member #77 1", "-2"},
		{"l2fib add 2 02:00:00:00:00:21 vxlan_tunnel5", "-6"},
		{"l2fib add 1 02:00:00:00:00:21 tap0", "-2"},
		{"l2fib add 1 02:00:00:00:00:21 #77", "-2"},
		{"l2fib add 1 02:00:00:00:00:21 filter", "ok"},

		// Tunnels.
		{"vxlan add 192.168.16.1 192.168.16.1 10", "-82"},
		{"vxlan add 192.168.16.1 192.168.16.3 10 encap 9", "-3"},
		{"vxlan add 192.168.16.1 192.168.16.3 10 instance 5", "-147"},
		{"vxlan add 192.168.16.1 192.168.16.3 10 decap 9", "-76"},
		{"vxlan add 192.168.16.1 fd00::3 10", "-7"},
		{"vxlan add 192.168.16.1 239.0.0.1 10", "-2"},

		// Devices.
		{"tap netns missing", "-12"},
		{"tap rx 100", "-144"},
		{"tap rx 32768", "index 7"},
		{"tap gw 10.0.0.1", "-145"},
		{"tap id 8193", "-1"},
		{"af none", "-71 index 0"},
		{"af vd01 mode 0", "-7"},
		{"af eth9 mode 2", "index 7"},
		{"tag tap0", "-7"},
		{"mac #0 02:00:00:00:00:99", "-9"},
		{"mac tap0 01:23:45:67:89:42", "ok"}, // multicast, and VPP does not mind
		{"hw-mtu #0 1500", "-30"},
		{"hw-mtu loop0 1500", "-126"},
		{"hw-mtu tap0 1500", "ok"},
		{"rx-mode tap0", "ok"},
		{"rx-mode tap0 queue 3", "-9"},

		// Every message about an interface that does not exist.
		{"up #77", "-2"}, {"tag #77 x", "-2"}, {"mtu #77 1500", "-2"}, {"hw-mtu #77 1500", "-2"}, {"rx-mode #77", "-2"},
		{"mac #77 02:00:00:00:00:99", "-2"}, {"bind #77 1", "-2"}, {"addr add #77 10.5.0.1/24", "-2"},
		{"addr flush #77", "-2"}, {"proxy-on #77", "-2"}, {"dhcp add #77", "-2"},
	} {
		s := newScript()
		for line := range strings.Lines(base) {
			if got := s.do(strings.TrimSpace(line)); got != "ok" && !strings.HasPrefix(got, "index") {
				t.Fatalf("base: %s -> %s", strings.TrimSpace(line), got)
			}
		}
		writes := s.vpp.Writes()
		got := s.do(c.call)
		if got != c.want {
			t.Errorf("%s -> %s, want %s", c.call, got, c.want)
		}
		if done := !strings.HasPrefix(got, "-"); done != (s.vpp.Writes() == writes+1) {
			t.Errorf("%s -> %s, writes %d after %d", c.call, got, s.vpp.Writes(), writes)
		}
	}
}

// Goal: the limit of neighbors is a refusal, and a limit of 0 is none. Method: lower it below what is there.
func TestNeighborLimit(t *testing.T) {
	s := newScript()
	for _, c := range []struct{ call, want string }{
		{"loop", "index 2"}, {"neighbor-config 1 60", "ok"}, {"neighbor add loop0 10.0.0.2 02:00:00:00:00:02", "ok"},
		{"neighbor add loop0 10.0.0.3 02:00:00:00:00:03", "-162"}, {"neighbor add loop0 10.0.0.2 02:00:00:00:00:04", "ok"},
		{"neighbor del loop0 10.0.0.2", "ok"}, {"neighbor add loop0 10.0.0.3 02:00:00:00:00:03", "ok"},
		{"neighbor-config 0 0", "ok"}, {"neighbor add loop0 10.0.0.4 02:00:00:00:00:04", "ok"},
	} {
		if got := s.do(c.call); got != c.want {
			t.Errorf("%s -> %s, want %s", c.call, got, c.want)
		}
	}
}
