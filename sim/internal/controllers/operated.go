package controllers

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios"
)

// operated is common to systems in which the nodes' agents and one elected program work on shared resources: the
// leader, and the living agents.
type operated[L elected, A resident] struct {
	env     Env
	program string
	// boot begins a life of the program, reside one of a node's agent.
	boot   func(*leader) L
	reside func(node string, side Side) A

	election
	leading L
	agents  map[string]A // living ones, by node
	// requests counts writes to what the system keeps its state in.
	requests int64
}

// elected is a life of a program of which one leads.
type elected interface {
	start()
	stop()
	// pending says what is under way, "" when nothing is.
	pending() string
}

// resident is a life of a node's agent.
type resident interface {
	elected
	// changed says that leases or blocks may have changed, want is what it may use.
	changed()
	want() []netip.Prefix
}

// Start implements System.
func (o *operated[L, A]) Start() { o.lead() }

func (o *operated[L, A]) lead() {
	o.leading = o.boot(o.won(&o.env, o.program))
	o.leading.start()
}

// LoseLeader implements System. What the old leader had asked for and was cut off with never gets there; what it had
// written arrives late. One that stands still never goes on: what wakes it first is that its term is over.
func (o *operated[L, A]) LoseLeader(how scenarios.LoseLeader) error {
	old := o.leading
	if l, ok := any(old).(interface{ loses() }); ok && !o.electing {
		l.loses()
	}
	if o.lose(how, old.stop, o.lead) && how.Asleep {
		old.stop()
	}
	return nil
}

// RestartController implements System. What the old leader has asked for arrives.
func (o *operated[L, A]) RestartController(scenarios.RestartController) error {
	o.restart(o.leading.stop, o.lead)
	return nil
}

// AgentUp implements System.
func (o *operated[L, A]) AgentUp(node string, side Side) {
	a := o.reside(node, side)
	o.agents[node] = a
	a.start()
}

// AgentDown implements System.
func (o *operated[L, A]) AgentDown(node string) {
	if a, lives := o.agents[node]; lives {
		delete(o.agents, node)
		a.stop()
	}
}

// Changed implements System.
func (o *operated[L, A]) Changed(node string) {
	if a, lives := o.agents[node]; lives {
		a.changed()
	}
}

// Blocks implements System.
func (o *operated[L, A]) Blocks(node string) ([]netip.Prefix, bool) {
	if a, lives := o.agents[node]; lives {
		return a.want(), true
	}
	return nil, true
}

// Requests implements System.
func (o *operated[L, A]) Requests() int64 { return o.requests }

// Pending implements System.
func (o *operated[L, A]) Pending() string {
	if o.electing {
		return o.program + " is being elected"
	}
	if why := o.leading.pending(); why != "" {
		return why
	}
	for _, name := range o.env.Cluster.Nodes() {
		if a, lives := o.agents[name]; lives {
			if why := a.pending(); why != "" {
				return name + ": " + why
			}
		}
	}
	return ""
}
