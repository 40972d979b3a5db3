package sim_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/normalized"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// waker wakes an agent once more after each step. What the agent has done already, it does not do again.
type waker struct{ sim.PlantedAgent }

func (w waker) Step(now time.Time, ev agent.Event) []agent.Effect {
	effects := slices.Clone(w.PlantedAgent.Step(now, ev))
	if slices.ContainsFunc(effects, isDataplaneCall) {
		return effects // its call must be under way first
	}
	return append(effects, w.PlantedAgent.Step(now, agent.Woke{})...)
}

func isDataplaneCall(e agent.Effect) bool { _, is := e.(agent.CallDataplane); return is }

// echo tells an agent each change of nodes, records, ranges and services twice.
type echo struct{ sim.PlantedAgent }

func (e echo) Step(now time.Time, ev agent.Event) []agent.Effect {
	effects := e.PlantedAgent.Step(now, ev)
	switch ev.(type) {
	case agent.NodeSeen, agent.NodeGone, agent.StoreChanged, agent.PoolsChanged, agent.ServiceSeen, agent.ServiceGone, agent.EndpointsSeen, agent.EndpointsGone, agent.HostAddresses:
	default:
		return effects
	}
	effects = slices.Clone(effects)
	return append(effects, e.PlantedAgent.Step(now, ev)...)
}

// repeated makes each dump twice, and tells the agent of the second.
type repeated struct {
	sim.PlantedAgent
	dump *agent.CallDataplane
}

func (a *repeated) Step(now time.Time, ev agent.Event) []agent.Effect {
	if _, called := ev.(agent.Called); called && a.dump != nil {
		call := *a.dump
		a.dump = nil
		return []agent.Effect{call}
	}
	effects := a.PlantedAgent.Step(now, ev)
	a.dump = nil
	for _, e := range effects {
		if call, is := e.(agent.CallDataplane); is && !call.Call.Writes() {
			a.dump = &call
		}
	}
	return effects
}

// Goal: a wake more, news that come twice and a look made twice change nothing of where a cluster settles, whatever an
// agent's rules are for when it looks, asks and writes. Method: scenarios of the catalogue without faults run as they
// are and with agents that are treated so; the settled clusters are the same text, without what chance decides.
func TestTwiceIsOnce(t *testing.T) {
	names := []string{"pod-veth-node-vxlan-host-veth", "pod-tap-node-l2-host-tap", "pod-macvlan-node-vxlan-host-tap", "own-addresses-of-pod-interfaces", "node-leaves", "services-change",
		"leased-addresses", "nodeipam-ranges", "cilium-crd", "pod-range-moves", "agent-restarts"}
	if testing.Short() {
		names = names[:4]
	}
	for _, name := range names {
		s, err := catalog.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		settled := func(wrap func(sim.PlantedAgent) sim.PlantedAgent) (lines []string) {
			o := sim.Options{Seed: 1, Laws: check.All(), AtEnd: func(end fact.Snapshot) { lines = normalized.Of(end) }}
			if wrap != nil {
				o.Plant = &sim.Plant{Agent: func(_ string, a sim.PlantedAgent) sim.PlantedAgent { return wrap(a) }}
			}
			r, err := sim.Run(context.Background(), s, o)
			if err != nil || r.Verdict != result.Pass {
				t.Errorf("%s: %v %s %v", name, err, r.Error, r.Failure)
			}
			return lines
		}
		want := settled(nil)
		for how, wrap := range map[string]func(sim.PlantedAgent) sim.PlantedAgent{
			"a wake more after each step": func(a sim.PlantedAgent) sim.PlantedAgent { return waker{a} },
			"news that come twice":        func(a sim.PlantedAgent) sim.PlantedAgent { return echo{a} },
			"each dump made twice":        func(a sim.PlantedAgent) sim.PlantedAgent { return &repeated{PlantedAgent: a} },
		} {
			if here, there := normalized.Differences(want, settled(wrap)); len(here)+len(there) > 0 {
				t.Errorf("%s, %s: once\n%s\nand so\n%s", name, how, strings.Join(here, "\n"), strings.Join(there, "\n"))
			}
		}
	}
}
