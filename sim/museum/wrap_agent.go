package museum

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// life is one life of a node's agent with a planted fault around it.
type life struct {
	sim.PlantedAgent
	node string
	// number counts the node's lives from 1.
	number int
	step   func(l *life, now time.Time, ev agent.Event) []agent.Effect
	// looked: VPP was looked at.
	looked bool
	// own is the node's record as far as its journal holds it.
	own nodeid.Record
}

// Step implements sim.PlantedAgent.
func (l *life) Step(now time.Time, ev agent.Event) []agent.Effect { return l.step(l, now, ev) }

// inner is the agent's own step, of which the effects may be kept.
func (l *life) inner(now time.Time, ev agent.Event) []agent.Effect {
	return slices.Clone(l.PlantedAgent.Step(now, ev))
}

// agents wraps every agent of a run by one step.
func agents(step func(l *life, now time.Time, ev agent.Event) []agent.Effect) func(string, sim.PlantedAgent) sim.PlantedAgent {
	lives := map[string]int{}
	return func(node string, a sim.PlantedAgent) sim.PlantedAgent {
		lives[node]++
		return &life{PlantedAgent: a, node: node, number: lives[node], step: step}
	}
}

// cniNetwork is the network of the modelled kubelets' attachments. unasked is a request number that no plugin uses: the
// answer is dropped.
const (
	cniNetwork = "vppdrill"
	unasked    = 1 << 50
)

// nobodyLives makes the agent remove every attachment, as if the runtime had named none.
func (l *life) nobodyLives(now time.Time) []agent.Effect {
	return l.inner(now, agent.PodGC{Request: unasked, Network: cniNetwork})
}

// served are the owners whose ADD was answered with an address, by the agents' requests and answers.
type served struct {
	asked map[request]ipam.Owner
	done  map[ipam.Owner]bool
	// failed are the owners whose ADD the agent has answered with an error.
	failed map[ipam.Owner]agent.Code
}

// request is one open CNI request; each life of an agent numbers its requests from the start.
type request struct {
	node   string
	life   int
	number uint64
}

func newServed() *served {
	return &served{asked: map[request]ipam.Owner{}, done: map[ipam.Owner]bool{}, failed: map[ipam.Owner]agent.Code{}}
}

// note takes in one step.
func (s *served) note(l *life, ev agent.Event, effects []agent.Effect) {
	if add, ok := ev.(agent.PodAdd); ok {
		s.asked[request{l.node, l.number, add.Request}] = add.Sandbox.Owner
	}
	for _, e := range effects {
		a, ok := e.(agent.Answer)
		if !ok {
			continue
		}
		key := request{l.node, l.number, a.Request}
		if o, asked := s.asked[key]; asked {
			delete(s.asked, key)
			if a.Code == agent.CodeOK {
				s.done[o] = true
			} else {
				s.failed[o] = a.Code
			}
		}
	}
}

// watched only notes the served owners.
func (s *served) watched(l *life, now time.Time, ev agent.Event) []agent.Effect {
	// The effects of a step are part of it: an allocator that is called during the step must know of the ADD.
	s.note(l, ev, nil)
	effects := l.inner(now, ev)
	s.note(l, nil, effects)
	return effects
}

// holders are the holders of each address on each node, by what agents write to their journals.
type holders struct {
	now  map[string]map[netip.Addr]ipam.Owner
	last map[ipam.Owner]netip.Addr
}

func newHolders() *holders {
	return &holders{now: map[string]map[netip.Addr]ipam.Owner{}, last: map[ipam.Owner]netip.Addr{}}
}

func (h *holders) note(node string, effects []agent.Effect) {
	if h.now[node] == nil {
		h.now[node] = map[netip.Addr]ipam.Owner{}
	}
	for _, e := range effects {
		p, ok := e.(agent.Persist)
		if !ok || p.Replace {
			continue
		}
		for _, r := range p.Records {
			switch {
			case r.Kind != agent.RecordIPAM:
			case r.IPAM.Op == ipam.OpLease:
				h.now[node][r.IPAM.Addr], h.last[r.IPAM.Owner] = r.IPAM.Owner, r.IPAM.Addr
			case r.IPAM.Op == ipam.OpRelease && h.now[node][r.IPAM.Addr] == r.IPAM.Owner:
				delete(h.now[node], r.IPAM.Addr)
			}
		}
	}
}

// without drops the records that a function names.
func without(records []agent.Record, drop func(r *agent.Record) bool) []agent.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r agent.Record) bool { return drop(&r) })
}

// impatient agents claim a node ID without waiting for the records of nodes that exist.
func impatient(cfg *agent.Config) { cfg.ClaimPatience = -1 }

// idForgotten is a journal without the node ID: it was only ever in the store.
func idForgotten(_ string, records []agent.Record) []agent.Record {
	return without(records, func(r *agent.Record) bool { return r.Kind == agent.RecordNode })
}
