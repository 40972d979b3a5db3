package packettrace

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/vppwire"
)

// recorded are two nodes' VPPs with what a real VPP 25.10 showed of a datagram from 10.1.1.2 to 10.1.2.3 (testdata, as `show trace`
// printed it).
func recorded(t *testing.T, what string) (nodes []Node) {
	t.Helper()
	names := map[uint32]string{1: "uplink0", 3: "loop0", 5: "host-vpptrunk", 6: "vxlan_tunnel2"}
	for _, node := range [...]string{"node-1", "node-2"} {
		text, err := os.ReadFile("testdata/" + what + "-" + node + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, Node{node, Names{names, names, map[uint32]uint32{0: 0, 1: 1}, nil}, packets(shown(string(text)))})
	}
	return nodes
}

func datagram(from, to string) Flow {
	return Flow{"UDP", netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)}
}

func text(w Way) string {
	var b strings.Builder
	for _, h := range w.Hops {
		fmt.Fprintf(&b, "%s|%s|%s\n", h.Node, h.Place, h.Says)
	}
	return b.String()
}

// Goal: what real VPPs traced of a packet becomes its way in the walker's words, from node to node and back, and nothing of another
// packet's. Method: recordings of VPP 25.10, whole.
func TestFollow(t *testing.T) {
	there, ok := Follow(recorded(t, "udp"), "node-1", datagram("10.1.1.2:20001", "10.1.2.3:7777"))
	if want := `node-1|host-vpptrunk|takes the packet
node-1|table 1|to loop0 via 192.168.30.2
node-1|bridge|12:2b:00:00:00:02 to vxlan_tunnel2
node-1|vxlan_tunnel2|VXLAN, vni 10, to uplink0 via 192.168.16.2
node-1|uplink0|out to 02:76:03:00:00:02
node-2|uplink0|takes the packet
node-2|table 0|to local
node-2|vxlan_tunnel2|takes the frame out of VXLAN, vni 10
node-2|bridge|12:2b:00:00:00:02 to loop0
node-2|loop0|takes the packet
node-2|table 1|to host-vpptrunk via 10.1.2.3
node-2|host-vpptrunk|out to 02:39:00:00:00:02
`; !ok || text(there) != want {
		t.Errorf("there\n%swant\n%s", text(there), want)
	}
	if there.Last != datagram("10.1.1.2:20001", "10.1.2.3:7777") || there.Node != "node-2" || there.Out != "host-vpptrunk" || len(there.Graphs) != 2 {
		t.Errorf("it ended as %+v", there)
	}
	twice := recorded(t, "udp")
	twice[0].Packets = append(twice[0].Packets, twice[0].Packets[0])
	if again, _ := Follow(twice, "node-1", datagram("10.1.1.2:20001", "10.1.2.3:7777")); text(again) != text(there) {
		t.Errorf("the next packet of the connection is taken for the same:\n%s", text(again))
	}
	lost, ok := Follow(recorded(t, "dropped"), "node-1", datagram("10.1.1.2:20001", "10.1.2.3:7777"))
	if want := `node-1|host-vpptrunk|takes the packet
node-1|table 1|to drop
node-1||dropped behind ip4-lookup by a route, or for want of one
`; !ok || text(lost) != want || lost.Out != "" {
		t.Errorf("dropped\n%swant\n%s", text(lost), want)
	}
	if w, ok := Follow(recorded(t, "udp"), "node-1", datagram("10.1.1.2:20002", "10.1.2.3:7777")); ok {
		t.Errorf("a packet of another port was found: %+v", w)
	}
}

// walked is the way that the walker foretells for the recorded datagram.
func walked() walk.Path {
	via := netip.MustParseAddr
	mac := func(last byte) vppwire.MAC { return vppwire.MAC{0x02, 0x39, 0, 0, 0, last} }
	forward := func(next string) fact.Route { return fact.Route{Action: fact.ActionForward, Via: via(next)} }
	return walk.Path{Packet: walk.Packet{Dst: via("10.1.2.3")}, Outcome: walk.Outcome{Kind: walk.Delivered, Node: "node-2", Netns: "pod"}, Hops: []walk.Hop{
		{Node: "node-1", Place: "netns pod", Act: walk.ActHostRoute},
		{Node: "node-1", Place: "host-vpptrunk", Act: walk.ActTaken},
		{Node: "node-1", Place: "table 1", Act: walk.ActRoute, Route: fact.Route{Action: fact.ActionForward, Via: via("192.168.30.2"), Index: ^uint32(0)}},
		{Node: "node-1", Place: "table 1", Act: walk.ActNextHop, Route: fact.Route{Action: fact.ActionForward}, Interface: "loop0"},
		{Node: "node-1", Place: "bridge 1", Act: walk.ActSwitched, Interface: "vxlan_tunnel2"},
		{Node: "node-1", Place: "vxlan_tunnel2", Act: walk.ActWrapped, Table: 10, To: via("192.168.16.2")},
		{Node: "node-1", Place: "table 0", Act: walk.ActRoute, Route: fact.Route{Action: fact.ActionForward}, Interface: "uplink0"},
		{Node: "node-1", Place: "uplink0", Act: walk.ActWire, To: via("192.168.16.2")},
		{Node: "node-2", Place: "uplink0", Act: walk.ActTaken},
		{Node: "node-2", Place: "table 0", Act: walk.ActRoute, Route: fact.Route{Action: fact.ActionLocal}},
		{Node: "node-2", Place: "vxlan_tunnel2", Act: walk.ActUnwrapped},
		{Node: "node-2", Place: "bridge 1", Act: walk.ActSwitched, Interface: "loop0"},
		{Node: "node-2", Place: "loop0", Act: walk.ActTaken},
		{Node: "node-2", Place: "table 1", Act: walk.ActRoute, Route: forward("10.1.2.3"), Interface: "host-vpptrunk"},
		{Node: "node-2", Place: "host-vpptrunk", Act: walk.ActToLinux, Interface: "host-vpptrunk", MAC: mac(2)},
		{Node: "node-2", Place: "netns pod", Act: walk.ActLocal},
	}}
}

// Goal: a way that is as foretold has no row that differs, and of another one the first wrong hop is found, whatever is wrong.
// Method: the recorded datagram beside the walker's way, with one hop of it changed at a time.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name, recording, differs string
		change                   func(p *walk.Path)
	}{
		{"as foretold", "udp", "", func(*walk.Path) {}},
		{"another next hop", "udp", "table 1", func(p *walk.Path) { p.Hops[2].Route.Via = netip.MustParseAddr("192.168.30.3") }},
		{"another interface", "udp", "table 1", func(p *walk.Path) { p.Hops[13].Interface = "tap3" }},
		{"another VNI", "udp", "vxlan_tunnel2", func(p *walk.Path) { p.Hops[5].Table = 11 }},
		{"another port of the bridge", "udp", "bridge", func(p *walk.Path) { p.Hops[4].Interface = "vxlan_tunnel3" }},
		{"another MAC", "udp", "host-vpptrunk", func(p *walk.Path) { p.Hops[14].MAC[5] = 9 }},
		{"no such hop", "udp", "table 0", func(p *walk.Path) { p.Hops = append(p.Hops[:9], p.Hops[10:]...) }},
		{"another end", "udp", "Linux", func(p *walk.Path) { p.Outcome.Node = "node-1" }},
		{"a route that drops", "dropped", "table 1", func(*walk.Path) {}},
		{"a drop that is foretold", "dropped", "", func(p *walk.Path) {
			p.Hops, p.Outcome = p.Hops[:3], walk.Outcome{Kind: walk.Dropped, Node: "node-1"}
			p.Hops[2].Route = fact.Route{Action: fact.ActionDrop}
		}},
	} {
		p := walked()
		c.change(&p)
		w, _ := Follow(recorded(t, c.recording), "node-1", datagram("10.1.1.2:20001", "10.1.2.3:7777"))
		if w.Out != "" {
			w.Hops = append(w.Hops, Arrived(w.Node, "seen"))
		}
		rows, i := Compare(Foretold(p, p.Packet.Dst), w.Hops)
		got := ""
		if i >= 0 {
			h := rows[i].Foretold
			if h == nil {
				h = rows[i].Seen
			}
			got = h.Place
		}
		if c.name == "no such hop" && i >= 0 {
			got = rows[i].Seen.Place
		}
		if got != c.differs {
			t.Errorf("%s: %q differs, want %q", c.name, got, c.differs)
		}
	}
}
