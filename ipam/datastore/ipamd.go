package datastore

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Keeper is what an IPAMD decides by: a Manager.
type Keeper interface {
	Ready() bool
	Joining() bool
	Waits(c Call) bool
	Unsure() bool
	Short() bool
	Step(now time.Time, ev Event) []Effect
}

// IPAMD is AWS VPC CNI's daemon on one node, for one life of its agent, as a pure state machine: a Manager whose units
// are the agent's blocks. Units go back to EC2 only when the agent has dropped them and every node that routes them
// knows.
//
// It takes the Manager's events and AgentSeen, and has the Manager's effects, TellAgent and AskAgent. Each Perform is
// answered once by Called, with an error when its driver gives up.
type IPAMD struct {
	keeper Keeper
	pool   *NodePool
	// asked are the calls that have no answer yet.
	asked map[uint64]Call
	// leaving is a call that gives units back and waits for the agent to drop them.
	leaving *Call
	told    []netip.Prefix
	// again: EC2 refused the last call for now or did not answer it, so the Manager asks again. unset are ENIs whose
	// host's side could not be set up: the next reconciliation tries again.
	again   bool
	unset   map[string]bool
	effects []Effect
}

// NewIPAMD returns a daemon for the agent whose allocator the pool fills; k decides about the pool. Send it a Woke to
// start.
func NewIPAMD(p *NodePool, k Keeper) *IPAMD {
	return &IPAMD{keeper: k, pool: p, asked: make(map[uint64]Call), unset: make(map[string]bool)}
}

// AgentSeen is the present state of the node's agent: the answer to AskAgent, and news as long as AwaitsAgent.
type AgentSeen struct {
	// Blocks are those that it holds, draining ones among them.
	Blocks []ipam.Block
	// Idle: all that it has decided is journaled and known to the other nodes.
	Idle bool
}

func (AgentSeen) event() {}

type (
	// TellAgent gives the agent its blocks, in the order in which they are to be used.
	TellAgent struct{ Blocks []netip.Prefix }
	// AskAgent asks for an AgentSeen.
	AskAgent struct{}
)

func (TellAgent) effect() {}
func (AskAgent) effect()  {}

// Step takes an event and returns what follows from it, in order.
func (d *IPAMD) Step(now time.Time, ev Event) []Effect {
	d.effects = nil
	switch ev := ev.(type) {
	case AgentSeen:
		d.seen(now, ev)
	case Called:
		d.called(now, ev.Result)
	case Woke, Terminating:
		d.steer(now, ev)
	default:
		panic(fmt.Sprintf("datastore: unknown event %T", ev))
	}
	return d.effects
}

// steer lets the Manager take a step, and holds back a call that gives units to EC2 which the agent may still have. A
// call that the Manager has given up is void: its units may be in use again.
func (d *IPAMD) steer(now time.Time, ev Event) {
	effects := slices.Clone(d.keeper.Step(now, ev))
	if d.leaving != nil && !d.keeper.Waits(*d.leaving) {
		delete(d.asked, d.leaving.Number)
		d.leaving = nil
	}
	for _, e := range effects {
		p, call := e.(Perform)
		if call {
			d.asked[p.Call.Number] = p.Call
		}
		if call && (p.Call.Op == UnassignUnits || p.Call.Op == DeleteENI) {
			d.leaving = &p.Call
			e = AskAgent{}
		}
		d.effects = append(d.effects, e)
	}
	if blocks, ok := d.Blocks(); ok && !slices.Equal(blocks, d.told) {
		d.told = blocks
		d.effects = append(d.effects, TellAgent{Blocks: blocks})
	}
}

// called takes in the answer to a call.
func (d *IPAMD) called(now time.Time, r Result) {
	c := d.asked[r.Number]
	delete(d.asked, r.Number)
	switch {
	case c.Op == SetUpENI && r.Err != nil:
		d.unset[c.ENI] = true
	case c.Op == SetUpENI, c.Op == DeleteENI && r.Err == nil:
		delete(d.unset, c.ENI)
	}
	code := codeOf(r.Err)
	d.again = r.Err != nil && !errors.Is(r.Err, ErrIPInUse) && (code == "" || code == codeThrottled)
	d.steer(now, Called{Result: r})
}

// seen goes on with a call that waits for the agent. Where a pod took one of the units first, the call is over.
func (d *IPAMD) seen(now time.Time, agent AgentSeen) {
	if d.leaving == nil {
		return
	}
	blocks := d.pool.Blocks()
	for _, b := range agent.Blocks {
		if slices.Contains(blocks, b.Prefix) {
			continue
		}
		if d.pool.occupied(b.Prefix) {
			c := *d.leaving
			d.leaving = nil
			d.called(now, Result{Number: c.Number, Err: ErrIPInUse})
		}
		return
	}
	if agent.Idle {
		d.effects = append(d.effects, Perform{Call: *d.leaving})
		d.leaving = nil
	}
}

// AwaitsAgent reports whether units wait for the agent to drop them: it wants an AgentSeen whenever the agent may have
// changed.
func (d *IPAMD) AwaitsAgent() bool { return d.leaving != nil }

// Blocks are those that the agent should have; false while what the node has is not known.
func (d *IPAMD) Blocks() ([]netip.Prefix, bool) {
	if !d.keeper.Ready() {
		return nil, false
	}
	return d.pool.Blocks(), true
}

// Short reports whether the node has less than its targets and will be given more when it wakes.
func (d *IPAMD) Short() bool { return d.keeper.Short() }

// Pending says what is under way beside waiting for a time, "" when nothing is.
func (d *IPAMD) Pending() string {
	switch {
	case !d.keeper.Ready():
		return "ipamd is starting"
	case len(d.asked) > 0:
		return "ipamd waits for EC2"
	case d.keeper.Joining():
		return "ipamd waits for an ENI to join"
	case d.keeper.Unsure():
		return "EC2 has not confirmed what ipamd gives back"
	case d.again, len(d.unset) > 0:
		return "ipamd tries again"
	}
	return ""
}

// String says what the node has and what it waits for, in one line.
func (d *IPAMD) String() string {
	s := d.pool.GetIPStats()
	return fmt.Sprintf("has %d addresses on %d ENIs, %d taken and %d resting; %s",
		s.TotalIPs, d.pool.GetENIs(), s.AssignedIPs, s.CooldownIPs, cmp.Or(d.Pending(), "asks for nothing"))
}
