package walk_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: a packet takes exactly the hops that a reader of the tables expects, and each fault stops it where it should.
// Method: golden paths over a hand-written cluster of three nodes with two pods each, whole and with one fault at a
// time.
func TestPaths(t *testing.T) {
	var c *clustertest.Cluster
	datadriven.RunTest(t, "testdata/paths.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "cluster":
			c = clustertest.New(clustertest.Config{Nodes: 3, PodsPerNode: 2, Veth: d.HasArg("veth"), L2: d.HasArg("l2")})
			return ""
		case "walk":
			var from, dst string
			d.ScanArgs(t, "from", &from)
			d.ScanArgs(t, "dst", &dst)
			w := walk.New(broken(c, d).Snapshot())
			w.Outcome(point(c, from), packet(t, d, dst))
			return w.Path().String()
		case "break":
			return breakEach(t, c, d)
		}
		d.Fatalf(t, "unknown command")
		return ""
	})
}

// broken is the cluster, or a new one with the fault that "with" names.
func broken(c *clustertest.Cluster, d *datadriven.TestData) *clustertest.Cluster {
	if !d.HasArg("with") {
		return c
	}
	b := clustertest.New(c.Config)
	faults[d.CmdArgs[len(d.CmdArgs)-1].Vals[0]](b.Nodes[0], b.Nodes[1])
	for _, n := range b.Nodes {
		n.VPP.Freeze()
	}
	return b
}

// point reads "node-1/0" (pod 0), "node-1" (host) or "node-1#1" (table 1).
func point(c *clustertest.Cluster, text string) walk.Point {
	if node, table, ok := strings.Cut(text, "#"); ok {
		return walk.FromTable(node, uint32(table[0]-'0'))
	}
	node, pod, ok := strings.Cut(text, "/")
	if !ok {
		return walk.FromHost(node)
	}
	for _, n := range c.Nodes {
		if n.Name == node {
			return walk.FromPod(node, n.Pods[pod[0]-'0'].Netns)
		}
	}
	return walk.FromHost(node)
}

// packet is to dst, of "size=1450" bytes where that is given, with DF where "df" is.
func packet(t *testing.T, d *datadriven.TestData, dst string) walk.Packet {
	p := walk.Packet{Dst: netip.MustParseAddr(dst), Whole: d.HasArg("df")}
	d.MaybeScanArgs(t, "size", &p.Size)
	return p
}

// breakEach applies each named fault to a fresh cluster and tells where the packet ends then.
func breakEach(t *testing.T, c *clustertest.Cluster, d *datadriven.TestData) string {
	var from, dst string
	d.ScanArgs(t, "from", &from)
	d.ScanArgs(t, "dst", &dst)
	var out strings.Builder
	for name := range strings.Lines(d.Input) {
		name = strings.TrimSpace(name)
		fault, ok := faults[name]
		if !ok {
			d.Fatalf(t, "unknown fault %q", name)
		}
		broken := clustertest.New(c.Config)
		fault(broken.Nodes[0], broken.Nodes[1])
		for _, n := range broken.Nodes {
			if n.VPP != nil {
				n.VPP.Freeze()
			}
		}
		fmt.Fprintf(&out, "%s: %s\n", name, walk.New(broken.Snapshot()).Outcome(point(broken, from), packet(t, d, dst)))
	}
	return out.String()
}

var faults = map[string]func(a, b *clustertest.Node){
	"next-hop-in-other-table": func(a, b *clustertest.Node) { towards(a, b).Lookup = clustertest.PodTable },
	"next-hop-through-other-table": func(a, b *clustertest.Node) {
		towards(a, b).Lookup = clustertest.PodTable
		a.VPP.API = append(a.VPP.API, fact.Route{Table: clustertest.PodTable, Prefix: netip.PrefixFrom(b.Address.Addr(), 32),
			Action: fact.ActionForward, Index: clustertest.IfaceNIC})
	},
	"next-hop-through-next-hop": func(a, b *clustertest.Node) {
		hop := netip.MustParseAddr("192.168.99.1")
		towards(a, b).Via = hop
		a.VPP.API = append(a.VPP.API, fact.Route{Table: clustertest.MainTable, Prefix: netip.PrefixFrom(hop, 32),
			Action: fact.ActionForward, Via: b.Address.Addr(), Index: ^uint32(0)})
	},
	"next-hop-through-itself": func(a, b *clustertest.Node) { towards(a, b).Via = b.Blocks[0].Gateway },
	"peer-tunnels-in-two-tables": func(_, b *clustertest.Node) {
		other := b.VPP.Ifaces[4]
		other.Name, other.EncapTable = "vxlan_tunnel99", clustertest.PodTable
		b.VPP.Ifaces = append(b.VPP.Ifaces, other)
	},
	"peer-nic-in-pod-table": func(_, b *clustertest.Node) { b.VPP.Ifaces[clustertest.IfaceNIC].Table4 = clustertest.PodTable },
	"peer-has-source": func(a, b *clustertest.Node) {
		b.VPP.Ifaces[clustertest.IfaceHost].Addrs = append(b.VPP.Ifaces[clustertest.IfaceHost].Addrs, netip.PrefixFrom(a.Address.Addr(), 32))
	},
	"peer-drops-source": func(a, b *clustertest.Node) {
		b.VPP.API = append(b.VPP.API, fact.Route{Table: clustertest.MainTable, Prefix: netip.PrefixFrom(a.Address.Addr(), 32), Action: fact.ActionDrop})
	},
	"pod-if-mtu":      func(_, b *clustertest.Node) { lastIface(b).MTU = 1400 },
	"pod-if-mtu4":     func(_, b *clustertest.Node) { lastIface(b).MTU4 = 1400 },
	"pod-if-no-mtu":   func(_, b *clustertest.Node) { lastIface(b).MTU = 0 },
	"pod-link-mtu":    func(_, b *clustertest.Node) { podSpace(b, 1).Links[0].MTU = 1400 },
	"sender-mtu":      func(a, _ *clustertest.Node) { podSpace(a, 0).Links[0].MTU = 1400 },
	"sender-vpp-mtu":  func(a, _ *clustertest.Node) { a.VPP.Ifaces[len(a.VPP.Ifaces)-2].MTU = 1400 },
	"device-mtu":      func(_, b *clustertest.Node) { s := b.Linux.Spaces[""]; s.Links[len(s.Links)-1].MTU = 1400 },
	"device-mtu-4":    func(_, b *clustertest.Node) { s := b.Linux.Spaces[""]; s.Links[len(s.Links)-1].MTU = 1446 },
	"far-device":      func(a, _ *clustertest.Node) { s := a.Linux.Spaces[""]; s.Links[len(s.Links)-2].MTU = 1400 },
	"far-device-4":    func(a, _ *clustertest.Node) { s := a.Linux.Spaces[""]; s.Links[len(s.Links)-2].MTU = 1446 },
	"bvi-mtu":         func(a, _ *clustertest.Node) { a.VPP.Ifaces[clustertest.IfaceBVI].MTU = 1400 },
	"nic-mtu":         func(a, _ *clustertest.Node) { a.VPP.Ifaces[clustertest.IfaceNIC].MTU = 1499 },
	"nic-carries":     func(a, _ *clustertest.Node) { a.VPP.Ifaces[clustertest.IfaceNIC].LinkMTU = 1499 },
	"peer-nic-takes":  func(_, b *clustertest.Node) { b.VPP.Ifaces[clustertest.IfaceNIC].LinkMTU = 1499 },
	"bvi-down":        func(a, _ *clustertest.Node) { a.VPP.Ifaces[clustertest.IfaceBVI].Up = false },
	"peer-bvi-down":   func(_, b *clustertest.Node) { b.VPP.Ifaces[clustertest.IfaceBVI].Up = false },
	"peer-bvi-mac":    func(_, b *clustertest.Node) { b.VPP.Ifaces[clustertest.IfaceBVI].MAC[5]++ },
	"tunnel-down":     func(a, _ *clustertest.Node) { a.VPP.Ifaces[4].Up = false },
	"peer-tunnel":     func(_, b *clustertest.Node) { b.VPP.Ifaces[4].Type = 0 },
	"peer-tunnel-vni": func(_, b *clustertest.Node) { b.VPP.Ifaces[4].VNI++ },
	"encap-table":     func(a, _ *clustertest.Node) { a.VPP.Ifaces[4].EncapTable = clustertest.PodTable },
	"unbridged":       func(a, _ *clustertest.Node) { a.VPP.Ifaces[4].Bridge = 0 },
	"no-fib":          func(a, _ *clustertest.Node) { a.VPP.L2 = a.VPP.L2[:1] },
	"fib-hairpin": func(_, b *clustertest.Node) {
		for i := range b.VPP.L2 {
			if b.VPP.L2[i].BVI {
				b.VPP.L2[i].Index, b.VPP.L2[i].BVI = 5, false
			}
		}
	},
	"peer-encap":     func(_, b *clustertest.Node) { b.VPP.Ifaces[4].EncapTable = clustertest.PodTable },
	"peer-unbridged": func(_, b *clustertest.Node) { b.VPP.Ifaces[4].Bridge = 0 },
	"peer-tun-down":  func(_, b *clustertest.Node) { b.VPP.Ifaces[4].Up = false },
	"tunnel-in-tunnel": func(a, b *clustertest.Node) {
		a.VPP.API = append(a.VPP.API, fact.Route{Table: clustertest.MainTable, Prefix: netip.PrefixFrom(b.Address.Addr(), 32),
			Action: fact.ActionForward, Via: b.VXLANAddress, Index: clustertest.IfaceBVI})
	},
	"no-forward":      func(a, _ *clustertest.Node) { a.VPP.Domains[0].Forward = false },
	"no-bvi-neighbor": func(a, _ *clustertest.Node) { a.VPP.Neighs = a.VPP.Neighs[1:] },
	"nic-down":        func(a, _ *clustertest.Node) { a.VPP.Ifaces[clustertest.IfaceNIC].Up = false },
	"peer-nic-down":   func(_, b *clustertest.Node) { b.VPP.Ifaces[clustertest.IfaceNIC].Up = false },
	"vpp-down":        func(_, b *clustertest.Node) { b.VPPUp = false },
	"machine-down":    func(_, b *clustertest.Node) { b.MachineUp = false },
	"same-address": func(a, b *clustertest.Node) {
		a.VPP.Ifaces[clustertest.IfaceNIC].Addrs = b.VPP.Ifaces[clustertest.IfaceNIC].Addrs
	},
	"peer-no-route": func(_, b *clustertest.Node) { b.VPP.API = b.VPP.API[:len(b.VPP.API)-2] },
	"table-gone":    func(_, b *clustertest.Node) { b.VPP.Tabs = b.VPP.Tabs[:1] },
	"table-loop": func(_, b *clustertest.Node) {
		b.VPP.API = append(b.VPP.API[:len(b.VPP.API)-2], fact.Route{Table: clustertest.PodTable, Prefix: b.Blocks[0].Prefix,
			Action: fact.ActionLookup, Lookup: clustertest.MainTable})
	},
	"pod-if-down":    func(_, b *clustertest.Node) { lastIface(b).Up = false },
	"pod-if-no-addr": func(a, _ *clustertest.Node) { a.VPP.Ifaces[len(a.VPP.Ifaces)-2].Addrs = nil },
	"pod-if-mac":     func(a, _ *clustertest.Node) { a.VPP.Ifaces[len(a.VPP.Ifaces)-2].MAC[5]++ },
	"pod-if-table":   func(a, _ *clustertest.Node) { a.VPP.Ifaces[len(a.VPP.Ifaces)-2].Table4 = clustertest.MainTable },
	"pod-neighbor":   func(_, b *clustertest.Node) { b.VPP.Neighs = b.VPP.Neighs[:len(b.VPP.Neighs)-1] },
	"pod-mac":        func(_, b *clustertest.Node) { b.VPP.Neighs[len(b.VPP.Neighs)-1].MAC[0]++ },
	"pod-address":    func(_, b *clustertest.Node) { podSpace(b, 1).Links[0].Addrs = nil },
	"pod-link-down":  func(_, b *clustertest.Node) { podSpace(b, 1).Links[0].Up = false },
	"netns-gone":     func(_, b *clustertest.Node) { delete(b.Linux.Spaces, b.Pods[1].Netns) },
	"gateway-mac":    func(a, _ *clustertest.Node) { podSpace(a, 0).Neighbors = nil },
	"no-default":     func(a, _ *clustertest.Node) { podSpace(a, 0).Routes = podSpace(a, 0).Routes[1:] },
	"host-veth-down": func(_, b *clustertest.Node) { s := b.Linux.Spaces[""]; s.Links[len(s.Links)-1].Up = false },
	"wrong-node-hop": func(a, _ *clustertest.Node) {
		for i := range a.VPP.API {
			if a.VPP.API[i].Index == ^uint32(0) {
				a.VPP.API[i].Via = netip.MustParseAddr("192.168.16.77")
			}
		}
	},
	"unnumbered": func(a, _ *clustertest.Node) {
		ifc := &a.VPP.Ifaces[len(a.VPP.Ifaces)-2]
		a.VPP.Ifaces = append(a.VPP.Ifaces, fact.Interface{Name: "loop1", Type: fact.TypeLoopback, Up: true, Table4: clustertest.PodTable,
			Addrs: []netip.Prefix{netip.PrefixFrom(a.Blocks[0].Gateway, 32)}})
		ifc = &a.VPP.Ifaces[ifc.Index]
		ifc.Addrs, ifc.HasUnnumbered, ifc.Unnumbered = nil, true, uint32(len(a.VPP.Ifaces)-1)
		podSpace(a, 0).Neighbors = nil
	},
}

// towards is a's route to b's block.
func towards(a, b *clustertest.Node) *fact.Route {
	for i := range a.VPP.API {
		if r := &a.VPP.API[i]; r.Prefix == b.Blocks[0].Prefix {
			return r
		}
	}
	return nil
}

func lastIface(n *clustertest.Node) *fact.Interface           { return &n.VPP.Ifaces[len(n.VPP.Ifaces)-1] }
func podSpace(n *clustertest.Node, p int) *vppwire.LinuxState { return n.Linux.Spaces[n.Pods[p].Netns] }

// Goal: the fast mode costs no memory, and says what the recording mode says.
// Method: count allocations of Outcome on each kind of path; compare with Walk.
func TestOutcomeDoesNotAllocate(t *testing.T) {
	for _, cfg := range []clustertest.Config{{Nodes: 3, PodsPerNode: 2}, {Nodes: 3, PodsPerNode: 2, Veth: true}, {Nodes: 3, PodsPerNode: 2, L2: true}} {
		c := clustertest.New(cfg)
		w := walk.New(c.Snapshot())
		from := walk.FromPod("node-1", c.Nodes[0].Pods[0].Netns)
		for _, dst := range []netip.Addr{c.Nodes[0].Pods[1].Addr, c.Nodes[2].Pods[1].Addr, c.Nodes[0].HostLinux, netip.MustParseAddr("10.0.2.77")} {
			out := w.Outcome(from, walk.Packet{Dst: dst, Size: 1450, Whole: true})
			if got := w.Walk(from, dst).Outcome; got != out {
				t.Errorf("%+v to %s: Walk says %s, Outcome %s", cfg, dst, got, out)
			}
			if n := testing.AllocsPerRun(20, func() { w.Outcome(from, walk.Packet{Dst: dst, Size: 1450, Whole: true}) }); n != 0 {
				t.Errorf("%+v to %s: %v allocations", cfg, dst, n)
			}
		}
	}
}

func BenchmarkOutcome(b *testing.B) {
	c := clustertest.New(clustertest.Config{Nodes: 100, PodsPerNode: 2})
	w := walk.New(c.Snapshot())
	from, dst := walk.FromPod("node-1", c.Nodes[0].Pods[0].Netns), c.Nodes[77].Pods[1].Addr
	b.ReportAllocs()
	for b.Loop() {
		if w.Outcome(from, walk.Packet{Dst: dst, Size: 1450, Whole: true}).Kind != walk.Delivered {
			b.Fatal("not delivered")
		}
	}
}

// Goal: a step through a tunnel stands for all destinations on the same route, whatever the tunnel's own packet meets; one that asks
// for the destination itself by ARP stands for that alone. Method: a pod of another node, and the host's address.
func TestStepIsExactOnlyWhereTheDestinationIsLookedAt(t *testing.T) {
	c := clustertest.New(clustertest.Config{Nodes: 3, PodsPerNode: 2})
	w := walk.New(c.Snapshot())
	from := walk.FromTable("node-1", clustertest.PodTable)
	if s := w.Step(from, walk.Packet{Dst: c.Nodes[1].Pods[1].Addr}); s.Exact || s.Next.Node != "node-2" {
		t.Errorf("through a tunnel: %+v", s)
	}
	if s := w.Step(from, walk.Packet{Dst: c.Nodes[0].HostLinux}); !s.Exact {
		t.Errorf("to the host: %+v", s)
	}
}
