package lab

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/faults"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const (
	// faultSocket is where a node's agent asks what befalls its operations, below the node's folder.
	faultSocket = "faults.sock"
	// storeTimeout is how long an agent waits for a reply of the store that a fault has taken, as in the simulator.
	storeTimeout = 5 * time.Second
	// bootTime is how long a machine is off that loses power for an instant.
	bootTime = 5 * time.Second
)

// injects reports whether a scenario has agents suffer faults between them and others: then they ask about each operation.
func injects(s *scenarios.Scenario) bool {
	return s.Faults.Any() || slices.ContainsFunc(s.Timeline, func(step scenarios.Step) bool {
		switch step.Action.(type) {
		case scenarios.Inject, scenarios.StaleWatch, scenarios.DuplicateWatch, scenarios.CrashDisk:
			return true
		}
		return false
	})
}

func (w *World) openDesk(s *scenarios.Scenario) (err error) {
	if injects(s) {
		w.desk, err = faults.NewDesk(faults.Config{Faults: &s.Faults, Seed: w.o.Seed, Now: w.Now, Wall: w.real, Hand: hand{w}})
	}
	return err
}

// serveFaults has the node's agent asked about its operations.
func (n *node) serveFaults() (err error) {
	if n.w.desk != nil {
		n.judged, err = n.w.desk.Serve(filepath.Join(n.dir, faultSocket), n.name)
	}
	return err
}

// hand does what injected faults ask of the lab. Who dies of one is no finding about it.
type hand struct{ w *World }

// CrashAgent implements faults.Hand.
func (h hand) CrashAgent(name string, pid int) {
	n := h.w.node(name)
	if n == nil {
		return
	}
	if _, agent := n.running(); agent != nil && agent.PID() != pid {
		return
	}
	n.crash(&n.agent, n.launchAgent)
}

// CrashVPP implements faults.Hand.
func (h hand) CrashVPP(name string) {
	if n := h.w.node(name); n != nil {
		n.crash(&n.vpp, n.launchVPP)
	}
}

// LosePower implements faults.Hand.
func (h hand) LosePower(name string) {
	n := h.w.node(name)
	if n == nil {
		return
	}
	h.w.Fail(n.losePower())
	time.AfterFunc(h.w.real(bootTime), func() {
		if !h.w.Ended() {
			h.w.Fail(n.powerOn())
			h.w.schedule()
		}
	})
}

// CompactStore implements faults.Hand.
func (h hand) CompactStore() { h.w.Fail(h.w.control.store.Compact(context.Background())) }

// Struck implements faults.Hand.
func (h hand) Struck(node, what string, lost bool) {
	c := fact.Counts{Faults: 1}
	if lost {
		c.LostReplies = 1
	}
	h.w.Record.Tell(fact.Fact{Node: node, What: fact.Counted{Counts: c}}, node+" fault "+what)
}

// losePower switches a machine off, whose disk may lose what was not synced. The folders of a lab's machines are on a disk that
// forgets nothing, so what an agent that asks about faults has not been told to be durable is taken away by hand.
func (n *node) losePower() error {
	up := n.isUp()
	err := n.powerOff()
	n.mu.Lock()
	synced := n.synced
	n.synced = false
	n.mu.Unlock()
	if n.w.desk == nil || !up || synced {
		return err
	}
	return errors.Join(err, faults.LosePower(filepath.Join(n.dir, journalFile), func(label string, most int) int { return n.w.desk.Draw(n.name, label, most) }))
}

// crash ends a daemon as if by itself: its supervisor starts it again, unless it is to stay down.
func (n *node) crash(d *daemon, launch func(context.Context, int) (Process, error)) {
	n.mu.Lock()
	held, life := d.held, d.life+1 // which is another one where somebody else ends it at the same time
	n.mu.Unlock()
	n.kill(d, held, "crash")
	time.AfterFunc(n.w.real(restartDelay), func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if d.life == life && !d.held {
			n.startLocked(d, launch)
		}
	})
}
