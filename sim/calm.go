package sim

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// calmAfter is how long something explains what comes late behind it: longer than what anybody waits for before trying again, but for a cloud.
const calmAfter = 90 * time.Second

// calm is what the world knows of whether anything disturbs the cluster, and of what is due while nothing does.
type calm struct {
	// disturbed: something was wrong at some time, at the latest at disturbedAt; troubled: at the last look something was.
	disturbed, troubled bool
	disturbedAt         time.Duration
	// uneasy: something that was done explains what is late until all is healed.
	uneasy bool
	// stirredAt is when something was last asked of the cluster, or brought into it, that takes its time.
	stirredAt time.Duration
	// due is what was so at the last look, with since when.
	due map[due]time.Duration
}

// due is one kind of thing that is due somewhere; names and numbers are not in it.
type due struct{ node, what string }

// disturb notes that something goes wrong now.
func (w *World) disturb() { w.calm.disturbed, w.calm.disturbedAt = true, w.eng.Now() }

// stir notes that there is something to do from now on.
func (w *World) stir() { w.calm.stirredAt = w.eng.Now() }

// acted notes what an action means for the calm of the cluster. What this does not know disturbs it.
func (w *World) acted(a scenarios.Action) {
	w.stir()
	if _, change := a.(scenarios.ChangeCIDR); change {
		w.rearranged = true
	}
	switch a.(type) {
	case scenarios.CreatePods, scenarios.DeletePods, scenarios.AddNode, scenarios.AddRange, scenarios.RemoveRange, scenarios.ChangeCIDR, scenarios.ChangeService,
		scenarios.RemoveService, scenarios.SetReady, scenarios.CheckPods, scenarios.PollStatus, scenarios.GC, scenarios.RepeatDel, scenarios.CompactStore,
		scenarios.CordonNode, scenarios.UncordonNode, scenarios.Settle:
	case scenarios.GapWatch, scenarios.DuplicateWatch: // they wait for what a stream brings next
		w.calm.uneasy = true
	default:
		w.disturb()
	}
}

// isCalm reports whether nothing had disturbed the cluster for long at a time, since when nothing has happened.
func (w *World) isCalm(since time.Duration) bool {
	c := &w.calm
	was := c.troubled
	if c.troubled = w.inTrouble(); was || c.troubled {
		w.disturb() // what was wrong may have ended just now
	}
	return !c.uneasy && w.s.Config.Agent.HookFails == 0 && (!c.disturbed || since-c.disturbedAt >= calmAfter)
}

// inTrouble reports whether a fault is still to end, or a program does not run that has run before.
func (w *World) inTrouble() bool {
	if w.play.Pending() {
		return true
	}
	for _, m := range w.order {
		switch {
		case !m.up, m.agentHeld, m.vppHeld, m.vppPaused, m.proc != nil && m.proc.paused, m.proc == nil && m.agentLife > 1, m.vpp == nil && m.vppLife > 1:
			return true
		}
	}
	return false
}

// dueEvery is how often at most is looked for what is due: an agent that has nothing to do does so in far less.
const dueEvery = 250 * time.Millisecond

// lookForDue tells what has been due for long, where nothing disturbs the cluster. Nothing has happened since a time.
func (w *World) lookForDue(since time.Duration) {
	c := &w.calm
	if !w.isCalm(since) {
		clear(c.due)
		return
	}
	list := w.dueNow()
	if len(list) == 0 {
		if len(c.due) > 0 {
			w.emit(scenarios.Fact{Kind: scenarios.FactDue, Text: "all is done that was due"})
		}
		clear(c.due)
		return
	}
	before := c.due
	c.due = make(map[due]time.Duration, len(list))
	for _, x := range list {
		at := due{x.Node, x.Kind()}
		if _, twice := c.due[at]; twice {
			continue
		}
		from, was := before[at]
		if !was {
			from = since
		}
		c.due[at] = from
		lasts := w.eng.Now() - max(from, c.stirredAt) - x.may
		if lasts >= slowLeast {
			w.emit(scenarios.Fact{Kind: scenarios.FactDue, Node: x.Node, Text: x.What, Rest: lasts})
		}
	}
}
