package story

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Stepper is an agent as its driver sees it.
type Stepper interface {
	Step(now time.Time, ev agent.Event) []agent.Effect
}

// Contract stands between a driver and one life of an agent and panics when either breaks the contract of
// agent.Agent.Step, as far as that can be seen between the two. It is for tests of drivers; it changes nothing.
type Contract struct {
	agent Stepper

	now      time.Time
	restored bool
	// calling: a CallDataplane is outstanding. asked is the highest Persist, hook the highest Hook.
	calling     bool
	asked, hook uint64
	// requests are CNI requests, true while open; store are requests and watches that were asked for.
	requests, store map[uint64]bool
	watches         map[uint64]bool
}

// Watched is an agent under its contract.
func Watched(a Stepper) *Contract {
	return &Contract{agent: a, requests: map[uint64]bool{}, store: map[uint64]bool{}, watches: map[uint64]bool{}}
}

// Step steps the agent.
func (c *Contract) Step(now time.Time, ev agent.Event) []agent.Effect {
	if now.Before(c.now) {
		c.broken("%s comes at %s, behind %s", ev.AppendText(nil), now, c.now)
	}
	c.now = now
	c.event(ev)
	out := c.agent.Step(now, ev)
	for _, e := range out {
		c.effect(e)
	}
	return out
}

func (c *Contract) broken(format string, args ...any) {
	panic("contract of agent.Step: " + fmt.Sprintf(format, args...))
}

// event is what the driver owes.
func (c *Contract) event(ev agent.Event) {
	switch e := ev.(type) {
	case agent.Restored:
		if c.restored {
			c.broken("Restored came twice")
		}
		c.restored = true
	case agent.PodAdd:
		c.open(e.Request)
	case agent.PodDel:
		c.open(e.Request)
	case agent.PodCheck:
		c.open(e.Request)
	case agent.PodGC:
		c.open(e.Request)
	case agent.PodStatus:
		c.open(e.Request)
	case agent.Called:
		if !c.calling {
			c.broken("Called, and no call is outstanding")
		}
		c.calling = false
	case agent.VPPUp, agent.VPPDown:
		c.calling = false
	case agent.Persisted:
		if e.Seq > c.asked {
			c.broken("Persisted %d, and only %d were asked for", e.Seq, c.asked)
		}
	case agent.Hooked:
		if e.ID > c.hook {
			c.broken("Hooked %d, and only %d were asked for", e.ID, c.hook)
		}
	case agent.StoreReply:
		if !c.store[e.ID] {
			c.broken("StoreReply %d was never asked for", e.ID)
		}
	case agent.StoreChanged:
		c.watched(e.Watch)
	case agent.StoreWatchLost:
		c.watched(e.Watch)
	}
}

func (c *Contract) watched(id uint64) {
	if !c.watches[id] {
		c.broken("watch %d was never asked for", id)
	}
}

func (c *Contract) open(request uint64) {
	if _, used := c.requests[request]; used {
		c.broken("request number %d comes twice", request)
	}
	c.requests[request] = true
}

// effect is what the agent owes.
func (c *Contract) effect(e agent.Effect) {
	switch e := e.(type) {
	case agent.Persist:
		if e.Seq != c.asked+1 {
			c.broken("Persist %d behind %d", e.Seq, c.asked)
		}
		c.asked = e.Seq
	case agent.StoreRequest:
		if c.store[e.ID] {
			c.broken("StoreRequest %d comes twice", e.ID)
		}
		c.store[e.ID], c.watches[e.ID] = true, e.Op == agent.StoreWatch
	case agent.CallDataplane:
		if c.calling {
			c.broken("two calls are outstanding")
		}
		c.calling = true
	case agent.Answer:
		if !c.requests[e.Request] {
			c.broken("Answer to request %d, which is not open", e.Request)
		}
		c.requests[e.Request] = false
	case agent.Hook:
		c.hook = e.ID
	}
}
