package check

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: no law cries over a cluster that is wired right.
// Method: every law over every way of wiring, several sizes, the empty cluster, a single node, and a node that is down.
func TestLawsHoldOnRightClusters(t *testing.T) {
	for _, cfg := range wirings {
		for _, size := range [][2]int{{1, 0}, {1, 1}, {2, 0}, {2, 3}, {5, 4}} {
			holds(t, newCluster(cfg, size[0], size[1]).Snapshot())
		}
		c := newCluster(cfg, 3, 2)
		stopAgent(c.Nodes[1])
		holds(t, c.Snapshot())
		c = newCluster(cfg, 3, 2)
		stopAgent(c.Nodes[1])
		c.Nodes[1].MachineUp, c.Nodes[1].VPPUp, c.Nodes[1].Pods = false, false, nil
		holds(t, c.Snapshot())
	}
	holds(t, fact.Snapshot{Settled: true})
}

// stopAgent takes with it what only the agent can tell.
func stopAgent(n *clustertest.Node) {
	n.AgentUp, n.ID, n.Address, n.VXLANAddress, n.Blocks, n.Reserved = false, 0, netip.Prefix{}, netip.Addr{}, nil, nil
	n.HostSubnet, n.HostVPP, n.HostLinux = netip.Prefix{}, netip.Addr{}, netip.Addr{}
}

func holds(t *testing.T, s fact.Snapshot) {
	t.Helper()
	for _, l := range All() {
		if l.Check == nil {
			continue // judged by facts alone
		}
		if _, err := l.Check(s); err != nil {
			t.Errorf("%d nodes: %v", len(s.Nodes), err)
		}
	}
}

// Goal: each law sees the faults that are its own, and says who it is.
// Method: one planted fault at a time with many choices of where; each listed law must see it for at least one choice.
func TestLawsSeeFaults(t *testing.T) {
	for _, tc := range []struct {
		fault string
		laws  []string
	}{
		{"guard-gone", []string{sendersBoundName}},
		{"sender-left", []string{sendersBoundName}},
		{"sender-of-another", []string{sendersBoundName}},
		{"sender-gone", []string{reachableName}},
		{"parent-down", []string{reachableName}},
		{"route-gone", []string{reachableName, booksAgreeName}},
		{"interface-gone", []string{reachableName, booksAgreeName, tunnelsSymmetricName}},
		{"interface-down", []string{reachableName, booksAgreeName, tunnelsSymmetricName}},
		{"interface-mac", []string{reachableName, booksAgreeName, tunnelsSymmetricName}},
		{"interface-table", []string{reachableName, booksAgreeName}},
		{"interface-unbridged", []string{reachableName, tunnelsSymmetricName}},
		{"interface-mtu", []string{packetsFitName, reachableName}},
		{"link-mtu", []string{packetsFitName}},
		{"nic-mtu", []string{packetsFitName, reachableName}},
		{"tunnel-vni", []string{reachableName, tunnelsSymmetricName}},
		{"tunnel-encap", []string{reachableName, tunnelsSymmetricName}},
		{"tunnel-elsewhere", []string{reachableName, tunnelsSymmetricName}},
		{"group", []string{tunnelsSymmetricName}},
		{"neighbor-gone", []string{reachableName, booksAgreeName, tunnelsSymmetricName, sendersBoundName}},
		{"neighbor-mac", []string{reachableName, booksAgreeName, tunnelsSymmetricName, sendersBoundName}},
		{"neighbor-address", []string{reachableName, booksAgreeName, tunnelsSymmetricName}},
		{"fib-gone", []string{reachableName, tunnelsSymmetricName}},
		{"fib-elsewhere", []string{reachableName, tunnelsSymmetricName}},
		{"domain-stops", []string{reachableName, tunnelsSymmetricName}},
		{"vpp-down", []string{reachableName}},
		{"link-down", []string{reachableName, booksAgreeName}},
		{"link-mac", []string{reachableName, booksAgreeName}},
		{"link-address", []string{reachableName, booksAgreeName}},
		{"linux-route-gone", []string{reachableName, booksAgreeName}},
		{"linux-route-without-gateway", []string{reachableName, booksAgreeName}},
		{"namespace-gone", []string{reachableName, booksAgreeName}},
		{"namespaces-swapped", []string{reachableName, booksAgreeName}},
		{"pod-route-elsewhere", []string{reachableName, booksAgreeName}},
		{"answer-changed", []string{reachableName, booksAgreeName, addressStableName, sameAnswerName, addNotForgottenName, oneOwnerName}},
		{"answered-twice", []string{reachableName, booksAgreeName, addressStableName, sameAnswerName, addNotForgottenName, oneOwnerName}},
		{"lease-gone", []string{booksAgreeName, addNotForgottenName}},
		{"lease-left", []string{booksAgreeName}},
		{"pod-without-answer", []string{booksAgreeName}},
		{"two-blocks", []string{nodeIDsName}},
	} {
		i := slices.IndexFunc(planted, func(f fault) bool { return f.name == tc.fault })
		if i < 0 {
			t.Fatalf("no fault %s", tc.fault)
		}
		for _, name := range tc.laws {
			law, ok := ByName(name)
			if !ok {
				t.Fatalf("no law %s", name)
			}
			if !seesFault(t, law, planted[i]) {
				t.Errorf("%s never sees %s", name, tc.fault)
			}
		}
	}
}

func seesFault(t *testing.T, law fact.Law, f fault) bool {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := newCluster(wirings[rng.IntN(len(wirings))], 3, 2)
		f.plant(c, rng.IntN)
		if f.name == "two-blocks" {
			f.plant(c, rng.IntN)
		}
		freeze(c)
		_, err := law.Check(c.Snapshot())
		if err == nil {
			continue
		}
		var v *fact.Violation
		if !errors.As(err, &v) || v.Law != law.Name || v.What == "" {
			t.Errorf("%s says %#v", law.Name, err)
		}
		return true
	}
	return false
}

// Goal: the leftovers that faults on right objects do not produce are seen too.
// Method: a table of additions to the first of three nodes, each with the law that must see it.
func TestLawsSeeLeftovers(t *testing.T) {
	for _, tc := range []struct {
		name, law string
		l2        bool
		plant     func(n *clustertest.Node)
	}{
		{"second interface of a pod", booksAgreeName, true, func(n *clustertest.Node) {
			n.VPP.Ifaces = append(n.VPP.Ifaces, n.VPP.Ifaces[len(n.VPP.Ifaces)-1])
		}},
		{"interface of a pod that is gone", booksAgreeName, true, func(n *clustertest.Node) {
			ifc := n.VPP.Ifaces[len(n.VPP.Ifaces)-1]
			ifc.HostNetns = "/run/netns/gone"
			n.VPP.Ifaces = append(n.VPP.Ifaces, ifc)
		}},
		{"neighbor on an interface that is gone", booksAgreeName, true, func(n *clustertest.Node) {
			n.VPP.Neighs = append(n.VPP.Neighs, fact.Neighbor{Index: 99, Addr: netip.MustParseAddr("10.0.1.77")})
		}},
		{"second neighbor on a pod's interface", booksAgreeName, true, func(n *clustertest.Node) {
			nb := n.VPP.Neighs[len(n.VPP.Neighs)-1]
			nb.Addr = nb.Addr.Next()
			n.VPP.Neighs = append(n.VPP.Neighs, nb)
		}},
		{"route to a pod that is gone", booksAgreeName, true, func(n *clustertest.Node) {
			r := n.VPP.API[len(n.VPP.API)-1]
			r.Prefix = netip.MustParsePrefix("10.0.1.77/32")
			n.VPP.API = append(n.VPP.API, r)
		}},
		{"route to a pod that is gone, through the bridge", booksAgreeName, false, func(n *clustertest.Node) {
			n.VPP.API = append(n.VPP.API, fact.Route{Table: clustertest.PodTable, Prefix: netip.MustParsePrefix("10.0.1.77/32"),
				Action: fact.ActionForward, Via: netip.MustParseAddr("192.168.32.2"), Index: clustertest.IfaceBVI})
		}},
		{"route on an interface that is gone", booksAgreeName, true, func(n *clustertest.Node) {
			n.VPP.API = append(n.VPP.API, fact.Route{Table: clustertest.MainTable, Prefix: netip.MustParsePrefix("10.9.0.0/24"),
				Action: fact.ActionForward, Index: 99})
		}},
		{"veth without VPP", booksAgreeName, true, func(n *clustertest.Node) {
			n.Linux.Spaces[""].Links = append(n.Linux.Spaces[""].Links, vppwire.LinuxLink{Name: "vd999", Type: "veth"})
		}},
		{"another gateway's MAC", booksAgreeName, true, func(n *clustertest.Node) {
			n.Linux.Spaces[n.Pods[0].Netns].Neighbors[0].MAC[2]++
		}},
		{"host's route to what VPP drops", hostRoutesName, false, func(n *clustertest.Node) {
			host := n.Linux.Spaces[""]
			host.Routes = append(host.Routes, vppwire.HostRoute{Dst: netip.MustParsePrefix("198.18.0.0/15"), Via: n.HostVPP, Link: "vpp1"})
		}},
		{"tunnel to an unknown address", tunnelsSymmetricName, false, func(n *clustertest.Node) {
			ifc := n.VPP.Ifaces[4]
			ifc.Dst = netip.MustParseAddr("192.168.16.99")
			n.VPP.Ifaces = append(n.VPP.Ifaces, ifc)
		}},
		{"second tunnel to a peer", tunnelsSymmetricName, false, func(n *clustertest.Node) {
			n.VPP.Ifaces = append(n.VPP.Ifaces, n.VPP.Ifaces[4])
		}},
		{"tunnel where there are none", tunnelsSymmetricName, true, func(n *clustertest.Node) {
			n.VPP.Ifaces = append(n.VPP.Ifaces, fact.Interface{Type: fact.TypeVXLAN, Dst: netip.MustParseAddr("192.168.16.2")})
		}},
		{"MAC of no peer", tunnelsSymmetricName, false, func(n *clustertest.Node) {
			n.VPP.L2 = append(n.VPP.L2, fact.FIBEntry{Bridge: clustertest.Domain, MAC: vppwire.MAC{9}, Index: 4})
		}},
		{"neighbor of no peer", tunnelsSymmetricName, false, func(n *clustertest.Node) {
			n.VPP.Neighs = append(n.VPP.Neighs, fact.Neighbor{Index: clustertest.IfaceBVI, Addr: netip.MustParseAddr("192.168.32.99")})
		}},
		{"another interface in the bridge", tunnelsSymmetricName, false, func(n *clustertest.Node) {
			n.VPP.Ifaces = append(n.VPP.Ifaces, fact.Interface{Type: fact.TypeLoopback, Bridge: clustertest.Domain})
		}},
		{"learning", tunnelsSymmetricName, false, func(n *clustertest.Node) { n.VPP.Domains[0].Learn = true }},
		{"lease outside the blocks", leaseInRangeName, true, func(n *clustertest.Node) { n.Leased[0].Addr = netip.MustParseAddr("10.0.99.9") }},
		{"lease of the gateway", leaseInRangeName, true, func(n *clustertest.Node) { n.Leased[0].Addr = n.Blocks[0].Gateway }},
		{"lease of a reserved address", leaseInRangeName, true, func(n *clustertest.Node) { n.Leased[0].Addr = n.Reserved[2] }},
		{"ID of a peer", nodeIDsName, true, func(n *clustertest.Node) { n.ID = 2 }},
		{"host subnet of a peer", nodeIDsName, true, func(n *clustertest.Node) { n.HostSubnet = netip.MustParsePrefix("172.16.2.0/25") }},
		{"address of a peer", nodeIDsName, true, func(n *clustertest.Node) { n.Address = netip.MustParsePrefix("192.168.16.2/20") }},
		{"address of the default gateway", nodeIDsName, true, func(n *clustertest.Node) {
			n.VPP.API = append(n.VPP.API, fact.Route{Table: n.MainTable, Prefix: netip.MustParsePrefix("0.0.0.0/0"), Action: fact.ActionForward, Via: netip.MustParseAddr("192.168.16.2")})
		}},
		{"VXLAN address of a peer", nodeIDsName, false, func(n *clustertest.Node) { n.VXLANAddress = netip.MustParseAddr("192.168.32.2") }},
		{"block inside a peer's", nodeIDsName, true, func(n *clustertest.Node) {
			n.Blocks = append(n.Blocks, ipam.Block{Prefix: netip.MustParsePrefix("10.0.2.128/26")})
		}},
		{"lease of another node's address", oneOwnerName, true, func(n *clustertest.Node) { n.Leased[0].Addr = netip.MustParseAddr("10.0.2.2") }},
		{"another gateway on repeat", sameAnswerName, true, func(n *clustertest.Node) { n.Leased[0].Gateway = n.Leased[0].Gateway.Next() }},
	} {
		c := newCluster(clustertest.Config{L2: tc.l2}, 3, 2)
		tc.plant(c.Nodes[0])
		freeze(c)
		law, _ := ByName(tc.law)
		if _, err := law.Check(c.Snapshot()); err == nil {
			t.Errorf("%s does not see: %s", tc.law, tc.name)
		}
	}
}

func exists(file string) bool { _, err := os.Stat(file); return err == nil }

// Goal: names are found, each once, and each law is complete and in the file of its name.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range All() {
		if seen[l.Name] || l.Name == "" || l.Why == "" || l.Rule == "" || !strings.HasSuffix(l.Rule, ".") || l.When == 0 || l.Check == nil && l.Watch == nil || l.Needs == nil && l.Name != settlesName {
			t.Errorf("law %q is incomplete or twice there", l.Name)
		}
		if file := strings.ReplaceAll(l.Name, "-", "_") + ".go"; !exists(file) {
			t.Errorf("law %s is not in %s", l.Name, file)
		}
		seen[l.Name] = true
		if got, ok := ByName(l.Name); !ok || got.Name != l.Name {
			t.Errorf("ByName(%q) fails", l.Name)
		}
	}
}

func BenchmarkSnapshotLaws(b *testing.B) {
	for _, cfg := range []clustertest.Config{{Nodes: 100, PodsPerNode: 30}, {Nodes: 1000, PodsPerNode: 30}} {
		if testing.Short() && cfg.Nodes > 100 {
			continue
		}
		s := clustertest.New(cfg).Snapshot()
		for _, l := range All() {
			if l.Check == nil {
				continue // it judges what happens, not what is there
			}
			b.Run(fmt.Sprintf("%s/nodes=%d", l.Name, cfg.Nodes), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := l.Check(s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
