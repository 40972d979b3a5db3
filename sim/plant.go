package sim

import (
	"iter"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Plant wraps parts of a World so that they do what they must not do: a fault that some upstream once had. Whatever it
// wraps is the product's own and knows nothing of it; a nil function wraps nothing. A Plant may keep state, so it
// serves one run, and like everything in a run it must not depend on anything but the run.
//
// The laws see what comes out of the wrapped part, not what went in.
type Plant struct {
	// Config changes the configuration of every agent.
	Config func(cfg *agent.Config)
	// Agent wraps one life of a node's agent: its events and its effects.
	Agent func(node string, a PlantedAgent) PlantedAgent
	// Allocator wraps the allocator of one life of a node's agent, before the journal is replayed into it.
	Allocator func(node string, a ipam.NodeAllocator) ipam.NodeAllocator
	// Journal is what reaches the disk of the records that the agent persists; the agent is notified that all of them did.
	Journal func(node string, e agent.Persist) agent.Persist
	// Records are the disk's records that a starting agent receives.
	Records func(node string, records []agent.Record) []agent.Record
	// Stopping is called when an action ends a node's agent, and returns what the agent asks of the store before that.
	Stopping func(node string) []agent.StoreRequest
	// Controllers wraps what gives nodes their blocks.
	Controllers controllers.Plant
}

// PlantedAgent is an agent as its driver sees it. The slice that Step returns is valid until the next Step.
type PlantedAgent interface {
	Step(now time.Time, ev agent.Event) []agent.Effect
	Leases() iter.Seq[ipam.Lease]
}

// plantAllocator, plantAgent and plantStop apply the wrappers where there are any.
func (w *World) plantAllocator(node string, a ipam.NodeAllocator) ipam.NodeAllocator {
	if w.plant == nil || w.plant.Allocator == nil {
		return a
	}
	return w.plant.Allocator(node, a)
}

// plantAgent returns nil where nothing wraps the agent.
func (w *World) plantAgent(node string, a *agent.Agent) PlantedAgent {
	if w.plant == nil || w.plant.Agent == nil {
		return nil
	}
	return w.plant.Agent(node, a)
}

// plantStop sends the requests of a closing agent. Their answers are dropped.
func (m *machine) plantStop() {
	w := m.w
	if m.proc == nil || w.plant == nil || w.plant.Stopping == nil {
		return
	}
	for _, r := range w.plant.Stopping(m.name) {
		m.proc.client.Do(r)
	}
}
