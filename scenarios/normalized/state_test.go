package normalized_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/scenarios/normalized"
	"github.com/vppdrill/vppdrill/vppwire"
)

// breaks are changes of a well-wired cluster of two nodes with two pods each, by name.
var breaks = map[string]func(*clustertest.Cluster){
	"nothing": func(*clustertest.Cluster) {},
	// Everything below is chance: another number, the same cluster.
	"addresses swapped": func(c *clustertest.Cluster) {
		first, second := &c.Nodes[0].VPP.Ifaces[5], &c.Nodes[0].VPP.Ifaces[6]
		first.Addrs, second.Addrs = second.Addrs, first.Addrs
		a, b := &c.Nodes[0].Pods[0], &c.Nodes[0].Pods[1]
		a.Owner, b.Owner = b.Owner, a.Owner
		a.Pod, b.Pod = b.Pod, a.Pod
		a.UID, b.UID = b.UID, a.UID
		for i := range c.Nodes[0].Leased {
			l := &c.Nodes[0].Leased[i]
			l.Owner = map[bool]ipam.Owner{true: b.Owner, false: a.Owner}[l.Owner == a.Owner]
		}
	},
	"pod renamed": func(c *clustertest.Cluster) { c.Nodes[1].Pods[1].Pod = "default/somebody" },
	// Everything below is a difference.
	"interface down": func(c *clustertest.Cluster) { c.Nodes[0].VPP.Ifaces[clustertest.IfaceBVI].Up = false },
	"route gone":     func(c *clustertest.Cluster) { c.Nodes[0].VPP.API = c.Nodes[0].VPP.API[1:] },
	"neighbour wrong": func(c *clustertest.Cluster) {
		c.Nodes[1].VPP.Neighs[0].MAC = vppwire.MAC{2, 2, 2, 2, 2, 2}
	},
	"address foreign": func(c *clustertest.Cluster) { c.Nodes[1].Pods[0].Addr = netip.MustParseAddr("10.99.0.1") },
	"agent down":      func(c *clustertest.Cluster) { c.Nodes[1].AgentUp = false },
	"machine unseen": func(c *clustertest.Cluster) {
		c.Nodes[0].Linux = nil
	},
}

// TestDifferences goal: chance shows nothing, a change shows itself and little else. Method: goldens of what a changed
// cluster's normalized state has and the unchanged one's has not, and the other way round.
func TestDifferences(t *testing.T) {
	datadriven.RunTest(t, "testdata/differences", func(t *testing.T, d *datadriven.TestData) string {
		cfg := clustertest.Config{Nodes: 2, PodsPerNode: 2, Veth: d.HasArg("veth"), L2: d.HasArg("l2")}
		before, after := clustertest.New(cfg), clustertest.New(cfg)
		if d.Cmd == "whole" {
			return strings.Join(normalized.Of(before.Snapshot()), "\n") + "\n"
		}
		change, ok := breaks[strings.TrimSpace(d.Input)]
		if !ok {
			d.Fatalf(t, "no break %q", d.Input)
		}
		change(after)
		for _, n := range after.Nodes {
			n.VPP.Freeze()
		}
		var b strings.Builder
		x, y := normalized.Differences(normalized.Of(before.Snapshot()), normalized.Of(after.Snapshot()))
		for _, l := range x {
			fmt.Fprintln(&b, "- "+l)
		}
		for _, l := range y {
			fmt.Fprintln(&b, "+ "+l)
		}
		if b.Len() == 0 {
			return "same\n"
		}
		return b.String()
	})
}

// TestSorted goal: lines are in order and each begins with its node. Method: the state of every way of wiring.
func TestSorted(t *testing.T) {
	for i := range 4 {
		lines := normalized.Of(clustertest.New(clustertest.Config{Nodes: 3, PodsPerNode: 3, Veth: i&1 != 0, L2: i&2 != 0}).Snapshot())
		if !slices.IsSorted(lines) || len(lines) == 0 || !strings.HasPrefix(lines[0], "node-1: ") {
			t.Errorf("wiring %d: %d lines, sorted %t", i, len(lines), slices.IsSorted(lines))
		}
	}
}
