package lab

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Change is one thing that makes a standing lab what its file says now.
type Change struct {
	// Text is a line for people: "add node-3".
	Text string
	do   func(ctx context.Context) error
}

// Plan lists what has to change for the lab to be as want's topology and config say; nothing when it is so already.
// What happens in want's timeline plays no part. The error is a file that no lab can become without being made anew.
func (w *World) Plan(want *scenarios.Scenario) ([]Change, error) {
	if missing := Unsupported(want); len(missing) > 0 {
		return nil, fmt.Errorf("this machine cannot do %s", timeline.Line(missing))
	}
	if err := Validate(want); err != nil {
		return nil, err
	}
	if (want.Topology.NIC != "") != (w.scenario().Topology.NIC != "") || !slices.Equal(want.Topology.OtherNICs, w.scenario().Topology.OtherNICs) {
		return nil, fmt.Errorf("topology.nic, otherNICs: nodes get or lose their interface only when they are made; take the lab down first")
	}
	if want.Config.HasDHCP() != w.scenario().Config.HasDHCP() || want.Config.DHCP != w.scenario().Config.DHCP {
		return nil, fmt.Errorf("config.dhcp: a lab gets or loses its DHCP server only when it is made; take it down first")
	}
	want = scaled(want, w.o.TimeScale)
	var out []Change
	if !reflect.DeepEqual(want.Config.IPAM, w.scenario().Config.IPAM) {
		out = append(out, Change{"change the address plan", func(ctx context.Context) error {
			return w.Play.SetPlan(ctx, want.Config.IPAM)
		}})
	}
	cfg, err := configure(want)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(want.Config.Wiring, w.scenario().Config.Wiring) || !reflect.DeepEqual(want.Config.Agent, w.scenario().Config.Agent) ||
		!reflect.DeepEqual(want.Config.Nodes, w.scenario().Config.Nodes) {
		out = append(out, Change{"restart every agent with the new wiring and settings", func(context.Context) error {
			w.desired.Store(&desired{w.scenario(), cfg})
			for _, n := range w.inOrder() {
				n.kill(&n.agent, false, "new configuration")
				n.start(&n.agent, n.launchAgent)
			}
			return nil
		}})
	}
	out = append(out, w.planNodes(want)...)
	out = append(out, w.planPods(want)...)
	if len(out) > 0 {
		out[len(out)-1].do = both(out[len(out)-1].do, func(context.Context) error {
			w.desired.Store(&desired{want, cfg})
			w.Play.SetScenario(want)
			return nil
		})
	}
	return out, nil
}

func both(a, b func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := a(ctx); err != nil {
			return err
		}
		return b(ctx)
	}
}

// planNodes adds and removes nodes.
func (w *World) planNodes(want *scenarios.Scenario) []Change {
	var out []Change
	names := want.NodeNames()
	have := map[string]*node{}
	for _, n := range w.inOrder() {
		have[n.name] = n
		if !slices.Contains(names, n.name) {
			out = append(out, Change{"remove " + n.name, func(ctx context.Context) error { return stage{w}.Remove(ctx, n.name) }})
		}
	}
	for _, name := range names {
		switch n := have[name]; {
		case n == nil:
			out = append(out, Change{"add " + name, func(ctx context.Context) error { return w.Play.Join(ctx, name) }})
		case !n.isUp():
			out = append(out, Change{"boot " + name, func(ctx context.Context) error { return stage{w}.PowerOn(ctx, n.name) }})
		default:
			if vpp, agent := n.running(); vpp == nil || agent == nil {
				out = append(out, Change{"start what is down on " + name, func(context.Context) error { n.release(); return nil }})
			}
		}
	}
	return out
}

// planPods makes every node have the pods that the topology gives it. Pods of other names are nobody's business.
func (w *World) planPods(want *scenarios.Scenario) []Change {
	var out []Change
	for _, name := range want.NodeNames() {
		for i := range max(want.Topology.PodsPerNode, w.scenario().Topology.PodsPerNode) {
			pod := name + "-pod-" + strconv.Itoa(i)
			p := w.findPod(pod)
			switch {
			case i < want.Topology.PodsPerNode && (p == nil || p.deleting.Load()):
				out = append(out, Change{"create pod " + pod, func(context.Context) error {
					w.createPod(timeline.Pod{Name: pod, App: scenarios.TopologyApp, Node: name, Pinned: true})
					return nil
				}})
			case i >= want.Topology.PodsPerNode && p != nil && !p.deleting.Load():
				out = append(out, Change{"delete pod " + pod, func(context.Context) error { w.deletePod(p); return nil }})
			}
		}
	}
	return out
}

// Apply makes changes, in order.
func (w *World) Apply(ctx context.Context, changes []Change) error {
	for _, c := range changes {
		w.Record.Note("apply: " + c.Text)
		if err := c.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.Text, err)
		}
	}
	return nil
}
