package agent

import (
	"fmt"
	"time"
)

// troubleAfter is how long something may be under way before it is what keeps the agent from wiring pods: a VPP that
// has restarted is wired again in less than a second.
const troubleAfter = 5 * time.Second

// vppSilence is what to say of a VPP that is as good as dead.
const vppSilence = "VPP is there and does not answer: its main thread may hang, restart it"

// Trouble is one sentence about why no pod can be wired at that time, empty when one can. Unlike Pending it names what
// only other nodes or people can end, and says nothing of what has been going on for a few seconds only.
func (a *Agent) Trouble(now time.Time) string { return a.trouble(a.Time(now)) }

func (a *Agent) trouble(now time.Time) string {
	if why := a.notReady(); why != "" {
		return why
	}
	since := func(at time.Time) string { return now.Sub(at).Round(time.Second).String() }
	switch {
	case a.journal.unverified:
		return "the journal cannot be written"
	case !a.vppUp && a.vppSilent:
		return vppSilence
	case !a.vppUp:
		return "VPP is down"
	case a.calling && now.Sub(a.calledAt) >= troubleAfter:
		return "VPP has not answered for " + since(a.calledAt) + ": " + a.wire.Pending()
	case !a.unwired.IsZero() && now.Sub(a.unwired) >= troubleAfter:
		why := a.wire.Pending()
		if _, err := a.wire.Done(groupNode); err != nil {
			why = err.Error()
		}
		return "the node itself has not been wired for " + since(a.unwired) + ": " + why
	case a.unleased() != "" && now.Sub(a.lease.since) >= troubleAfter:
		return a.unleased()
	case len(a.alloc.Blocks()) == 0:
		return "no block of addresses: " + a.ranges.waiting
	}
	return a.pods.trouble(now)
}

// watchNode notes since when the node's own wiring is not what it should be.
func (a *Agent) watchNode() {
	if done, _ := a.wire.Done(groupNode); done {
		a.unwired = time.Time{}
		a.stealStands()
	} else if a.unwired.IsZero() {
		a.unwired = a.now
	}
}

// trouble is what VPP or Linux refuse for seconds of a pod that is being wired, or what the last pod was given up for.
func (p *pods) trouble(now time.Time) string {
	for _, t := range p.underway {
		if _, err := p.wire.Done(t.group); err != nil && now.Sub(t.since) >= troubleAfter {
			return wiringTrouble(t, err)
		}
	}
	return p.failing
}

func wiringTrouble(t *attachment, err error) string {
	return fmt.Sprintf("pod %s/%s cannot be wired: %v", t.sandbox.PodNamespace, t.sandbox.PodName, err)
}
