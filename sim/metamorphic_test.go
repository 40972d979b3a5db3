package sim_test

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/sim"
)

// cluster is a small cluster without faults whose pods are created and deleted one after the other, so that nothing but
// its wiring can differ between two runs of it.
type cluster struct {
	seed        uint64
	nodes, pods int
	host        string
	steps       []string
}

func drawCluster(t *rapid.T) cluster {
	c := cluster{
		seed: rapid.Uint64Range(1, 1000).Draw(t, "seed"), nodes: rapid.IntRange(2, 4).Draw(t, "nodes"), pods: rapid.IntRange(1, 4).Draw(t, "pods"),
		host: rapid.SampledFrom([]string{"veth", "tap", "none"}).Draw(t, "host"),
	}
	node := func() string { return fmt.Sprintf("node-%d", rapid.IntRange(1, c.nodes).Draw(t, "node")) }
	for range rapid.IntRange(0, 4).Draw(t, "steps") {
		switch rapid.IntRange(0, 3).Draw(t, "step") {
		case 0, 1:
			for range rapid.IntRange(1, 3).Draw(t, "count") {
				c.steps = append(c.steps, fmt.Sprintf("do: create-pods, node: %s, count: 1", node()))
			}
		case 2:
			c.steps = append(c.steps, fmt.Sprintf("do: delete-pods, node: %s, count: 1", node()))
		case 3:
			c.steps = append(c.steps, fmt.Sprintf("do: restart-agent, node: %s", node()))
		}
	}
	return c
}

// ends runs the cluster and says what its end comes to: who reaches whom, by pods' and nodes' names, and what is
// allocated.
func (c cluster) ends(t *rapid.T, pod, node string, steps []string) (reach, allocated string) {
	var text strings.Builder
	fmt.Fprintf(&text, "name: metamorphic\ntopology: {nodes: %d, podsPerNode: 0, nic: GigabitEthernet0/8/0}\nconfig: {wiring: {pod: %s, node: %s, host: %s}}\ntimeline:\n", c.nodes, pod, node, c.host)
	for n := range c.nodes {
		for range c.pods {
			fmt.Fprintf(&text, "  - {when: settled, do: create-pods, node: node-%d, count: 1}\n", n+1)
		}
	}
	for _, step := range steps {
		fmt.Fprintf(&text, "  - {when: settled, %s}\n", step)
	}
	s, err := scenarios.Parse("metamorphic.yaml", []byte(text.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	r, err := sim.Run(context.Background(), s, sim.Options{Seed: c.seed, Laws: check.All(), AtEnd: func(s fact.Snapshot) {
		reach, allocated = reachability(s), allocation(s)
	}})
	if err != nil || r.Verdict != result.Pass {
		t.Fatalf("%v %s\n%s", err, r.Error, text.String())
	}
	return reach, allocated
}

// reachability is one line per pod and place that it can or cannot reach.
func reachability(s fact.Snapshot) string {
	places := map[string]netip.Addr{}
	from := map[string]walk.Point{}
	for _, n := range s.Nodes {
		places[n.Name] = n.Address.Addr()
		if n.HostLinux.IsValid() {
			places[n.Name+" host"], from[n.Name+" host"] = n.HostLinux, walk.FromHost(n.Name)
		}
		for _, p := range n.Pods {
			places[p.Pod], from[p.Pod] = p.Addr, walk.FromPod(n.Name, p.Netns)
		}
	}
	w := walk.New(s)
	var b strings.Builder
	for _, a := range slices.Sorted(maps.Keys(from)) {
		for _, z := range slices.Sorted(maps.Keys(places)) {
			fmt.Fprintf(&b, "%s to %s: %s\n", a, z, w.Outcome(from[a], walk.Packet{Dst: places[z]}).Kind)
		}
	}
	return b.String()
}

// allocation is what nodes and agents believe about addresses.
func allocation(s fact.Snapshot) string {
	var b strings.Builder
	for _, n := range s.Nodes {
		fmt.Fprintf(&b, "%s id %d address %s host %s blocks %v reserved %v\n", n.Name, n.ID, n.Address, n.HostSubnet, n.Blocks, n.Reserved)
		if n.Leases == nil {
			continue
		}
		names := map[string]string{}
		for _, p := range n.Pods {
			names[p.Owner.String()] = p.Pod
		}
		for l := range n.Leases() {
			fmt.Fprintf(&b, "  %s %s\n", l.Addr, names[l.Owner.String()])
		}
	}
	return b.String()
}

// Goal: how pods and nodes are wired, and that VPP was restarted once more, changes neither who reaches whom nor which
// address anybody has. Method: random small clusters without faults run in pairs that differ by that alone, and their
// ends are compared by name.
func TestMetamorphic(t *testing.T) {
	pairs := []struct {
		name string
		// twin is the second run's pod and node wiring, and its steps.
		twin func(t *rapid.T, c cluster) (pod, node string, steps []string)
		node string
	}{
		{name: "veth and tap", node: "vxlan", twin: func(_ *rapid.T, c cluster) (string, string, []string) { return "tap", "vxlan", c.steps }},
		{name: "VXLAN and L2", node: "vxlan", twin: func(_ *rapid.T, c cluster) (string, string, []string) { return "veth", "l2", c.steps }},
		{name: "one restart more", node: "l2", twin: func(t *rapid.T, c cluster) (string, string, []string) {
			restart := fmt.Sprintf("do: %s, node: node-%d", rapid.SampledFrom([]string{"restart-vpp", "restart-agent", "restart-both"}).Draw(t, "what"),
				rapid.IntRange(1, c.nodes).Draw(t, "whose"))
			return "veth", "l2", slices.Insert(slices.Clone(c.steps), rapid.IntRange(0, len(c.steps)).Draw(t, "before"), restart)
		}},
	}
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := drawCluster(t)
				reach, allocated := c.ends(t, "veth", p.node, c.steps)
				pod, node, steps := p.twin(t, c)
				reach2, allocated2 := c.ends(t, pod, node, steps)
				if allocated != allocated2 {
					t.Fatalf("allocated:\n%s\nand with pod %s, node %s, %s:\n%s", allocated, pod, node, strings.Join(steps, "; "), allocated2)
				}
				if reach != reach2 {
					t.Fatalf("reached:\n%s\nand with pod %s, node %s, %s:\n%s", reach, pod, node, strings.Join(steps, "; "), reach2)
				}
				if reach != "" && !strings.Contains(reach, ": "+walk.Delivered.String()) {
					t.Fatalf("nothing is reached:\n%s", reach)
				}
			})
		})
	}
}
