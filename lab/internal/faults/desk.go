package faults

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/choice"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Hand does in a lab what verdicts ask of others than the agent. Its methods are called from any goroutine.
type Hand interface {
	// CrashAgent ends an agent's process, where it is still that of this process ID, and CrashVPP a node's VPP; supervisors start
	// them again. They return when the process has ended.
	CrashAgent(node string, pid int)
	CrashVPP(node string)
	// LosePower takes a machine's power for an instant.
	LosePower(node string)
	// CompactStore has the store forget its history.
	CompactStore()
	// Struck is told in words what befalls an operation of a node; lost: it is a call that is done and not answered.
	Struck(node, what string, lost bool)
}

// Config is what a Desk needs.
type Config struct {
	Faults *scenarios.Faults
	Seed   uint64
	// Now is the time of the scenario, and Wall a duration of it by the clock on the wall.
	Now  func() time.Duration
	Wall func(time.Duration) time.Duration
	Hand Hand
}

// Desk judges the operations of a lab's agents.
type Desk struct {
	cfg Config

	mu    sync.Mutex
	set   *fault.Set
	draws draws
	// watches are what actions do to the watches of nodes, lag what ends their lateness.
	watches *fault.Set
	lag     map[string][]func()
}

// NewDesk reads a scenario's faults.
func NewDesk(cfg Config) (*Desk, error) {
	d := &Desk{cfg: cfg, draws: draws{seed: cfg.Seed, of: map[string]choice.Chooser{}}, lag: map[string][]func(){}}
	env := fault.Env{Chooser: &d.draws, Now: cfg.Now}
	set, err := fault.NewSet(cfg.Faults, env)
	if err != nil {
		return nil, err
	}
	d.set = set
	d.watches, err = fault.NewSet(&scenarios.Faults{}, env)
	return d, err
}

// draws gives each node's operations draws of their own.
type draws struct {
	seed uint64
	of   map[string]choice.Chooser
	node string
}

// Pick implements choice.Chooser, for the operation that is judged.
func (d *draws) Pick(label string, n int) int {
	c := d.of[d.node]
	if c == nil {
		c = choice.Seeded(d.seed)
		d.of[d.node] = c
	}
	return c.Pick(d.node+" "+label, n)
}

// Inject adds a fault, on one node or everywhere for "", until lift is called.
func (d *Desk) Inject(text, node string) (lift func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	end, err := d.set.Inject(text, node)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		end()
	}, err
}

// Clear ends every fault.
func (d *Desk) Clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set.Clear()
	d.watches.Clear()
	clear(d.lag)
}

// watchKinds are the deliveries of watches.
var watchKinds = [...]fault.OpKind{fault.KindStoreWatch, fault.KindAPIWatch}

// Lag makes what a node's watches deliver late, 0 not any more.
func (d *Desk) Lag(node string, lag time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, end := range d.lag[node] {
		end()
	}
	delete(d.lag, node)
	if lag == 0 {
		return nil
	}
	for _, kind := range watchKinds {
		end, err := d.watches.Inject(fault.Kind(kind, fault.Always(fault.Verdict{Action: fault.Delay, Delay: lag})).String(), node)
		if err != nil {
			return err
		}
		d.lag[node] = append(d.lag[node], end)
	}
	return nil
}

// Repeat has the next so many changes come twice by each of a node's watches.
func (d *Desk) Repeat(node string, count int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if count == 0 {
		return nil
	}
	for _, kind := range watchKinds {
		twice := fault.First(count, fault.Kind(kind, fault.Always(fault.Verdict{Action: fault.Duplicate})))
		if _, err := d.watches.Inject(twice.String(), node); err != nil {
			return err
		}
	}
	return nil
}

// Any reports whether something that is injected may go wrong now.
func (d *Desk) Any() bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.set.Any()
}

// judge says what befalls an operation. A nil Desk lets everything happen.
func (d *Desk) judge(op fault.Op) fault.Verdict {
	if d == nil {
		return fault.Verdict{}
	}
	d.mu.Lock()
	d.draws.node = op.Node
	v := d.set.Judge(op)
	if w := d.watches.Judge(op); v.Action == fault.Pass {
		v = w
	}
	d.mu.Unlock()
	if v.Action != fault.Pass {
		d.cfg.Hand.Struck(op.Node, v.String()+" strikes "+op.Kind.String()+" "+op.Name, v.Action == fault.Mute && op.Kind == fault.KindDataplane)
	}
	return v
}

// Withdrawn reports whether a container runtime gives up a command about a container right after it asked.
func (d *Desk) Withdrawn(node, command, container string) bool {
	return d.judge(fault.CNI(node, command, container)).Action == fault.Vanish
}

// question is one of a Port: about an operation, or, with Done, that the operation was done of which somebody dies in this way.
type question struct {
	PID  int
	Op   fault.Op
	Done fault.Action
}

// answer is a verdict, its Delay by the clock on the wall. Draw is a number below drawWays for what the verdict leaves open.
type answer struct {
	Verdict fault.Verdict
	Draw    int
}

// drawWays is a multiple of every number of ways that something can be left in.
const drawWays = 12

// Serve answers the agents of one node at a socket until the listener is closed.
func (d *Desk) Serve(path, node string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			go d.converse(c, node)
		}
	}()
	return l, nil
}

// converse answers one process until it hangs up or dies.
func (d *Desk) converse(c net.Conn, node string) {
	defer func() { _ = c.Close() }() // nothing is lost
	in, out := json.NewDecoder(c), json.NewEncoder(c)
	for {
		var q question
		if in.Decode(&q) != nil {
			return
		}
		q.Op.Node = node
		if out.Encode(d.answer(q)) != nil {
			return
		}
	}
}

func (d *Desk) answer(q question) (a answer) {
	if q.Done != fault.Pass {
		d.dies(q, q.Done)
		return a
	}
	a.Verdict = d.judge(q.Op)
	switch a.Verdict.Action {
	case fault.CrashBefore:
		d.dies(q, fault.CrashBefore)
	case fault.Compact:
		d.cfg.Hand.CompactStore()
	case fault.Refuse, fault.PowerLoss:
		a.Draw = d.Draw(q.Op.Node, "left of "+q.Op.Name, drawWays)
	}
	a.Verdict.Delay = d.cfg.Wall(a.Verdict.Delay)
	return a
}

// Draw is a number below n for a node.
func (d *Desk) Draw(node, label string, n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.draws.node = node
	return d.draws.Pick(label, n)
}

// dies ends who dies of an operation: VPP of a call, else the agent or its machine.
func (d *Desk) dies(q question, how fault.Action) {
	switch {
	case how == fault.PowerLoss:
		d.cfg.Hand.LosePower(q.Op.Node)
	case q.Op.Kind == fault.KindDataplane:
		d.cfg.Hand.CrashVPP(q.Op.Node)
	case q.Op.Kind == fault.KindEffect, q.Op.Kind == fault.KindPersist:
		d.cfg.Hand.CrashAgent(q.Op.Node, q.PID)
	}
}
