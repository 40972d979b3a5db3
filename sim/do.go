package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// Do implements scenarios.World.
func (w *World) Do(_ context.Context, a scenarios.Action) error {
	w.trail("action " + a.String())
	switch a.(type) {
	case scenarios.RestartAgent, scenarios.KillAgent: // they tell themselves whether they are clean
	default:
		w.emit(scenarios.Fact{Kind: scenarios.FactDisturbed, Text: a.Verb()})
	}
	switch a := a.(type) {
	case scenarios.CreatePods:
		return w.createPods(a)
	case scenarios.DeletePods:
		return w.deletePods(a)
	case scenarios.ReplaceSandbox:
		return w.replaceSandboxes(a)
	case scenarios.RepeatDel:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error { return w.repeatDel(m, a.Count) })
	case scenarios.CheckPods:
		return w.each(a.Node, a.Verb(), living, w.checkPods)
	case scenarios.GC:
		return w.each(a.Node, a.Verb(), living, w.gc)
	case scenarios.AddNode:
		return w.addNodes(a)
	case scenarios.RemoveNode:
		return w.each(a.Node, a.Verb(), present, w.remove)
	case scenarios.CrashNode:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error { w.crashNode(m, a.For); return nil })
	case scenarios.CrashDisk:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error { w.crashNode(m, bootTime); return nil })
	case scenarios.RebootNode:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error { w.crashNode(m, bootTime); return nil })
	case scenarios.RecreateNode:
		return w.each(a.Node, a.Verb(), present, w.recreate)
	case scenarios.RollNodes:
		return w.rollNodes(a)
	default:
		return w.doProcess(a)
	}
}

// doProcess carries out actions on processes, the control plane and addresses.
func (w *World) doProcess(a scenarios.Action) error {
	switch a := a.(type) {
	case scenarios.KillAgent:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error {
			m.plantStop()
			m.killAgent(true, m.stopReason())
			w.until(a.For, "start agent "+m.name, func() { m.release() })
			return nil
		})
	case scenarios.RestartAgent:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error {
			m.plantStop()
			m.killAgent(false, m.stopReason())
			m.startAgent()
			return nil
		})
	case scenarios.KillVPP:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error {
			m.killVPP(true)
			w.until(a.For, "start vpp "+m.name, func() { m.release() })
			return nil
		})
	case scenarios.RestartVPP:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error {
			m.killVPP(false)
			m.startVPP()
			return nil
		})
	case scenarios.RestartBoth:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error {
			m.killAgent(false, "with vpp")
			m.killVPP(false)
			m.startVPP()
			m.startAgent()
			return nil
		})
	case scenarios.ChangeCIDR:
		return w.changeCIDR(a)
	case scenarios.AddRange:
		w.disturbed()
		return w.system.AddRange(a.CIDR)
	case scenarios.RemoveRange:
		w.disturbed()
		return w.system.RemoveRange(a.CIDR)
	case scenarios.LoseLeader:
		return w.system.LoseLeader(a.Pause)
	case scenarios.SetPodCIDR:
		return w.each(a.Node, a.Verb(), present, func(m *machine) error { return w.setPodCIDR(m, a) })
	case scenarios.ChangeNodeAddress:
		return w.each(a.Node, a.Verb(), present, func(m *machine) error { return w.changeAddress(m, a) })
	case scenarios.ChangeManagement:
		return w.each(a.Node, a.Verb(), present, func(m *machine) error { return w.changeManagement(m, a) })
	default:
		return w.doControl(a)
	}
}

// doControl carries out faults of the control plane.
func (w *World) doControl(a scenarios.Action) error {
	switch a := a.(type) {
	case scenarios.StopStore:
		w.store.SetAvailable(false)
		w.until(a.For, "start store", func() { w.store.SetAvailable(true) })
	case scenarios.WipeStore:
		w.store.Store.Wipe()
	case scenarios.StopAPI:
		w.api.SetAvailable(false)
		w.until(a.For, "start api", func() { w.api.SetAvailable(true) })
	case scenarios.Partition:
		return w.partition(a)
	case scenarios.SlowLink:
		return w.slowLink(a)
	case scenarios.StaleWatch:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error { w.staleWatch(m, a.For); return nil })
	case scenarios.GapWatch:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error { w.watchFault(m, func(f *cluster.StreamFaults) { f.Drop = 1 }); return nil })
	case scenarios.DuplicateWatch:
		return w.each(a.Node, a.Verb(), living, func(m *machine) error {
			w.watchFault(m, func(f *cluster.StreamFaults) { f.Duplicate = a.Count })
			return nil
		})
	case scenarios.Inject:
		return w.inject(a)
	default:
		return fmt.Errorf("%s: %w", a.Verb(), scenarios.ErrUnsupported)
	}
	return nil
}

// bootTime is how long a machine needs to boot; small virtual machines do it in five seconds.
const bootTime = 5 * time.Second

func living(m *machine) bool  { return m.up && !m.gone }
func present(m *machine) bool { return !m.gone }

// trail puts a line into the trail.
func (w *World) trail(line string) { w.soon(nil, line, func() {}) }

// until ends a fault after d, or when everything is healed when d is 0.
func (w *World) until(d time.Duration, what string, end func()) {
	if d > 0 {
		w.later(d, what, end)
		return
	}
	w.lifts.add(end)
}

// targets resolves a node reference among the machines for which an action makes sense.
func (w *World) targets(ref scenarios.NodeRef, verb string, sensible func(*machine) bool) ([]*machine, error) {
	var all []*machine
	for _, m := range w.order {
		if sensible(m) {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *machine) int { return compareNames(a.name, b.name) })
	switch ref {
	case scenarios.AllNodes:
		if len(all) > 0 {
			return all, nil
		}
	case scenarios.AnyNode, "":
		if len(all) > 0 {
			return []*machine{all[w.eng.Choose("node for "+verb, len(all))]}, nil
		}
	default:
		for _, m := range all {
			if m.name == string(ref) {
				return []*machine{m}, nil
			}
		}
	}
	return nil, fmt.Errorf("%s: %w: node %s", verb, errNoTarget, ref)
}

// compareNames puts node-2 before node-10.
func compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func (w *World) one(ref scenarios.NodeRef, verb string, sensible func(*machine) bool) (*machine, error) {
	list, err := w.targets(ref, verb, sensible)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (w *World) each(ref scenarios.NodeRef, verb string, sensible func(*machine) bool, do func(*machine) error) error {
	list, err := w.targets(ref, verb, sensible)
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := do(m); err != nil {
			return fmt.Errorf("%s %s: %w", verb, m.name, err)
		}
	}
	return nil
}

// release starts what an action has stopped on a machine.
func (m *machine) release() {
	m.agentHeld, m.vppHeld = false, false
	m.startVPP()
	m.startAgent()
}

func (w *World) addNodes(a scenarios.AddNode) error {
	if a.Name != "" {
		if old := w.machines[a.Name]; old != nil && !old.gone {
			return fmt.Errorf("add-node: there is a node %s", a.Name)
		}
		return w.join(a.Name)
	}
	for range max(1, a.Count) {
		n := 1
		for w.machines["node-"+strconv.Itoa(n)] != nil {
			n++
		}
		if err := w.join("node-" + strconv.Itoa(n)); err != nil {
			return err
		}
	}
	return nil
}

// remove takes a node out of the cluster for good.
func (w *World) remove(m *machine) error {
	m.powerOff()
	m.gone = true
	w.order = slices.DeleteFunc(w.order, func(x *machine) bool { return x == m })
	if err := w.cluster.RemoveNode(m.name); err != nil {
		return err
	}
	w.system.Leave(m.name)
	if w.s.Config.IPAM.UseExternalIPAM {
		w.assign(m.name, nil)
	}
	delete(w.external.given, m)
	m.fact(scenarios.Fact{Kind: scenarios.FactNodeGone, Text: scenarios.NodeLeft})
	return nil
}

// recreate replaces a node by a new machine of the same name.
func (w *World) recreate(m *machine) error {
	if err := w.remove(m); err != nil {
		return err
	}
	w.later(bootTime, "join again "+m.name, func() {
		if err := w.join(m.name); err != nil {
			w.eng.Fail(err)
		}
	})
	return nil
}

// crashNode switches a machine off; after d, or when everything is healed when d is 0, it boots.
func (w *World) crashNode(m *machine, d time.Duration) {
	m.powerOff()
	w.cluster.Kubelet(m.name).PowerOff()
	m.fact(scenarios.Fact{Kind: scenarios.FactNodeGone})
	w.until(d, "boot "+m.name, func() {
		if m.gone || m.up {
			return
		}
		m.powerOn()
		w.cluster.Kubelet(m.name).PowerOn()
	})
}

// rollNodes replaces every node that is there now, count at a time.
func (w *World) rollNodes(a scenarios.RollNodes) error {
	list, err := w.targets(scenarios.AllNodes, a.Verb(), present)
	if err != nil {
		return err
	}
	batch := max(1, a.Count)
	for i, m := range list {
		m := m
		roll := func() {
			if !m.gone {
				if err := w.recreate(m); err != nil {
					w.eng.Fail(err)
				}
			}
		}
		if wait := time.Duration(i/batch) * a.Every; wait > 0 {
			w.later(wait, "roll "+m.name, roll)
		} else {
			roll()
		}
	}
	return nil
}

// Heal implements scenarios.World.
func (w *World) Heal(context.Context) error {
	w.trail("heal")
	w.healed = true
	w.faults, w.keyed = nil, false
	w.cluster.Workload.Stop()
	for len(w.lifts.pending) > 0 {
		w.lifts.run(w.lifts.pending[0])
	}
	w.net.MendAll()
	for _, m := range w.order {
		m.release()
	}
	w.healed = true
	return nil
}
