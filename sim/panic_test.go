package sim_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// dying is an agent that is told, instead of its second alarm, what no agent understands; or whose driver dies.
type dying struct {
	inner  sim.PlantedAgent
	driver bool
	alarms int
}

func (d *dying) Leases() iter.Seq[ipam.Lease] { return d.inner.Leases() }

func (d *dying) Step(now time.Time, ev agent.Event) []agent.Effect {
	if _, ok := ev.(agent.Called); ok {
		d.alarms++
	}
	if d.alarms == 2 && d.driver {
		panic("the driver is at its end")
	}
	if d.alarms == 2 {
		ev = nil
	}
	return d.inner.Step(now, ev)
}

// Goal: an agent that panics ends its run by programs-survive, with what it died of and its node, and leaves a result
// that can be shown again; a panic of anything else is a run that could not be judged. Method: an agent is told
// nonsense, and a driver dies.
func TestPanicIsTold(t *testing.T) {
	s, err := scenarios.Parse("dying.yaml", []byte("# Two nodes.\nname: dying\ntopology: {nodes: 2, podsPerNode: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(driver bool) result.Result {
		t.Helper()
		r, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: check.All(), Plant: &sim.Plant{
			Agent: func(_ string, a sim.PlantedAgent) sim.PlantedAgent { return &dying{inner: a, driver: driver} }}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(false)
	if f := r.Failure; r.Verdict != result.Fail || f == nil || f.Law != "programs-survive" || !strings.HasPrefix(f.Node, "node-") ||
		!strings.HasPrefix(f.What, "panic: agent: unknown event <nil>, in vppwire/agent.(*Agent).take (agent.go:") || f.Line == "" {
		t.Errorf("%s: %+v", r.Verdict, f)
	}
	if again := run(false); again.Digest != r.Digest {
		t.Error("two runs differ")
	}
	if r := run(true); r.Verdict != result.Error || !strings.Contains(r.Error, "the world cannot go on: panic: the driver is at its end") {
		t.Errorf("%s: %s", r.Verdict, r.Error)
	}
}

// brokenBook is an address system that dies when a law looks at its leases.
type brokenBook struct {
	ipam.NodeAllocator
	looking *bool
}

func (b brokenBook) Leases() iter.Seq[ipam.Lease] {
	if *b.looking {
		return (*agent.Agent)(nil).Leases() // a panic of the product
	}
	return b.NodeAllocator.Leases()
}

// Goal: what dies of being looked at by a law ends its run by programs-survive, too. Method: a book of leases is broken
// for one law.
func TestPanicUnderLawIsTold(t *testing.T) {
	s, err := scenarios.Parse("dying.yaml", []byte("# Two nodes.\nname: dying\ntopology: {nodes: 2, podsPerNode: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	looking := false
	look := fact.Law{Name: "looks", Why: "A test.", When: fact.Settled, Check: func(s fact.Snapshot) (int64, error) {
		looking = true
		s.Nodes[0].Leases()
		return 1, nil
	}}
	r, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: append(check.All(), look), Plant: &sim.Plant{
		Allocator: func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator { return brokenBook{a, &looking} }}})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Failure; r.Verdict != result.Fail || f == nil || f.Law != "programs-survive" || !strings.Contains(f.What, "vppwire/agent.(*Agent).Leases") {
		t.Errorf("%s: %s %+v", r.Verdict, r.Error, f)
	}
}

// Goal: a controller that refuses its configuration as it starts, the first time or after another one, ends its run by
// programs-survive, in its own words. Method: the allocator of one life is refused.
func TestRefusalIsTold(t *testing.T) {
	s, err := scenarios.Parse("refused.yaml", []byte(`# Two nodes.
name: refused
topology: {nodes: 2, podsPerNode: 1}
config: {ipam: {system: nodeipam}}
timeline: [{at: 10s, do: lose-leader}]
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, life := range []int{1, 2} {
		who := fmt.Sprintf("controller-manager-%d", life)
		r, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: check.All(), Plant: &sim.Plant{Controllers: controllers.Plant{
			Controller: func(n int, _ nodeipam.CIDRAllocatorParams, m nodeipam.Machine) nodeipam.Machine {
				if n == life {
					controllers.Accept(who, errors.New("no such range"))
				}
				return m
			}}}})
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Failure; r.Verdict != result.Fail || f == nil || f.Law != "programs-survive" || f.What != who+" refuses, as it starts, what was accepted with the scenario: no such range" {
			t.Errorf("life %d: %s: %s %+v", life, r.Verdict, r.Error, f)
		}
	}
}
