package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
)

// bootTime is how long a machine is off that reboots or is replaced; small virtual machines boot in five seconds.
const bootTime = 5 * time.Second

// Supports implements scenarios.Supporter.
func (w *World) Supports(a scenarios.Action) bool {
	switch a.(type) {
	case scenarios.Inject, scenarios.StaleWatch, scenarios.DuplicateWatch, scenarios.CrashDisk:
		return false // they need a hand in the agent's own process, or in a disk
	}
	return true
}

// Do implements scenarios.World.
func (w *World) Do(ctx context.Context, a scenarios.Action) error {
	w.record.note("action " + a.String())
	switch a.(type) {
	case scenarios.RestartAgent, scenarios.KillAgent: // they tell themselves whether they are clean
	default:
		w.disturbed(a.Verb())
	}
	err := w.do(ctx, a)
	return errors.Join(err, w.deliver())
}

func (w *World) disturbed(by string) {
	w.record.tell(scenarios.Fact{Kind: scenarios.FactDisturbed, Text: by}, "")
}

func (w *World) do(ctx context.Context, a scenarios.Action) error {
	switch a := a.(type) {
	case scenarios.CreatePods:
		return w.createPods(a)
	case scenarios.DeletePods:
		return w.deletePods(a)
	case scenarios.ReplaceSandbox:
		return w.replaceSandboxes(a)
	case scenarios.RepeatDel:
		return w.each(a.Node, a.Verb(), living, func(n *node) error { return w.repeatDel(ctx, n, a.Count) })
	case scenarios.CheckPods:
		return w.each(a.Node, a.Verb(), living, func(n *node) error { return n.checkPods(ctx) })
	case scenarios.GC:
		return w.each(a.Node, a.Verb(), living, func(n *node) error { return n.gc(ctx) })
	case scenarios.AddNode:
		return w.addNodes(ctx, a)
	case scenarios.RemoveNode:
		return w.each(a.Node, a.Verb(), present, func(n *node) error { return w.remove(ctx, n) })
	case scenarios.CrashNode:
		return w.each(a.Node, a.Verb(), living, func(n *node) error { return w.crashNode(n, a.For) })
	case scenarios.RebootNode:
		return w.each(a.Node, a.Verb(), living, func(n *node) error { return w.crashNode(n, bootTime) })
	case scenarios.RecreateNode:
		return w.each(a.Node, a.Verb(), present, func(n *node) error { return w.recreate(ctx, n) })
	case scenarios.RollNodes:
		return w.rollNodes(ctx, a)
	case scenarios.ChangeCIDR:
		return w.changeCIDR(ctx, a)
	case scenarios.SetPodCIDR:
		return w.each(a.Node, a.Verb(), present, func(n *node) error {
			n.mu.Lock()
			n.podCIDRs = []netip.Prefix{a.PodCIDR}
			n.mu.Unlock()
			return w.publishNode(ctx, n)
		})
	case scenarios.ChangeNodeAddress:
		return w.each(a.Node, a.Verb(), present, func(n *node) error { return n.setOwn(ctx, a.Address) })
	case scenarios.ChangeManagement:
		return w.each(a.Node, a.Verb(), present, func(n *node) error { return w.changeManagement(ctx, n, a.Addresses) })
	}
	return w.doProcess(ctx, a)
}

// doProcess carries out actions on processes and the control plane.
func (w *World) doProcess(ctx context.Context, a scenarios.Action) error {
	switch a := a.(type) {
	case scenarios.KillAgent:
		return w.each(a.Node, a.Verb(), living, func(n *node) error {
			n.kill(&n.agent, true, w.stopReason(ctx, n))
			w.until(a.For, n.release)
			return nil
		})
	case scenarios.RestartAgent:
		return w.each(a.Node, a.Verb(), living, func(n *node) error {
			n.kill(&n.agent, false, w.stopReason(ctx, n))
			n.start(&n.agent, n.launchAgent)
			return nil
		})
	case scenarios.KillVPP:
		return w.each(a.Node, a.Verb(), living, func(n *node) error {
			n.kill(&n.vpp, true, "")
			w.until(a.For, n.release)
			return nil
		})
	case scenarios.RestartVPP:
		return w.each(a.Node, a.Verb(), living, func(n *node) error {
			n.kill(&n.vpp, false, "")
			n.start(&n.vpp, n.launchVPP)
			return nil
		})
	case scenarios.RestartBoth:
		return w.each(a.Node, a.Verb(), living, func(n *node) error {
			n.kill(&n.agent, false, "with vpp")
			n.kill(&n.vpp, false, "")
			n.start(&n.vpp, n.launchVPP)
			n.start(&n.agent, n.launchAgent)
			return nil
		})
	case scenarios.StopStore:
		w.plane.stopStore(true)
		w.rewire()
		w.until(a.For, func() { w.plane.stopStore(false); w.rewire() })
	case scenarios.WipeStore:
		return w.plane.store.Wipe()
	case scenarios.StopAPI:
		w.plane.stopAPI(true)
		w.rewire()
		w.until(a.For, func() { w.plane.stopAPI(false); w.rewire(); w.schedule() })
	case scenarios.Partition:
		return w.partition(a)
	case scenarios.SlowLink:
		return w.slowLink(a)
	case scenarios.GapWatch:
		return w.each(a.Node, a.Verb(), living, func(n *node) error { return w.gapWatch(ctx, n) })
	default:
		return fmt.Errorf("%s: %w", a.Verb(), scenarios.ErrUnsupported)
	}
	return nil
}

func living(n *node) bool  { return n.isUp() && !n.isGone() }
func present(n *node) bool { return !n.isGone() }

// each does something on every node that ref names, in name order.
func (w *World) each(ref scenarios.NodeRef, verb string, sensible func(*node) bool, do func(*node) error) error {
	list, err := w.targets(ref, verb, sensible)
	if err != nil {
		return err
	}
	for _, n := range list {
		if err := do(n); err != nil {
			return fmt.Errorf("%s %s: %w", verb, n.name, err)
		}
	}
	return nil
}

// targets resolves a node reference among the nodes for which an action makes sense.
func (w *World) targets(ref scenarios.NodeRef, verb string, sensible func(*node) bool) ([]*node, error) {
	all := slices.DeleteFunc(w.inOrder(), func(n *node) bool { return !sensible(n) })
	switch ref {
	case scenarios.AllNodes:
		if len(all) > 0 {
			return all, nil
		}
	case scenarios.AnyNode, "":
		if len(all) > 0 {
			i := w.rand.IntN(len(all))
			return all[i : i+1], nil
		}
	default:
		for _, n := range all {
			if n.name == string(ref) {
				return []*node{n}, nil
			}
		}
	}
	return nil, fmt.Errorf("%s: %w: node %s", verb, errNoTarget, ref)
}

// joinAll makes nodes of these names join at the same time.
func (w *World) joinAll(ctx context.Context, names []string) error {
	made := make([]*node, len(names))
	for i, name := range names {
		n, err := w.newNode(name)
		if err != nil {
			return err
		}
		made[i] = n
		if w.scenario().Config.IPAM.UseExternalIPAM {
			p, err := w.nextBlock()
			if err != nil {
				return err
			}
			n.podCIDRs = []netip.Prefix{p}
		}
		w.mu.Lock()
		w.nodes[name] = n
		w.mu.Unlock()
		w.disturbed("add-node")
		if err := w.publishNode(ctx, n); err != nil {
			return err
		}
	}
	errs := make([]error, len(made))
	each(made, func(n *node) { errs[slices.Index(made, n)] = n.powerOn() })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	w.schedule()
	return nil
}

func (w *World) addNodes(ctx context.Context, a scenarios.AddNode) error {
	if a.Name != "" {
		w.mu.Lock()
		exists := w.nodes[a.Name] != nil
		w.mu.Unlock()
		if exists {
			return fmt.Errorf("add-node: there is a node %s", a.Name)
		}
		return w.joinAll(ctx, []string{a.Name})
	}
	var names []string
	for n := 1; len(names) < max(1, a.Count); n++ {
		name := "node-" + strconv.Itoa(n)
		w.mu.Lock()
		taken := w.nodes[name] != nil || w.lifts.pendingNode(name) || w.everNamed[name]
		w.mu.Unlock()
		if !taken {
			names = append(names, name)
		}
	}
	return w.joinAll(ctx, names)
}

// remove takes a node out of the cluster for good.
func (w *World) remove(ctx context.Context, n *node) error {
	w.mu.Lock()
	delete(w.nodes, n.name)
	w.everNamed[n.name] = true
	w.mu.Unlock()
	n.remove()
	n.mu.Lock()
	w.assign(n, nil)
	n.mu.Unlock()
	w.record.tell(scenarios.Fact{Kind: scenarios.FactNodeGone, Node: n.name, Text: scenarios.NodeLeft}, n.name+" has left")
	w.orphans(n.name)
	w.healCuts(n.name)
	return w.plane.deleteNode(ctx, n.name)
}

// recreate replaces a node by a new machine of the same name.
func (w *World) recreate(ctx context.Context, n *node) error {
	if err := w.remove(ctx, n); err != nil {
		return err
	}
	w.lifts.add(w.Now()+bootTime, n.name, func() {
		if err := w.joinAll(context.WithoutCancel(ctx), []string{n.name}); err != nil {
			w.fail(err)
			return
		}
		w.mu.Lock()
		again := w.nodes[n.name]
		w.mu.Unlock()
		w.firstPods(again)
	})
	return nil
}

// crashNode switches a machine off; after d, or when everything is healed when d is 0, it boots.
func (w *World) crashNode(n *node, d time.Duration) error {
	if err := n.powerOff(); err != nil {
		return err
	}
	w.until(d, func() {
		if !n.isGone() {
			w.fail(n.powerOn())
			w.schedule()
		}
	})
	return nil
}

// rollNodes replaces every node that is there now, Count at a time.
func (w *World) rollNodes(ctx context.Context, a scenarios.RollNodes) error {
	list, err := w.targets(scenarios.AllNodes, a.Verb(), present)
	if err != nil {
		return err
	}
	batch := max(1, a.Count)
	for i, n := range list {
		roll := func() {
			if !n.isGone() {
				w.fail(w.recreate(context.WithoutCancel(ctx), n))
			}
		}
		if wait := time.Duration(i/batch) * a.Every; wait > 0 {
			w.lifts.add(w.Now()+wait, "", roll)
		} else {
			roll()
		}
	}
	return nil
}

// changeCIDR gives the cluster other address ranges; agents learn of it each in its time.
func (w *World) changeCIDR(ctx context.Context, a scenarios.ChangeCIDR) error {
	c := a.Apply(w.ipam)
	if _, err := poolsFor(c); err != nil {
		return fmt.Errorf("change-cidr: %w", err)
	}
	w.ipam = c
	return w.plane.setPools(ctx, c)
}

func (w *World) changeManagement(ctx context.Context, n *node, addrs []netip.Addr) error {
	n.mu.Lock()
	n.management = slices.Clone(addrs)
	err := n.machine.SetManagement(n.management)
	n.mu.Unlock()
	return errors.Join(err, w.publishNode(ctx, n))
}

// stopReason vouches for a clean stop where it is one: everything was quiet when it came.
func (w *World) stopReason(ctx context.Context, n *node) string {
	vpp, agent := n.running()
	if vpp == nil || agent == nil || w.lifts.any() || w.quiet(ctx) != "" {
		return "kill"
	}
	n.mu.Lock()
	n.witness = time.Now().Add(witnessTime)
	n.mu.Unlock()
	return check.CleanStop
}

// witnessTime is how long after a clean stop writes are told as facts.
const witnessTime = time.Minute

// Heal implements scenarios.World.
func (w *World) Heal(context.Context) error {
	w.record.note("heal")
	w.mu.Lock()
	w.healed = true
	w.mu.Unlock()
	w.lifts.all()
	w.plane.stopStore(false)
	w.plane.stopAPI(false)
	w.cuts = nil
	for _, n := range w.inOrder() {
		n.wires.mend()
	}
	if err := w.ground.Cut(nil); err != nil {
		return err
	}
	for _, n := range w.inOrder() {
		n.release()
	}
	w.schedule()
	return w.deliver()
}
